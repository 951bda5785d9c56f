"""Timeline, utterances and drawn acoustics to a sample: the tracks, and the events as they came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..acoustics.level import (
    NORMAL_LEVEL_DBOV,
    Span,
    from_pcm16,
    scale_to_level,
    span_level_dbov,
    to_pcm16,
)
from ..acoustics.mix import Canvas, add_at
from ..acoustics.treatments import TreatmentParams, draw_treatment, treat, treatment_to_json
from ..scenarios import SCENARIOS
from ..scenarios.conversation import PlacedTurn, Plan, Role, Timeline
from ..scenarios.events import M3Event, Times, centiseconds, label
from .cut_off import heard_clip, with_real_stops
from .sample import Sample, TreatmentRecord, Utterance
from .speak import speech_without

if TYPE_CHECKING:
    from ..acoustics.room import RoomParams

Signal = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acoustics:
    """Every acoustic number of one sample, drawn."""

    treatment: TreatmentParams | None
    room: RoomParams | None
    noise_seed: int


def draw_acoustics(plan: Plan, rng: Callable[[str], np.random.Generator]) -> Acoustics:
    """Return the acoustic numbers of a sample; ``rng(stage)`` gives the generator of a stage."""
    treatment = draw_treatment(plan.treatment, rng("treatment")) if plan.treatment else None
    if treatment is not None and plan.target_db is not None:
        treatment = replace(treatment, target_db=plan.target_db)
    room = None
    if plan.room != "none":
        from ..acoustics.room import draw_room

        room = draw_room(rng("room"))  # the one preset: quiet_room@1
    return Acoustics(treatment=treatment, room=room, noise_seed=int(rng("noise").integers(2**31)))


def render(plan: Plan, timeline: Timeline, utterances: tuple[Utterance, ...], acoustics: Acoustics) -> Sample:
    """Return the finished sample. Pure: the same arguments give the same bytes.

    `input` and `clean_input` share one noise floor and one room, and differ only where the event sounds.
    """
    timeline = with_real_stops(timeline, utterances)
    placed = list(timeline.turns)
    quiet = _user_side(plan, timeline, utterances, acoustics)
    on_axis = [
        span
        for i, turn in enumerate(placed)
        if plan.turns[i].role is Role.USER and i != plan.event_turn
        for span in speech_without(turn.pauses, turn.onset, turn.offset)
    ]
    clean = to_pcm16(quiet + _noise(plan, timeline, acoustics))
    tracks: dict[str, NDArray[np.int16] | None] = {"input": clean}
    record = None
    if plan.event_turn is not None:
        happening, audible_stop, record = _event(
            plan, timeline, utterances, acoustics, span_level_dbov(quiet, on_axis)
        )
        placed[plan.event_turn] = replace(placed[plan.event_turn], audible_stop=audible_stop)
        tracks["clean_input"] = clean
        tracks["input"] = _with(
            quiet, happening, placed[plan.event_turn].clip_start, plan, timeline, acoustics
        )
        if record is not None:
            dry = _in_room(utterances[plan.event_turn], placed[plan.event_turn], acoustics)
            tracks["untreated_input"] = _with(
                quiet, dry, placed[plan.event_turn].clip_start, plan, timeline, acoustics
            )
    done = replace(timeline, turns=tuple(placed))
    has_system = any(turn.role is Role.SYSTEM for turn in plan.turns)
    return Sample(
        plan=plan,
        timeline=done,
        annotation=SCENARIOS[plan.scenario].annotate(plan, done),
        utterances=utterances,
        input=tracks["input"],  # type: ignore[arg-type]
        clean_input=tracks.get("clean_input"),
        untreated_input=tracks.get("untreated_input"),
        system=_system(plan, done, utterances) if has_system else None,
        treatment=record,
        room=_room_record(plan, acoustics),
        m3_events=m3_events(plan, done) if has_system else None,
    )


def _user_side(
    plan: Plan, timeline: Timeline, utterances: tuple[Utterance, ...], acoustics: Acoustics
) -> Signal:
    canvas = Canvas(timeline.n_samples)
    for i, (turn, utterance) in enumerate(zip(timeline.turns, utterances, strict=True)):
        if plan.turns[i].role is not Role.SYSTEM and i != plan.event_turn:
            _put(canvas, _in_room(utterance, turn, acoustics), turn.clip_start)
    return canvas.samples


def _in_room(utterance: Utterance, turn: PlacedTurn, acoustics: Acoustics) -> Signal:
    """Return a clip as the microphone hears it on axis: dry, or in the sample's room at the same level."""
    samples = from_pcm16(utterance.pcm)
    if acoustics.room is None:
        return samples
    from ..acoustics.room import room_rir, through_room

    wet = through_room(samples, room_rir(acoustics.room, sample_rate_hz=utterance.sample_rate_hz))
    shape = utterance.shape
    return scale_to_level(
        wet,
        spans=speech_without(shape.pauses, shape.onset, shape.offset),
        level_dbov=NORMAL_LEVEL_DBOV,
    )


