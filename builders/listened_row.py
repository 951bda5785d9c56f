"""What people listened to, and their responses, to a row of the scenario backchannel."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import __version__
from ..acoustics.resample import resample
from ..scenarios.conversation import Event, Role
from ..scenarios.listener_q import listeners_q, q_source, responsive_runs
from .activity_events import activity
from .corpora.excerpt import RATE_HZ
from .corpora.icc import Listened
from .flac import to_flac
from .recorded_row import About, event_row, parts_of, voices_of
from .schema import COLUMNS


def listened_row(listened: Listened, about: About) -> dict[str, Any]:
    """Return the row: the stimulus as input, Q from the listeners, and a place where they respond as `trp`."""
    samples = resample(listened.samples, from_rate_hz=listened.sample_rate_hz, to_rate_hz=RATE_HZ)
    gain = 1.0 / max(1.0, float(np.abs(samples).max()))
    pcm = np.clip(np.rint(samples * (gain * 32768.0)), -32768, 32767).astype(np.int16)
    n = len(listened.responses)
    q = listeners_q(listened.responses, pcm.size / RATE_HZ)
    heard = activity(samples, sample_rate_hz=RATE_HZ)
    start, stop = (heard[0][0], heard[-1][1]) if heard else (0, pcm.size)
    events = [
        Event(
            kind="trp",
            role=Role.USER,
            onset=round(start_s * RATE_HZ),
            offset=min(round(stop_s * RATE_HZ), pcm.size),
            turn=0,
            q=share,
            q_source=q_source(n),
            context_start=start,
            input_start=start,
        )
        for start_s, stop_s, share in responsive_runs(q)
    ]
    turn: dict[str, Any] = dict.fromkeys(parts_of("turns"))
    turn.update(
        role="user",
        speaker=listened.id,
        text="",
        onset_s=start / RATE_HZ,
        offset_s=stop / RATE_HZ,
        depends_on=[],
        spoken_text="",
        words=[],
        word_time_source="none",
    )
    row_id = f"backchannel/{about.language}/{listened.id}/0"
    row: dict[str, Any] = dict.fromkeys(column.name for column in COLUMNS)
    row.update(
        id=row_id,
        scenario="backchannel",
        language=about.language,
        split="test",
        preset="recorded",
        fdb_relation="own",
        input={"bytes": to_flac(pcm, RATE_HZ), "path": f"{row_id.replace('/', '-')}.flac"}
        if about.has_audio
        else None,
        duration_s=pcm.size / RATE_HZ,
        sample_rate_hz=RATE_HZ,
        turns=[turn],
        events=[event_row(event, pcm.size) for event in events],
        backchannel_q=list(q),
        q_source=q_source(n),
        checks=dict.fromkeys(parts_of("checks")),
        script={
            "id": listened.id,
            "source": f"listened {listened.id}, {n} listeners",
            "licence": about.licence,
            "domain": "conversation",
            "register": "spontaneous",
            "addressee": None,
            "pause_kind": None,
            "tags": [],
        },
    )
    made: dict[str, Any] = dict.fromkeys(parts_of("provenance"))
    made.update(
        engine="recording",
        engine_version="listened",
        engine_licence=about.licence,
        voices=voices_of([("user", listened.id)], about),
        turns=[],
        room=json.dumps({"preset": "recording", "effects": {}, "gain_db": float(20 * np.log10(gain))}),
        recipe_digest=about.recipe_digest,
        code_version=__version__,
        attempt=0,
    )
    row["provenance"] = made
    return row
