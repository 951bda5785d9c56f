"""The user tells something long; a good model listens and says "uh-huh" where that is welcome."""

from __future__ import annotations

from . import listener_lag, monologue
from .context_then_event import offer
from .conversation import Annotation, Event, Plan, Role, Script, Timeline
from .scenario import PlanContext, Preset, Scenario
from .script_form import ScriptForm, TurnForm

MONOLOGUE_HUSH_S = 1.0
"""Silences of a told story stay as the voice made them up to this length."""


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan of one long turn."""
    return monologue.plan(script, context, max_hush_s=MONOLOGUE_HUSH_S)


def annotate(plan: Plan, timeline: Timeline) -> Annotation:
    """Return a window after each marked place, Q over 200 ms windows, and the offered floor at the end."""
    (turn,) = timeline.turns
    rate = timeline.sample_rate_hz
    places = [(place / rate, function) for place, function in turn.places]
    q = listener_lag.backchannel_q(places, timeline.n_samples / rate)
    source = f"author marks, {listener_lag.NAME}"
    events = [
        Event(
            kind="trp",
            role=Role.USER,
            onset=place,
            offset=min(place + round(listener_lag.HIGH_S * rate), timeline.n_samples),
            turn=0,
            function=function,
            q=listener_lag.RESPONSE_SHARE[function],
            q_source=source,
            context_start=turn.onset,
            input_start=turn.onset,
        )
        for place, function in turn.places
    ]
    return Annotation(
        events=(*events, offer(turn.offset, turn.onset, turn=0)), backchannel_q=q, q_source=source
    )


SCENARIO = Scenario(
    name="backchannel",
    prefix="bc",
    meaning="a monologue of 15-60 s with places where a listener's token is welcome",
    script=ScriptForm(turns=(TurnForm(part="monologue", role=Role.USER, mark="trp", needs_mark=True),)),
    fields=monologue.FIELDS,
    presets={
        "synthetic": Preset(
            values={**monologue.SYNTHETIC, "length_s": [15.0, 60.0]},
            fdb_relation="analogue",
            note="Full-Duplex-Bench v1's set is human speech with human listeners; ours has marked places",
        ),
    },
    plan=plan,
    annotate=annotate,
)
