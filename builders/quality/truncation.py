"""Truncation: whether a clip stops while somebody is still speaking."""

from __future__ import annotations

import numpy as np

from ...acoustics.activity import without_rumble
from ...acoustics.level import span_level_dbov
from .measure import Measure, Measured, SpokenClip, Tools, Value, alone
from .silences import speech_of

LAST_S = 0.008
"""What is looked at: the fade of 5 ms that every placed clip ends with, and as much before it."""

_FLOOR_DB = -100.0


def end_level_db(clip: SpokenClip) -> float | None:
    """Return the level (dB) of a clip's last 8 ms relative to its speech; None where there is no speech.

    Rumble below the voice, which some voices leave behind their last word, is left out at the end: the lower
    level counts of the clip as it is and without rumble, since the filter rings where a sound stops.
    A voice that ends by itself has sunk by 30 dB and more; one that was cut is within some 20 dB.
    """
    spans = speech_of(clip)
    if not spans:
        return None
    n_last = round(LAST_S * clip.sample_rate_hz)
    heard = (clip.samples, without_rumble(clip.samples, sample_rate_hz=clip.sample_rate_hz))
    power = min(float(np.mean(np.square(samples[-n_last:].astype(np.float64)))) for samples in heard)
    if power <= 0.0:
        return _FLOOR_DB
    return max(10.0 * float(np.log10(power)) - span_level_dbov(clip.samples, spans), _FLOOR_DB)


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    return Measured(values={"end_level_db": end_level_db(clip)})


TRUNCATION = Measure(
    name="truncation",
    scope="utterance",
    values=(
        Value(
            name="end_level_db",
            unit="dB re the clip's speech",
            meaning="level of the last 8 ms; a clip that stops in the middle of a sound is loud there",
            better="low",
            pooling="most",
        ),
    ),
    source="own",
    cost=0.002,
    version=lambda tools: "2",
    run=alone(_run),
)
