"""Xet's local store: which xet hash a file has, from its SHA-256, as the store's shard files say."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

_RECORD = 48
_VERIFIED, _DESCRIBED = 1 << 31, 1 << 30


def xet_hash(store: Path, sha256: str) -> str | None:
    """Return the xet hash of a stored file; None if the store has none."""
    for shard in store.rglob("*.mdb"):
        found = _files(shard.read_bytes()).get(sha256)
        if found:
            return found
    return None


def _files(data: bytes) -> dict[str, str]:
    """Return SHA-256 -> xet hash of the files of one shard: records of 48 bytes after a head of 48."""
    found: dict[str, str] = {}
    at = _RECORD
    while at + _RECORD <= len(data):
        hash_, flags, n = struct.unpack_from("<32sII", data, at)
        if hash_ == b"\xff" * 32:
            break
        at += _RECORD * (1 + n + (n if flags & _VERIFIED else 0))
        if flags & _DESCRIBED:
            found[_hex(data[at : at + 32])] = _hex(hash_)
            at += _RECORD
    return found


def _hex(raw: bytes) -> str:
    return "".join(f"{part:016x}" for part in struct.unpack("<4Q", raw))


_RESTORE = """
import sys, hf_xet
store, hash_, size, target = sys.argv[1:]
session = hf_xet.XetSession()
where = {"endpoint": "local://" + store, "token": "local", "token_expiry_unix_secs": 9999999999}
with session.new_file_download_group(**where) as group:
    group.start_download_file(hf_xet.XetFileInfo(hash_, int(size)), target)
"""


def restored(store: Path, hash_: str, size: int) -> bytes:
    """Return a stored file's bytes; by another process, because the store is open to one at a time."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "file"
        subprocess.run(
            [sys.executable, "-c", _RESTORE, str(store), hash_, str(size), str(target)],
            check=True,
            timeout=60,
            env={**os.environ, "HF_HOME": folder},
        )
        return target.read_bytes()
