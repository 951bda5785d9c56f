"""Samples to FLAC bytes and back: what an Audio cell and a stem hold."""

from __future__ import annotations

import io
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..acoustics.level import from_pcm16


def to_flac(pcm: NDArray[np.int16], sample_rate_hz: int) -> bytes:
    """Return the FLAC file of samples of shape (n,), 16 bits."""
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, sample_rate_hz, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def seek_script() -> str:
    """Return the JavaScript function ``mendSeeks(audio)``, which each page that plays FLAC calls."""
    return (files(__package__) / "flac_seek.js").read_text(encoding="utf-8")


def from_flac(cell: Mapping[str, Any] | None) -> NDArray[np.float32] | None:
    """Return the samples, shape (n,), of an Audio cell; None for a null cell.

    A file with several channels, which no row of ours holds, gives shape (n, channels).
    """
    if cell is None:
        return None
    import soundfile

    pcm, _ = soundfile.read(io.BytesIO(cell["bytes"]), dtype="int16")
    return from_pcm16(pcm) if pcm.ndim == 1 else pcm
