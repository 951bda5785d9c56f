"""The user breaks in while the model answers, and means to take the floor."""

from functools import partial

from .context_then_event import FDB_V1, FDB_V15, FIELDS, NATURAL, annotate, plan, script_form
from .conversation import Role
from .scenario import Preset, Scenario
from .script_form import TurnForm

INTENTS = (
    "topic_change",
    "follow_up",
    "correction",
    "clarification",
    "disagreement",
    "stop",
    "self_repair",
)
"""What an interruption is for; after "stop" nothing is expected of a model but silence."""

SCENARIO = Scenario(
    name="user_interruption",
    prefix="ui",
    meaning="a context that asks for a long answer; a wait; the same speaker barges in",
    script=script_form(TurnForm(part="event", role=Role.USER, keys={"intent": INTENTS}, needed=("intent",))),
    fields=FIELDS,
    presets={
        "fdb-v1": Preset(
            values=FDB_V1,
            fdb_relation="same-rule",
            note="wait 7 s and tail 15 s as Full-Duplex-Bench v1 rebuilds its input; lead: our choice",
        ),
        "fdb-v1.5": Preset(
            values=FDB_V15,
            fdb_relation="same-rule",
            note="wait 4 s and tail 5 s as observed in Full-Duplex-Bench v1.5's files; lead: our choice",
        ),
        "natural": Preset(values=NATURAL, fdb_relation="own", note="our choice"),
    },
    plan=partial(plan, role=Role.USER, move="barge_in"),
    annotate=annotate,
)
