"""Speaking rate: letters (English) or characters (Japanese) of the text per second of speech."""

from __future__ import annotations

from .measure import Measure, Measured, SpokenClip, Tools, Value, alone
from .normal_text import normal_characters
from .silences import speech_of

SHORTEST_S = 1.0
"""Below this a rate says more of the word than of the speaker."""


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    speech_s = sum(b - a for a, b in speech_of(clip)) / clip.sample_rate_hz
    n = len(normal_characters(clip.text, clip.language))
    rate = n / speech_s if speech_s >= SHORTEST_S and n else None
    return Measured(values={"speaking_rate_hz": rate}, weight=speech_s)


SPEAKING_RATE = Measure(
    name="speaking_rate",
    scope="utterance",
    values=(
        Value(
            name="speaking_rate_hz",
            unit="characters per s",
            meaning="letters and digits of the spoken text per second of speech, in clips with 1 s of it and more",
            pooling="pooled",
        ),
    ),
    source="own",
    cost=0.002,
    version=lambda tools: "2",
    run=alone(_run),
)
