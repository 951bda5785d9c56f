"""One text spoken as a build places it: trimmed, its pauses set, at normal level."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..scenarios.conversation import PlannedPause, PlannedTurn, Role, Start, Voice
from ..scenarios.markup import parse
from .judged import spoken_clip
from .quality.measure import SpokenClip
from .speak import again, speak_turn
from .speakers import Speaker

SAMPLE_RATE_HZ = 24_000
PAUSE_S = 0.7
"""How long each pause is that a mark in the text asks for: the middle of what the pause scenario draws."""


def placed_text(
    text: str,
    *,
    language: str,
    voice: Voice,
    speaker: Speaker,
    cache_dir: Path,
    n_tries: int = 0,
    count: Callable[[str], None] = lambda what: None,
) -> SpokenClip:
    """Return a text of the script bank (with its marks) as one user turn of a build, ready to be measured.

    `n_tries` says how often a build would have spoken it before.

    Raises
    ------
    SpeechError
        If the engine cannot speak it.
    """
    turn = PlannedTurn(
        name="text",
        role=Role.USER,
        voice=voice.id,
        text=text,
        speed=1.0,
        start=Start(turn=None, distance_s=0.0),
        move="open",
        pauses=tuple(PlannedPause(kind=mark.value, length_s=PAUSE_S) for mark in parse(text).places("pause")),
    )
    utterance = speak_turn(
        again(turn, n_tries, speaker),
        language=language,
        voice=voice,
        speaker=speaker,
        cache_dir=cache_dir,
        seed=n_tries,
        sample_rate_hz=SAMPLE_RATE_HZ,
        count=count,
    )
    return spoken_clip(utterance, language=language, speaker=voice.id, role=Role.USER.value)
