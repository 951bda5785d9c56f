"""What a recipe may say of question-answer dialogues, and the presets."""

from __future__ import annotations

from .dialogue_draws import SAMPLINGS
from .dialogue_timing import SAME
from .effects import EFFECT_FIELDS, LEAKAGE_FIELDS
from .fields import (
    LEAD,
    NOISE_FLOOR,
    ROOM,
    TAIL,
    Field,
    FlagField,
    IntRangeField,
    NameField,
    NumberField,
    RangeField,
    by_name,
)
from .scenario import Preset

BANK = "bank"
"""As a source: the script bank."""

_SHARE = "share"


def _rate(name: str, meaning: str) -> NumberField:
    return NumberField(name=name, unit=_SHARE, low=0.0, high=1.0, meaning=meaning)


FIELDS: dict[str, Field] = (
    EFFECT_FIELDS
    | LEAKAGE_FIELDS
    | by_name(
        LEAD,
        TAIL,
        ROOM,
        NOISE_FLOOR,
        IntRangeField(
            name="pairs", unit="pairs", low=1, high=60, meaning="question-answer pairs of a dialogue"
        ),
        NumberField(
            name="longest_s",
            unit="seconds",
            low=10.0,
            high=3600.0,
            meaning="a dialogue that would take longer to say has fewer pairs, down to the least of `pairs`",
        ),
        NameField(
            name="source", meaning="bank, or topiocqa:FILE for a TopiOCQA file of yours (CC BY-NC-SA 4.0)"
        ),
        NameField(
            name="timing_profile",
            meaning="timing profile of turn shifts: a shipped one, a .json file, constant:SECONDS or "
            "uniform:FROM:TO",
        ),
        NameField(
            name="answer_profile",
            meaning="timing profile of the system's answers, or same",
        ),
        NameField(
            name="sampling",
            meaning="stratified: every part of the profile once in each block of 10 dialogues; or iid",
            known=SAMPLINGS,
        ),
        _rate("barge_in_rate", "share of the user's later questions that overlap the answer's end"),
        _rate("cut_off_rate", "share of the user's later questions that stop the system inside its answer"),
        _rate("backchannel_rate", "share of answers during which the user says a listener's token"),
        _rate(
            "hold_rate",
            "share of questions with marked places in which the user falls silent there and goes on",
        ),
        RangeField(
            name="hold_s",
            unit="seconds",
            low=0.5,
            high=5.0,
            meaning="length of such a silence, drawn from the profile inside this range",
        ),
        _rate("hesitation_rate", "share of questions with marked places in which the user only hesitates"),
        RangeField(
            name="hesitation_s", unit="seconds", low=0.1, high=0.5, meaning="length of such a hesitation"
        ),
        FlagField(
            name="guard_bands",
            meaning="cut silences inside turns to 0.35 s, so that other labs' detectors agree on the units",
        ),
    )
)

PRESETS = {
    "m3": Preset(
        values={
            "lead_s": [0.3, 0.8],
            "tail_s": [10.0, 12.0],
            "room": "quiet_room@1",
            "noise_floor_dbov": [-72.0, -62.0],
            "pairs": [8, 10],
            "longest_s": 118.0,
            "source": BANK,
            "timing_profile": "shared-shift-v1",
            "answer_profile": SAME,
            "sampling": "stratified",
            "barge_in_rate": 0.42,
            "cut_off_rate": 0.05,
            "backchannel_rate": 0.25,
            "hold_rate": 0.3,
            "hold_s": [0.65, 1.5],
            "hesitation_rate": 0.3,
            "hesitation_s": [0.2, 0.35],
            "guard_bands": True,
        },
        fdb_relation="own",
        note="barge-ins beside shifts as in M3-DuplexBench's MT-QA (380 beside 529); all other numbers: "
        "our choice",
    ),
}
