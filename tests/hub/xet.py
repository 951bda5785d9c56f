"""Xet's local store: which xet hash a file has, from its SHA-256, as the store's shard files say."""

from __future__ import annotations

import struct
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
