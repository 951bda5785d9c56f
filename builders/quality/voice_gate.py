"""How often the gates on voices are wrong: on all pairs of clips of a folder whose speakers are known."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .clip_source import MeasuredItem, read_clip
from .measure import Tools
from .similarity import SHORTEST_S, speech_s, voice_print


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceGateErrors:
    """Pairs of clips with 2 s of speech and more, within one language, and how many a limit takes wrongly.

    `n_same_below`: pairs of one speaker that `same_voice` would reject. `n_other_below`: pairs of two speakers
    that it would let pass is ``n_other - n_other_below``. `n_other_above`: pairs of two speakers that
    `other_voice` would reject; ``n_same - n_same_above`` pairs of one speaker would pass it.
    """

    same_at_least: float
    other_at_most: float
    n_same: int
    n_other: int
    n_same_below: int
    n_same_above: int
    n_other_below: int
    n_other_above: int

    def lines(self) -> tuple[str, str]:
        """Return the two gates' errors as text."""
        missed = self.n_other - self.n_other_below
        slipped = self.n_same - self.n_same_above
        return (
            f"same_voice at least {self.same_at_least:g}: rejects {self.n_same_below} of {self.n_same} pairs of one "
            f"speaker, misses {missed} of {self.n_other} pairs of two",
            f"other_voice at most {self.other_at_most:g}: rejects {self.n_other_above} of {self.n_other} pairs of "
            f"two speakers, misses {slipped} of {self.n_same} pairs of one",
        )


def voice_gate_errors(
    items: Sequence[MeasuredItem], tools: Tools, *, same_at_least: float, other_at_most: float
) -> VoiceGateErrors:
    """Return the errors of both limits on a folder; each clip counts once, by who is said to speak it."""
    known: dict[bytes, tuple[str, str, NDArray[np.float64]]] = {}
    for item in items:
        for place in item.clips:
            clip = read_clip(place, item.language)
            if clip.speaker and speech_s(clip) >= SHORTEST_S:
                digest = hashlib.sha256(clip.samples.tobytes()).digest()
                known[digest] = clip.language, clip.speaker, voice_print(clip, tools)
    n: Counter[str] = Counter()
    for a, b in combinations(known.values(), 2):
        if a[0] == b[0]:
            whose, cosine = "same" if a[1] == b[1] else "other", float(a[2] @ b[2])
            n[whose] += 1
            n[f"{whose}_below"] += cosine < same_at_least
            n[f"{whose}_above"] += cosine > other_at_most
    return VoiceGateErrors(
        same_at_least=same_at_least,
        other_at_most=other_at_most,
        n_same=n["same"],
        n_other=n["other"],
        n_same_below=n["same_below"],
        n_same_above=n["same_above"],
        n_other_below=n["other_below"],
        n_other_above=n["other_above"],
    )
