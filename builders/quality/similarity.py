"""Speaker similarity: whether one person stays one, and two people are two, by a trained voice encoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...acoustics.resample import resample
from .kept import clip_key, kept
from .measure import Measure, Measured, SpokenClip, Tools, Value
from .silences import speech_of

SHORTEST_S = 2.0
"""With less speech the encoder mixes people up; identity is then by provenance."""

_RATE_HZ = 16_000


def voice_print(clip: SpokenClip, tools: Tools) -> NDArray[np.float64]:
    """Return the encoder's vector of a clip, shape (256,), length 1; computed once per clip.

    The encoder's own preparation comes first: loudness to -30 dBFS, long hushes out.
    """

    def make() -> list[float]:
        audio = import_module("resemblyzer.audio")
        dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
        heard = audio.preprocess_wav(dense)
        return [float(x) for x in _encoder().embed_utterance(heard if heard.size else dense)]

    value, _ = kept(tools.cache_dir, "voice_print", _version(tools), clip_key(clip), make)
    return np.asarray(value, dtype=np.float64)


@cache
def _encoder() -> Any:
    """Return the encoder of the package, loaded once in a process, on one thread."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    return import_module("resemblyzer").VoiceEncoder("cpu", verbose=False)


def _version(tools: Tools) -> str:
    if find_spec("resemblyzer") is None:
        return "not installed"
    return f"resemblyzer {version_of('resemblyzer')} torch {version_of('torch').split('+')[0]}"


def joined(clips: Sequence[SpokenClip]) -> SpokenClip:
    """Return the clips of one speaker as one, in their order."""
    return SpokenClip(
        samples=np.concatenate([clip.samples for clip in clips]),
        sample_rate_hz=clips[0].sample_rate_hz,
        text="",
        language=clips[0].language,
        speaker=clips[0].speaker,
        relation=clips[0].relation,
    )


def speech_s(clip: SpokenClip) -> float:
    """Return the seconds of speech in a clip, hushes left out."""
    return sum(b - a for a, b in speech_of(clip)) / clip.sample_rate_hz


def _run(clips: tuple[SpokenClip, ...], tools: Tools) -> Measured:
    """Compare clips that play the same role, and roles with each other.

    Who plays a role is taken from the sample's roles, not from the names of voices: a wrong voice has the
    right name.
    """
    roles: dict[str, list[SpokenClip]] = {}
    for clip in clips:
        roles.setdefault(clip.relation, []).append(clip)
    same: list[tuple[float, str]] = []
    for role, spoken in roles.items():
        long = [clip for clip in spoken if speech_s(clip) >= SHORTEST_S]
        for a, b in combinations(long, 2):
            cosine = float(voice_print(a, tools) @ voice_print(b, tools))
            same.append((cosine, f"two clips of the {role}"))
    other: list[tuple[float, str]] = []
    whole = {role: joined(spoken) for role, spoken in roles.items()}
    for a_role, b_role in combinations(sorted(whole), 2):
        if min(speech_s(whole[a_role]), speech_s(whole[b_role])) >= SHORTEST_S:
            cosine = float(voice_print(whole[a_role], tools) @ voice_print(whole[b_role], tools))
            other.append((cosine, f"{a_role} and {b_role}"))
    least, most = min(same, default=None), max(other, default=None)
    remarks = [f"{what}: {value:.3f}" for value, what in (*same, *other)]
    return Measured(
        values={
            "same_voice": None if least is None else least[0],
            "other_voice": None if most is None else most[0],
        },
        note="; ".join(remarks[:6]),
    )


SIMILARITY = Measure(
    name="similarity",
    scope="sample",
    values=(
        Value(
            name="same_voice",
            unit="cosine",
            meaning="least similarity between clips of one role, each with 2 s of speech and more",
            better="high",
        ),
        Value(
            name="other_voice",
            unit="cosine",
            meaning="largest similarity between two roles, each with 2 s of speech and more",
            better="low",
        ),
    ),
    source="GE2E voice encoder (Wan et al. 2018) as trained for resemblyzer",
    cost=0.1,
    version=_version,
    run=_run,
    needs=("resemblyzer", "torch"),
    install="pip install 'duplexkit[quality]' and resemblyzer with CPU torch",
)
