"""The user's turn ends plainly; a good model answers soon."""

from __future__ import annotations

from . import monologue
from .context_then_event import offer
from .conversation import Annotation, Plan, Script, Timeline
from .scenario import PlanContext, Preset, Scenario

INNER_HUSH_S = 0.35
"""No pause of 0.4 s or more stands inside the turn (Full-Duplex-Bench v1's rule): longer ones are cut."""


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan of one turn without inner pauses."""
    return monologue.plan(script, context, max_hush_s=INNER_HUSH_S)


def annotate(plan: Plan, timeline: Timeline) -> Annotation:
    """Return the offered floor at the turn's end."""
    (turn,) = timeline.turns
    return Annotation(events=(offer(turn.offset, turn.onset, turn=0),))


SCENARIO = Scenario(
    name="smooth_turn_taking",
    prefix="st",
    meaning="one user turn of more than 4 s without an inner pause, then 5 s in which to answer",
    script=monologue.SCRIPT,
    fields=monologue.FIELDS,
    presets={
        "synthetic": Preset(
            values={**monologue.SYNTHETIC, "length_s": [4.0, 30.0]},
            fdb_relation="analogue",
            note="Full-Duplex-Bench v1's set is human speech; the rule (turn > 4 s, no inner pause of 0.4 s, "
            "5 s of tail) is its own, the speech and the room are ours",
        ),
    },
    plan=plan,
    annotate=annotate,
)
