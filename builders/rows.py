"""Sample to row: every value of every column."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..scenarios.conversation import Event, PlacedTurn, PlannedTurn, spoken_text
from ..scenarios.event_table import expected, scoring_window
from ..scenarios.events import M3Event
from .flac import to_flac
from .sample import Sample, Utterance


def to_row(sample: Sample, *, recipe_digest: str) -> dict[str, Any]:
    """Return the row of a checked sample."""
    plan, timeline, script = sample.plan, sample.timeline, sample.plan.script
    rate = timeline.sample_rate_hz
    name = plan.id.replace("/", "-")

    def audio(track: NDArray[np.int16] | None, suffix: str) -> dict[str, Any] | None:
        return None if track is None else {"bytes": to_flac(track, rate), "path": f"{name}{suffix}.flac"}

    pause_kinds = sorted({pause.kind for turn in timeline.turns for pause in turn.pauses})
    treatment = sample.treatment
    return {
        "id": plan.id,
        "scenario": plan.scenario,
        "language": plan.language,
        "split": plan.split,
        "preset": plan.preset,
        "fdb_relation": plan.fdb_relation,
        "input": audio(sample.input, ""),
        "clean_input": audio(sample.clean_input, "-clean"),
        "untreated_input": audio(sample.untreated_input, "-untreated"),
        "system": audio(sample.system, "-system"),
        "duration_s": timeline.n_samples / rate,
        "sample_rate_hz": rate,
        "turns": [
            _turn(said, turn, utterance, rate)
            for said, turn, utterance in zip(plan.turns, timeline.turns, sample.utterances, strict=True)
        ],
        "events": [_event(event, sample) for event in sample.annotation.events],
        "m3_events": None if sample.m3_events is None else m3_rows(sample.m3_events),
        "backchannel_q": (
            None if sample.annotation.backchannel_q is None else list(sample.annotation.backchannel_q)
        ),
        "q_source": sample.annotation.q_source or None,
        "treatment": (
            None
            if treatment is None
            else {
                "preset": treatment.preset,
                "target_db": treatment.target_db,
                "measured_db": treatment.measured_db,
                "audible_end_s": treatment.audible_end / rate,
                "params": json.dumps(treatment.params, sort_keys=True),
            }
        ),
        "checks": dict(sample.checks),
        "script": {
            "id": script.id,
            "source": script.source,
            "licence": script.licence,
            "domain": script.domain,
            "register": script.register,
            "addressee": script.addressee or None,
            "pause_kind": ",".join(pause_kinds) or None,
            "tags": list(script.tags),
        },
        "provenance": _provenance(sample, recipe_digest),
    }


def _turn(said: PlannedTurn, turn: PlacedTurn, utterance: Utterance, rate: int) -> dict[str, Any]:
    words = [word for word in turn.words if turn.cut is None or word.stop <= turn.cut]
    return {
        "role": said.role.value,
        "speaker": said.voice,
        "text": utterance.text,
        "reading": utterance.reading or None,
        "intent": said.intent or None,
        "onset_s": turn.onset / rate,
        "offset_s": turn.offset / rate,
        "reference_answer": said.reference_answer or None,
        "depends_on": list(said.depends_on),
        "spoken_text": spoken_text(utterance.text, turn),
        "words": [{"text": w.text, "onset_s": w.start / rate, "offset_s": w.stop / rate} for w in words],
        "word_time_source": utterance.word_time_source,
    }


def _event(event: Event, sample: Sample) -> dict[str, Any]:
    rate = sample.timeline.sample_rate_hz
    if_speaking, if_silent = expected(event)
    score_from, score_to = scoring_window(event, rate)

    def seconds(at: int | None) -> float | None:
        return None if at is None else at / rate

    is_token = event.kind == "backchannel"
    length_s = (event.offset - event.onset) / rate
    return {
        "kind": event.kind,
        "role": event.role.value,
        "onset_s": event.onset / rate,
        "offset_s": event.offset / rate,
        "turn": event.turn,
        "expected_if_speaking": if_speaking,
        "expected_if_silent": if_silent,
        "score_from_s": score_from / rate,
        "score_to_s": min(score_to / rate, sample.timeline.n_samples / rate),
        "intended_s": event.intended_s,
        "pause_kind": event.pause_kind or None,
        "fto_s": event.fto_s,
        "intended_fto_s": event.intended_fto_s,
        "token": event.token or None,
        "function": event.function or None,
        "meets_fdb": length_s < 1.0 and len(event.token.split()) < 2 if is_token else None,
        "meets_m3": length_s <= 0.8 if is_token else None,
        "q": event.q,
        "q_source": event.q_source or None,
        "intent": event.intent or None,
        "addressee": event.addressee or None,
        "carries_instruction": event.carries_instruction,
        "audible_end_s": seconds(event.audible_end),
        "system_planned_end_s": seconds(event.system_planned_end),
        "system_stop_s": seconds(event.system_stop),
        "spoken_text": event.spoken_text or None,
        "planned_text": event.planned_text or None,
        "context_start_s": seconds(event.context_start),
        "input_start_s": seconds(event.input_start),
    }


def m3_rows(m3_events: Mapping[str, Sequence[M3Event]]) -> list[dict[str, Any]]:
    """Return M3's events by role as a row holds them."""
    return [
        {"kind": event.kind, "role": role, "onset_s": event.start_cs / 100, "offset_s": event.end_cs / 100}
        for role, events in m3_events.items()
        for event in events
    ]


def _provenance(sample: Sample, recipe_digest: str) -> dict[str, Any]:
    voices: dict[tuple[str, str], dict[str, Any]] = {}
    for said, utterance in zip(sample.plan.turns, sample.utterances, strict=True):
        made = utterance.provenance
        voices.setdefault(
            (said.role.value, said.voice),
            {
                "role": said.role.value,
                "voice": said.voice,
                "mix": made["voice_mix"],
                "licence": made["voice_licence"],
                "attribution": made["voice_attribution"],
            },
        )
    first = sample.utterances[0].provenance
    written = dict(sample.plan.script.provenance)
    return {
        "engine": first["engine"],
        "engine_version": first["engine_version"],
        "engine_licence": first["engine_licence"],
        "voices": list(voices.values()),
        "turns": [
            {
                "stem": u.sha256,
                "clip": u.provenance["clip"],
                "speed": u.provenance["speed"],
                "seed": u.provenance["seed"],
            }
            for u in sample.utterances
        ],
        "room": json.dumps(sample.room, sort_keys=True),
        "timing_profile": sample.plan.timing_profile or None,
        "recipe_digest": recipe_digest,
        "code_version": __version__,
        "llm": written.get("model"),
        "prompt_hash": written.get("prompt_sha256"),
        "attempt": 0,  # the builder says which one it was
    }
