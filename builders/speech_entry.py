"""An entry of the speech cache: one clip as a ZIP file that says which request it was made for."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import asdict
from typing import Any

import numpy as np

from .json_file import misfit
from .speakers import Clip, ClipWord
from .zip_members import WHEN, ZIP_FAULTS, open_members

_WORD = {"text": str, "start_char": int, "stop_char": int, "onset_s": float, "offset_s": float}
_META = {
    "sample_rate_hz": int,
    "word_time_source": str,
    "words": ([_WORD], None),
    "sha256": str,
    "key?": str,
}
_N_SEAL = 64


def entry_bytes(clip: Clip, key: str) -> bytes:
    """Return the file of a clip that was made for the request of that key.

    The ZIP file's comment is the SHA-256 of all bytes before it, so that no byte changes unnoticed.
    """
    samples = io.BytesIO()
    np.save(samples, clip.samples, allow_pickle=False)
    meta = {
        "key": key,
        "sample_rate_hz": clip.sample_rate_hz,
        "word_time_source": clip.word_time_source,
        "words": None if clip.words is None else [asdict(word) for word in clip.words],
        "sha256": hashlib.sha256(samples.getvalue()).hexdigest(),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = bytes(_N_SEAL)
        archive.writestr(zipfile.ZipInfo("samples.npy", WHEN), samples.getvalue())
        archive.writestr(zipfile.ZipInfo("meta.json", WHEN), json.dumps(meta))
    body = file.getvalue()[:-_N_SEAL]
    return body + _seal(body)


def clip_in(data: bytes, key: str) -> Clip | None:
    """Return the clip of an entry, or None if it is damaged, or was made for another request than the key's.

    An entry of an older duplexkit has neither key nor seal: only the SHA-256 of its samples, and ZIP's checksums.
    """
    try:
        with open_members(io.BytesIO(data)) as members:
            samples, meta = members.read("samples.npy"), json.loads(members.read("meta.json"))
        if misfit(meta, _META) or hashlib.sha256(samples).hexdigest() != meta["sha256"]:
            return None
        is_sealed = data[-_N_SEAL:] == _seal(data[:-_N_SEAL])
        if (is_sealed or "key" in meta) and not (is_sealed and meta.get("key") == key):
            return None
        return _clip(np.load(io.BytesIO(samples), allow_pickle=False), meta)
    except (*ZIP_FAULTS, SyntaxError):
        return None


def _clip(samples: Any, meta: dict[str, Any]) -> Clip:
    words = meta["words"]
    return Clip(
        samples=samples,
        sample_rate_hz=meta["sample_rate_hz"],
        words=None if words is None else tuple(ClipWord(**{k: word[k] for k in _WORD}) for word in words),
        word_time_source=meta["word_time_source"],
    )


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
