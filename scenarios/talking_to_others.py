"""The user says something to somebody else while the model answers."""

from functools import partial

from .context_then_event import FDB_V15, FIELDS, NATURAL, annotate, plan
from .conversation import Role
from .fields import TARGET, TREATMENT, by_name
from .scenario import Preset, Scenario

SCENARIO = Scenario(
    name="talking_to_others",
    prefix="to",
    meaning="a context that asks for a long answer; a wait; the same speaker, turned away, to somebody else",
    fields={**FIELDS, **by_name(TREATMENT, TARGET)},
    presets={
        "fdb-v1.5": Preset(
            values={**FDB_V15, "treatment": "off_axis@1"},
            fdb_relation="same-rule",
            note="-8 dB with high shelf and reflections as Full-Duplex-Bench v1.5 says; the numbers of shelf "
            "and reflections are not published: our choice, off_axis@1",
        ),
        "natural": Preset(
            values={**NATURAL, "treatment": "off_axis@1"}, fdb_relation="own", note="our choice"
        ),
    },
    plan=partial(plan, role=Role.USER, move="side_talk"),
    annotate=annotate,
)
