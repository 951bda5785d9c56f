"""How a system's voice stops when the user cuts it off: the clip as it sounds, and where it really ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..acoustics.level import from_pcm16
from ..scenarios.conversation import PlacedTurn, Timeline
from .place import to_samples
from .sample import Utterance

CUT_FADE_S = 0.005
"""A stopped voice fades over this, and is silent from the stop on."""


def heard_clip(utterance: Utterance, turn: PlacedTurn, *, sample_rate_hz: int) -> NDArray[np.float32]:
    """Return the samples of a turn as they sound, shape (n,): up to its offset, or faded out before its cut.

    What a voice leaves after its offset (below the detector's threshold, at most 20 ms) is not put into the
    system's track, so that the track is silent from the labelled end on, to the sample.
    """
    samples = from_pcm16(utterance.pcm)
    if turn.cut is None:
        return samples[: utterance.shape.offset]
    return faded_out(samples[: turn.cut - turn.clip_start], sample_rate_hz=sample_rate_hz)


def faded_out(samples: NDArray[np.float32], *, sample_rate_hz: int) -> NDArray[np.float32]:
    """Return a copy, shape (n,), whose last 5 ms fade out: the voice that is silent after it."""
    faded = samples.copy()
    n = min(faded.size, _fade_samples(sample_rate_hz))
    faded[faded.size - n :] *= (np.arange(n, 0, -1) / (n + 1)).astype(np.float32)
    return faded


def with_real_stops(timeline: Timeline, utterances: tuple[Utterance, ...]) -> Timeline:
    """Return the timeline with every cut at the first sample from which the stopped voice is silent.

    A cut inside a pause of the voice, or on a sample that its fade rounds to zero, moves to the last sample
    before it that sounds; a cut that stands there stays.
    """
    rate = timeline.sample_rate_hz
    turns = list(timeline.turns)
    for i, (turn, utterance) in enumerate(zip(turns, utterances, strict=True)):
        if turn.cut is None:
            continue
        clip = np.abs(utterance.pcm[: turn.cut - turn.clip_start].astype(np.int32))
        sounds = np.flatnonzero(clip > (_fade_samples(rate) + 1) / 2)
        stop = turn.clip_start + int(sounds[-1]) + 1 if sounds.size else turn.cut
        if stop > turn.onset:
            pauses = tuple(pause for pause in turn.pauses if pause.stop <= stop)
            turns[i] = replace(turn, cut=stop, offset=stop, pauses=pauses)
    return replace(timeline, turns=tuple(turns))


def _fade_samples(sample_rate_hz: int) -> int:
    return to_samples(CUT_FADE_S, sample_rate_hz)
