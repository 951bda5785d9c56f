"""Active level: how loud the speech of a clip is, hushes left out."""

from __future__ import annotations

import numpy as np

from ...acoustics.level import span_level_dbov
from .measure import Measure, Measured, SpokenClip, Tools, Value, alone
from .silences import speech_of

SILENT_DBOV = -120.0
"""What stands for a clip without any speech."""


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    spans = speech_of(clip)
    level_dbov = span_level_dbov(clip.samples, spans) if spans else SILENT_DBOV
    return Measured(values={"active_level_dbov": float(np.maximum(level_dbov, SILENT_DBOV))})


ACTIVE_LEVEL = Measure(
    name="active_level",
    scope="utterance",
    values=(
        Value(
            name="active_level_dbov",
            unit="dBov",
            meaning="RMS over the speech; clips are placed at -26 dBov between onset and offset",
        ),
    ),
    source="ITU-T G.100.1 (dBov); spans from the energy detector",
    cost=0.002,
    version=lambda tools: "2",
    run=alone(_run),
)
