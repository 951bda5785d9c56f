"""The user says something to somebody else while the model answers."""

from __future__ import annotations

from . import addressee_controls, context_then_event
from .context_then_event import FDB_V15, FIELDS, NATURAL, annotate, script_form
from .conversation import Plan, Role, Script
from .fields import TARGET, TREATMENT, by_name
from .scenario import PlanContext, Preset, Scenario
from .script_form import TurnForm


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan of an aside, or of one cell of the addressee controls."""
    if context.entry.values.get(addressee_controls.CONTROLS.name):
        return addressee_controls.plan(script, context)
    return context_then_event.plan(script, context, role=Role.USER, move="side_talk")


SCENARIO = Scenario(
    name="talking_to_others",
    prefix="to",
    meaning="a context that asks for a long answer; a wait; the same speaker, turned away, to somebody else",
    script=script_form(TurnForm(part="event", role=Role.USER), needed=("addressee", "why")),
    fields={**FIELDS, **by_name(TREATMENT, TARGET, addressee_controls.CONTROLS)},
    presets={
        "fdb-v1.5": Preset(
            values={**FDB_V15, "treatment": "off_axis@1"},
            fdb_relation="same-rule",
            note="-8 dB with high shelf and reflections as Full-Duplex-Bench v1.5 says; the numbers of shelf "
            "and reflections are not published: our choice, off_axis@1",
        ),
        "natural": Preset(
            values={**NATURAL, "treatment": "off_axis_varied@1"}, fdb_relation="own", note="our choice"
        ),
        "controls": Preset(
            values={
                **NATURAL,
                "treatment": "off_axis_varied@1",
                "target_db": 0.0,
                addressee_controls.CONTROLS.name: True,
            },
            fdb_relation="own",
            note="our choice: takes go through {addressed, aside text} x {on-axis, off-axis sound}, with the "
            "same voice, timing and room, and all at the level of the context",
        ),
    },
    plan=plan,
    annotate=annotate,
    n_alike=addressee_controls.n_alike,
)
