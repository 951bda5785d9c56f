"""The stems of a build: every utterance as it was placed, named by the hash of its samples."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import ReleaseError
from ..acoustics.level import from_pcm16
from ..whole_file import put_bytes
from .flac import to_flac


def stem_path(folder: Path, sha256: str) -> Path:
    """Return where a stem lies under a build folder."""
    return folder / "stems" / sha256[:2] / f"{sha256}.flac"


def write_stem(folder: Path, sha256: str, pcm: NDArray[np.int16], sample_rate_hz: int) -> None:
    """Write a stem, samples of shape (n,), unless it is there."""
    path = stem_path(folder, sha256)
    if path.exists():
        return
    put_bytes(path, to_flac(pcm, sample_rate_hz))


def read_stem(folder: Path, sha256: str) -> NDArray[np.float32]:
    """Return a stem's samples, shape (n,).

    Raises
    ------
    ReleaseError
        If it is not there, or its samples are not those of its name.
    """
    import soundfile

    path = stem_path(folder, sha256)
    try:
        pcm, _ = soundfile.read(path, dtype="int16")
    except (OSError, soundfile.LibsndfileError):
        raise ReleaseError(f"{path}: the stem is missing or no FLAC file; build the folder again") from None
    if hashlib.sha256(pcm.tobytes()).hexdigest() != sha256:
        raise ReleaseError(f"{path}: the samples are not those of its name; build the folder again")
    return from_pcm16(pcm)
