"""Another voice speaks in the background, to nobody here, while the model answers."""

from functools import partial

from .context_then_event import FDB_V15, FIELDS, NATURAL, annotate, plan, script_form
from .conversation import Role
from .fields import TARGET, TREATMENT, by_name
from .scenario import Preset, Scenario
from .script_form import TurnForm

INTENTS = ("news", "announcement", "table_talk", "phone")
"""What is heard from the next room."""

SCENARIO = Scenario(
    name="background_speech",
    prefix="bg",
    meaning="a context that asks for a long answer; a wait; a different voice from the next room",
    script=script_form(
        TurnForm(part="event", role=Role.OTHER, keys={"intent": INTENTS}, needed=("intent",)),
        tags=("instruction",),
    ),
    fields={**FIELDS, **by_name(TREATMENT, TARGET)},
    presets={
        "fdb-v1.5": Preset(
            values={**FDB_V15, "treatment": "next_room@1"},
            fdb_relation="same-rule",
            note="-15 dB with low-pass and echo as Full-Duplex-Bench v1.5 says; the numbers of low-pass and "
            "echo are not published: our choice, next_room@1",
        ),
        "natural": Preset(
            values={**NATURAL, "treatment": "next_room_varied@1"}, fdb_relation="own", note="our choice"
        ),
    },
    plan=partial(plan, role=Role.OTHER, move="background_speech"),
    annotate=annotate,
    roles=("user", "other"),
)
