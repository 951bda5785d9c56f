"""The shape of three scenarios: one user turn, then quiet or nothing."""

from __future__ import annotations

from .conversation import Plan, PlannedPause, PlannedTurn, Role, Script, Start
from .effects import EFFECT_FIELDS
from .fields import LEAD, LENGTH, NOISE_FLOOR, ROOM, TAIL, Field, by_name
from .scenario import PlanContext, draw, draw_speed
from .script_form import ScriptForm, TurnForm
from .sounding import sound_of

FIELDS: dict[str, Field] = {**by_name(LEAD, TAIL, LENGTH, ROOM, NOISE_FLOOR), **EFFECT_FIELDS}

SCRIPT = ScriptForm(turns=(TurnForm(part="turn", role=Role.USER),))

SYNTHETIC = {
    "lead_s": [0.3, 0.8],
    "tail_s": 5.0,
    "room": "quiet_room@1",
    "noise_floor_dbov": [-72.0, -62.0],
}


def plan(
    script: Script,
    context: PlanContext,
    *,
    pauses: tuple[PlannedPause, ...] = (),
    pause_s: tuple[float, float] | None = None,
    max_hush_s: float | None,
    tail: bool = True,
) -> Plan:
    """Return the plan of one user turn with those pauses at its marks; without `tail` nothing follows it."""
    entry, rng = context.entry, context.rng
    lead_s = draw(rng, entry.range("lead_s"))
    tail_s = draw(rng, entry.range("tail_s"))
    floor = draw(rng, entry.range("noise_floor_dbov"))
    (said,) = script.turns
    return Plan(
        id=context.sample_id,
        scenario=script.scenario,
        language=script.language,
        take=context.take,
        split=context.split,
        preset=entry.preset,
        fdb_relation=entry.fdb_relation,
        script=script,
        turns=(
            PlannedTurn(
                name="turn",
                role=Role.USER,
                voice=context.cast[Role.USER],
                text=said.text,
                speed=draw_speed(context),
                start=Start(turn=None, distance_s=lead_s),
                move="open",
                pauses=pauses,
                max_hush_s=max_hush_s,
                length_s=entry.range("length_s"),
                intent=said.intent,
            ),
        ),
        lead_s=lead_s,
        tail_s=tail_s if tail else None,
        pause_s=pause_s,
        **sound_of(entry, floor),
    )
