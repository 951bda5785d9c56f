"""The nouns that hold sound: an utterance, and a finished sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scenarios.conversation import Annotation, Plan, Shape, Timeline
from ..scenarios.events import M3Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One spoken turn, trimmed, at normal level, with its pauses as intended.

    `pcm` has shape (n,), int16, at `sample_rate_hz`. `threshold_dbfs` is the energy detector's, from the
    raw clip, at the level of `pcm`: whoever measures pauses or ends again uses the same. `provenance` says
    who spoke. `sha256` is that of the samples' bytes.
    """

    pcm: NDArray[np.int16]
    sample_rate_hz: int
    shape: Shape
    text: str
    reading: str
    word_time_source: str
    threshold_dbfs: float
    sha256: str
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreatmentRecord:
    """What was done to the event's clip: every drawn number, and the level that came out."""

    preset: str
    target_db: float | None
    measured_db: float
    audible_end: int
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One finished sample. Tracks are int16 arrays of shape (timeline.n_samples,)."""

    plan: Plan
    timeline: Timeline
    annotation: Annotation
    utterances: tuple[Utterance, ...]
    input: NDArray[np.int16]
    clean_input: NDArray[np.int16] | None = None
    untreated_input: NDArray[np.int16] | None = None
    system: NDArray[np.int16] | None = None
    treatment: TreatmentRecord | None = None
    room: Mapping[str, Any] | None = None
    m3_events: Mapping[str, tuple[M3Event, ...]] | None = None
    checks: Mapping[str, float | None] = field(default_factory=dict)
