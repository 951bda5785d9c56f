"""Silences: how much hush lies before, inside and after the speech of a clip."""

from __future__ import annotations

from itertools import pairwise

from ...acoustics.activity import speech_spans
from .measure import Measure, Measured, SpokenClip, Tools, Value, alone

_HUSH_S = 0.05


def speech_of(clip: SpokenClip) -> list[tuple[int, int]]:
    """Return the spans of speech in samples; none for a clip of zeros."""
    if not clip.samples.size or not clip.samples.any():
        return []
    return [
        (a, b) for a, b in speech_spans(clip.samples, sample_rate_hz=clip.sample_rate_hz, min_hush_s=_HUSH_S)
    ]


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    spans = speech_of(clip)
    if not spans:
        return Measured(
            values={
                "leading_silence_s": clip.length_s,
                "trailing_silence_s": clip.length_s,
                "longest_silence_s": clip.length_s,
                "speech_s": 0.0,
            },
            note="no speech at all",
        )
    rate = clip.sample_rate_hz
    inner = [b[0] - a[1] for a, b in pairwise(spans)]
    return Measured(
        values={
            "leading_silence_s": spans[0][0] / rate,
            "trailing_silence_s": (clip.samples.size - spans[-1][1]) / rate,
            "longest_silence_s": max(inner, default=0) / rate,
            "speech_s": sum(b - a for a, b in spans) / rate,
        }
    )


SILENCES = Measure(
    name="silences",
    scope="utterance",
    values=(
        Value(name="leading_silence_s", unit="s", meaning="hush before the speech", pooling="most"),
        Value(name="trailing_silence_s", unit="s", meaning="hush after the speech", pooling="most"),
        Value(name="longest_silence_s", unit="s", meaning="longest hush inside the speech", pooling="most"),
        Value(
            name="speech_s", unit="s", meaning="speech, hushes of 50 ms and more left out", pooling="least"
        ),
    ),
    source="own: the energy detector that trims (acoustics/activity.py)",
    cost=0.002,
    version=lambda tools: "2",
    run=alone(_run),
)