def _event(
    plan: Plan,
    timeline: Timeline,
    utterances: tuple[Utterance, ...],
    acoustics: Acoustics,
    reference_level_dbov: float,
) -> tuple[Signal, int, TreatmentRecord | None]:
    """Return the event's clip as it is heard, where its sound ends on the sample's clock, and the record."""
    assert plan.event_turn is not None
    turn, utterance = timeline.turns[plan.event_turn], utterances[plan.event_turn]
    clip = _in_room(utterance, turn, acoustics)
    if acoustics.treatment is None:
        return clip, min(turn.clip_start + clip.size, timeline.n_samples), None
    treated = treat(
        clip,
        acoustics.treatment,
        span=(utterance.shape.onset, utterance.shape.offset),
        reference_level_dbov=reference_level_dbov,
        sample_rate_hz=timeline.sample_rate_hz,
    )
    audible_stop = min(turn.clip_start + treated.audible_stop, timeline.n_samples)
    return (
        treated.samples,
        audible_stop,
        TreatmentRecord(
            preset=acoustics.treatment.preset,
            target_db=acoustics.treatment.target_db,
            measured_db=treated.measured_db,
            audible_end=audible_stop,
            params=treatment_to_json(acoustics.treatment),
        ),
    )


def _with(
    quiet: Signal, clip: Signal, start: int, plan: Plan, timeline: Timeline, acoustics: Acoustics
) -> NDArray[np.int16]:
    canvas = Canvas(timeline.n_samples)
    _put(canvas, quiet, 0)
    _put(canvas, clip, start)
    return to_pcm16(canvas.samples + _noise(plan, timeline, acoustics))


def _put(canvas: Canvas, clip: Signal, start: int) -> None:
    """Add a clip; what would lie outside the sample is left out."""
    head = max(0, -start)
    tail = min(clip.size, canvas.n_samples - start)
    if tail > head:
        add_at(canvas, clip[head:tail], start=start + head)


def _noise(plan: Plan, timeline: Timeline, acoustics: Acoustics) -> Signal:
    if plan.noise_floor_dbov is None:
        return np.zeros(timeline.n_samples, dtype=np.float32)
    from ..acoustics.noise import noise_floor

    return noise_floor(
        timeline.n_samples,
        np.random.default_rng(acoustics.noise_seed),
        level_dbov=plan.noise_floor_dbov,
        sample_rate_hz=timeline.sample_rate_hz,
    )


def _system(plan: Plan, timeline: Timeline, utterances: tuple[Utterance, ...]) -> NDArray[np.int16]:
    """Return the system's own track: dry, and silent from the sample where a cut-off stopped it."""
    canvas = Canvas(timeline.n_samples)
    for i, (turn, utterance) in enumerate(zip(timeline.turns, utterances, strict=True)):
        if plan.turns[i].role is Role.SYSTEM:
            clip = heard_clip(utterance, turn, sample_rate_hz=timeline.sample_rate_hz)
            _put(canvas, clip, turn.clip_start)
    return to_pcm16(canvas.samples)


def _room_record(plan: Plan, acoustics: Acoustics) -> Mapping[str, Any]:
    return {
        "preset": plan.room,
        "params": None if acoustics.room is None else asdict(acoustics.room),
        "noise_floor_dbov": plan.noise_floor_dbov,
        "noise_seed": None if plan.noise_floor_dbov is None else acoustics.noise_seed,
    }


def m3_events(plan: Plan, timeline: Timeline) -> dict[str, tuple[M3Event, ...]]:
    """Return M3's labels of the words that were really spoken, by role; role `other` is left out."""
    words: dict[str, list[Times]] = {Role.SYSTEM.value: [], Role.USER.value: []}
    for said, turn in zip(plan.turns, timeline.turns, strict=True):
        if said.role.value not in words:
            continue
        for word in turn.words:
            stop = word.stop if turn.cut is None else min(word.stop, turn.cut)
            if stop > word.start:
                words[said.role.value].append(
                    (
                        centiseconds(word.start / timeline.sample_rate_hz),
                        centiseconds(stop / timeline.sample_rate_hz),
                    )
                )
    return label(words)


def event_span(sample: Sample) -> Span | None:
    """Return the samples outside which `input` equals `clean_input`, or None where there is no event."""
    if sample.plan.event_turn is None:
        return None
    turn = sample.timeline.turns[sample.plan.event_turn]
    assert turn.audible_stop is not None
    return turn.clip_start, turn.audible_stop
