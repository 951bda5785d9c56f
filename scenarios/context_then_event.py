"""The shape of four scenarios: a context that asks for a long answer, a wait, then something happens."""

from __future__ import annotations

from .conversation import Annotation, Event, Plan, PlannedTurn, Role, Script, Start, Timeline
from .effects import EFFECT_FIELDS
from .fields import LEAD, LENGTH, NOISE_FLOOR, ROOM, TAIL, WAIT, Field, by_name
from .scenario import PlanContext, draw, draw_speed
from .script_form import ScriptForm, TurnForm
from .sounding import sound_of

FIELDS: dict[str, Field] = {**by_name(LEAD, WAIT, TAIL, LENGTH, ROOM, NOISE_FLOOR), **EFFECT_FIELDS}

CONTEXT_HUSH_S = 0.35
"""Longer silences inside a context are cut to this, so that a detector with M3's 0.5 s sees one unit."""

_DRY = {"length_s": [0.1, 20.0], "room": "none", "noise_floor_dbov": -70.0}
FDB_V1 = {"lead_s": 0.02, "wait_s": 7.0, "tail_s": 15.0, **_DRY}
FDB_V15 = {"lead_s": 0.02, "wait_s": 4.0, "tail_s": 5.0, **_DRY}
NATURAL = {
    "length_s": [0.1, 20.0],
    "lead_s": [0.3, 0.8],
    "wait_s": [2.5, 8.0],
    "tail_s": [8.0, 12.0],
    "room": "quiet_room@1",
    "noise_floor_dbov": [-72.0, -62.0],
}


def script_form(event: TurnForm, *, tags: tuple[str, ...] = (), needed: tuple[str, ...] = ()) -> ScriptForm:
    """Return the form of a script: the context, and what happens."""
    return ScriptForm(turns=(TurnForm(part="context", role=Role.USER), event), tags=tags, needed=needed)


def plan(script: Script, context: PlanContext, *, role: Role, move: str) -> Plan:
    """Return the plan: the user's context, and `role`'s second turn after the drawn wait."""
    entry, rng = context.entry, context.rng
    lead_s, wait_s, tail_s = (draw(rng, entry.range(name)) for name in ("lead_s", "wait_s", "tail_s"))
    floor = draw(rng, entry.range("noise_floor_dbov"))
    asked, happening = script.turns
    turns = (
        PlannedTurn(
            name="context",
            role=Role.USER,
            voice=context.cast[Role.USER],
            text=asked.text,
            speed=draw_speed(context),
            start=Start(turn=None, distance_s=lead_s),
            move="open",
            max_hush_s=CONTEXT_HUSH_S,
            intent=asked.intent,
        ),
        PlannedTurn(
            name="event",
            role=role,
            voice=context.cast[role],
            text=happening.text,
            speed=draw_speed(context),
            start=Start(turn=0, distance_s=wait_s),
            move=move,
            max_hush_s=CONTEXT_HUSH_S,
            length_s=entry.range("length_s"),
            intent=happening.intent,
            function=happening.function,
        ),
    )
    return Plan(
        id=context.sample_id,
        scenario=script.scenario,
        language=script.language,
        take=context.take,
        split=context.split,
        preset=entry.preset,
        fdb_relation=entry.fdb_relation,
        script=script,
        turns=turns,
        lead_s=lead_s,
        tail_s=tail_s,
        event_turn=1,
        **sound_of(entry, floor),
    )


def annotate(plan: Plan, timeline: Timeline) -> Annotation:
    """Return the two events: the floor is offered at the context's end, then something happens."""
    first, second = timeline.turns
    said = plan.turns[1]
    word = plan.script.turns[1]
    event = Event(
        kind=said.move,
        role=said.role,
        onset=second.onset,
        offset=second.offset,
        turn=1,
        intent=said.intent,
        token=" ".join(w.text for w in second.words) if said.move == "backchannel" else "",
        function=word.function,
        addressee=plan.script.addressee if said.move == "side_talk" else "",
        carries_instruction="instruction" in plan.script.tags if said.move == "background_speech" else None,
        audible_end=second.audible_stop,
        context_start=first.onset,
        input_start=first.onset,
    )
    return Annotation(events=(offer(first.offset, first.onset, turn=0), event))


def offer(end: int, input_start: int, *, turn: int) -> Event:
    """Return the shift that a finished user turn offers where no answer is recorded: onset equals offset."""
    return Event(
        kind="shift",
        role=Role.SYSTEM,
        onset=end,
        offset=end,
        turn=turn,
        context_start=input_start,
        input_start=input_start,
    )
