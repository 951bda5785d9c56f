"""Timeline, utterances and drawn acoustics to a sample: the tracks, and the events as they came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ..acoustics.level import from_pcm16
from ..acoustics.treatments import TreatmentParams, draw_treatment, treatment_to_json
from ..scenarios import SCENARIOS
from ..scenarios.conversation import PlacedTurn, Plan, Role, Timeline
from ..scenarios.events import M3Event, Times, centiseconds, label
from ..scenarios.fields import ON_AXIS
from .cut_off import heard_clip, with_real_stops
from .effects import Effects, draw_effects, with_recording
from .sample import Sample, TreatmentRecord, Utterance
from .seeds import rng_for
from .sound_record import sound_record
from .speak import speech_without
from .tracks import Acoustics, PlacedClip, Tracks, make_tracks

__all__ = ["Acoustics", "draw_acoustics", "m3_events", "render"]


def draw_acoustics(plan: Plan, rng: Callable[[str], np.random.Generator]) -> Acoustics:
    """Return the acoustic numbers of a sample; ``rng(stage)`` gives the generator of a stage.

    Samples whose plan has a `sound_seed` share these draws with the others of their script that have it.
    """
    if plan.sound_seed is not None:
        rng = partial(rng_for, plan.sound_seed, plan.script.id)
    room = None
    if plan.room != "none":
        from ..acoustics.room import draw_room

        room = draw_room(rng("room"), name=plan.room)
    treatment = None
    if plan.treatment == ON_AXIS:
        treatment = TreatmentParams(preset=ON_AXIS, target_db=plan.target_db or 0.0)
    elif plan.treatment:
        treatment = draw_treatment(plan.treatment, rng("treatment"), room=room)
        if plan.target_db is not None:
            treatment = replace(treatment, target_db=plan.target_db)
    return Acoustics(
        treatment=treatment,
        room=room,
        noise_floor_dbov=plan.noise_floor_dbov,
        noise_seed=int(rng("noise").integers(2**31)),
        effects=Effects() if plan.effects is None else draw_effects(plan.effects, rng, room),
    )


def render(plan: Plan, timeline: Timeline, utterances: tuple[Utterance, ...], acoustics: Acoustics) -> Sample:
    """Return the finished sample. Pure: the same arguments give the same bytes.

    `input` and `clean_input` share one noise floor and one room, and differ only where the event sounds.
    """
    timeline = with_real_stops(timeline, utterances)
    rate = timeline.sample_rate_hz
    effects = with_recording(acoustics.effects, plan.effects, sample_rate_hz=rate)
    acoustics = replace(acoustics, effects=effects)
    clips = tuple(
        _clip(said.role, turn, utterance, rate)
        for said, turn, utterance in zip(plan.turns, timeline.turns, utterances, strict=True)
    )
    tracks = make_tracks(
        clips, acoustics, event=plan.event_turn, n_samples=timeline.n_samples, sample_rate_hz=rate
    )
    if plan.event_turn is not None:
        placed = list(timeline.turns)
        placed[plan.event_turn] = replace(placed[plan.event_turn], audible_stop=tracks.sides.audible_stop)
        timeline = replace(timeline, turns=tuple(placed))
    return Sample(
        plan=plan,
        timeline=timeline,
        annotation=SCENARIOS[plan.scenario].annotate(plan, timeline),
        utterances=utterances,
        input=tracks.input,
        clean_input=tracks.clean_input,
        untreated_input=tracks.untreated_input,
        system=tracks.system,
        treatment=_treatment_record(acoustics, tracks),
        room=sound_record(plan.room, acoustics, clips, tracks),
        m3_events=None if tracks.system is None else m3_events(plan, timeline),
    )


def _clip(role: Role, turn: PlacedTurn, utterance: Utterance, rate: int) -> PlacedClip:
    shape = utterance.shape
    if role is Role.SYSTEM:
        samples = heard_clip(utterance, turn, sample_rate_hz=rate)
        offset = turn.offset - turn.clip_start
    else:
        samples, offset = from_pcm16(utterance.pcm), shape.offset
    return PlacedClip(
        role=role,
        samples=samples,
        start=turn.clip_start,
        onset=shape.onset,
        offset=offset,
        spans=tuple(speech_without(shape.pauses, shape.onset, shape.offset)),
        is_cut=turn.cut is not None,
    )


def _treatment_record(acoustics: Acoustics, tracks: Tracks) -> TreatmentRecord | None:
    treated, audible_stop = tracks.sides.treated, tracks.sides.audible_stop
    if acoustics.treatment is None or treated is None or audible_stop is None:
        return None
    return TreatmentRecord(
        preset=acoustics.treatment.preset,
        target_db=acoustics.treatment.target_db,
        measured_db=treated.measured_db,
        audible_end=audible_stop,
        params=treatment_to_json(acoustics.treatment),
    )


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
