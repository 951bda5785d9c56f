"""The user says "uh-huh" while the model answers, and claims no floor."""

from functools import partial

from .context_then_event import FDB_V15, FIELDS, NATURAL, annotate, plan, script_form
from .conversation import Role
from .markup import LISTENER_FUNCTIONS
from .scenario import Preset, Scenario
from .script_form import TurnForm

SCENARIO = Scenario(
    name="user_backchannel",
    prefix="ub",
    meaning="a context that asks for a long answer; a wait; a short token by the same speaker",
    script=script_form(
        TurnForm(part="token", role=Role.USER, keys={"function": LISTENER_FUNCTIONS}, needed=("function",)),
        tags=("fdb", "newsmark"),
    ),
    fields=FIELDS,
    presets={
        "fdb-v1.5": Preset(
            values={**FDB_V15, "length_s": [0.1, 0.65]},
            fdb_relation="same-rule",
            note="timing as Full-Duplex-Bench v1.5; one word of at most 0.65 s: our choice, inside its < 1 s",
            tags=("fdb",),
        ),
        "natural": Preset(values={**NATURAL, "length_s": [0.1, 1.0]}, fdb_relation="own", note="our choice"),
    },
    plan=partial(plan, role=Role.USER, move="backchannel"),
    annotate=annotate,
)
