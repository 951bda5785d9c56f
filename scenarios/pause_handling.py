"""The user pauses inside a turn; a good model waits."""

from __future__ import annotations

from . import monologue
from .context_then_event import offer
from .conversation import Annotation, Event, Plan, PlannedPause, Role, Script, Timeline
from .fields import FlagField, RangeField, by_name
from .markup import parse
from .scenario import PlanContext, Preset, Scenario, draw
from .script_form import ScriptForm, TurnForm

UNMARKED_HUSH_S = 0.35
"""Silences that no mark asks for are shortened to this: below every intended pause."""


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan: one turn, the length of each marked pause drawn."""
    pause_s = context.entry.range("pause_s")
    pauses = tuple(
        PlannedPause(kind=mark.value, length_s=draw(context.rng, pause_s))
        for mark in parse(script.turns[0].text).places("pause")
    )
    return monologue.plan(
        script,
        context,
        pauses=pauses,
        pause_s=pause_s,
        max_hush_s=UNMARKED_HUSH_S,
        tail=not context.entry.flag("ends_with_speech"),
    )


def annotate(plan: Plan, timeline: Timeline) -> Annotation:
    """Return the measured pauses, and the offered floor where a tail follows."""
    (turn,) = timeline.turns
    events = [
        Event(
            kind="pause",
            role=Role.USER,
            onset=pause.start,
            offset=pause.stop,
            turn=0,
            intended_s=pause.intended_s,
            pause_kind=pause.kind,
            context_start=turn.onset,
            input_start=turn.onset,
        )
        for pause in turn.pauses
    ]
    if plan.tail_s is not None:
        events.append(offer(turn.offset, turn.onset, turn=0))
    return Annotation(events=tuple(events))


SCENARIO = Scenario(
    name="pause_handling",
    prefix="ph",
    meaning="one user turn of at least 5 s with one to three pauses inside clauses",
    script=ScriptForm(turns=(TurnForm(part="turn", role=Role.USER, mark="pause", needs_mark=True),)),
    fields={
        **monologue.FIELDS,
        **by_name(
            RangeField(
                name="pause_s",
                unit="seconds",
                low=0.2,
                high=5.0,
                meaning="length of a pause; what is measured on the stem must lie inside this range too",
            ),
            FlagField(
                name="ends_with_speech",
                meaning="the input ends with the last speech sample (a judge of the whole file would "
                "punish an answer in a tail)",
            ),
        ),
    },
    presets={
        "fdb-v1": Preset(
            values={
                "lead_s": 0.02,
                "tail_s": 0.0,
                "length_s": [5.0, 30.0],
                "room": "none",
                "noise_floor_dbov": -70.0,
                "pause_s": [0.4, 1.0],
                "ends_with_speech": True,
            },
            fdb_relation="same-rule",
            note="pause 0.4-1.0 s inside a turn of at least 5 s as Full-Duplex-Bench v1; lead: our choice",
        ),
        "tailed": Preset(
            values={
                **monologue.SYNTHETIC,
                "length_s": [5.0, 30.0],
                "pause_s": [0.4, 1.0],
                "ends_with_speech": False,
            },
            fdb_relation="own",
            note="our choice: the same with 5 s in which the model should answer",
        ),
    },
    plan=plan,
    annotate=annotate,
)
