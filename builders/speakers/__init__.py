"""The contract of a speech engine, and the one list of engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ... import SpeechError
from ...scenarios.conversation import Voice
from ...scenarios.markup import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRequest:
    """One text to speak, fully decided: the same request gives the same clip.

    `readings` say how parts of `text` are pronounced; before each position in `breaks` (an index into
    `text`) the engine makes the kind of hesitation it can (a comma, a break token). `seed` is for engines
    that sample.
    """

    text: str
    language: str
    voice: Voice
    speed: float = 1.0
    seed: int = 0
    readings: tuple[Reading, ...] = ()
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipWord:
    """A word of a clip: ``request.text[start_char:stop_char]``, and when it is heard in the clip."""

    text: str
    start_char: int
    stop_char: int
    onset_s: float
    offset_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What an engine gave, untouched: mono samples of shape (n,), any level, silence at the ends.

    `words` is None where the engine knows no times. `word_time_source` names their origin.
    """

    samples: NDArray[np.float32]
    sample_rate_hz: int
    words: tuple[ClipWord, ...] | None
    word_time_source: str


class Speaker(Protocol):
    """An engine. Made once in each process that speaks."""

    engine: str
    version: str
    """Everything that decides the sound besides the request: package, model hash, data format."""
    uses_seed: bool
    licence: str
    """SPDX id of the speech it makes (weights), before the voice's own."""

    def voices(self) -> dict[str, Voice]:
        """Return the voices by id."""
        ...

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return named lists of voice ids, by language: ``voice_sets()["en"]["default"]``."""
        ...

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text.

        Raises
        ------
        SpeechError
            If the engine cannot speak it: language, characters, length.
        """
        ...


def _kokoro(cache_dir: Path) -> Speaker:
    module = import_module(".kokoro", __name__)
    return module.Kokoro(cache_dir)  # type: ignore[no-any-return]


ENGINES: dict[str, Callable[[Path], Speaker]] = {"kokoro": _kokoro}
"""Engine name -> how to make it; an engine's packages are imported only when it is made."""


def make_speaker(engine: str, cache_dir: Path) -> Speaker:
    """Return the engine of that name, which may keep what it makes once (models) in `cache_dir`.

    Raises
    ------
    SpeechError
        If there is none.
    """
    if engine not in ENGINES:
        raise SpeechError(f"there is no speech engine {engine!r}; known: {', '.join(sorted(ENGINES))}")
    return ENGINES[engine](cache_dir)
