"""Each column of a row, once: name, type, unit, meaning; Arrow schema and features come from here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .quality import VALUES

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1

Type = str | list[Any] | dict[str, Any]
"""``"string"`` and the like, ``"audio"``, ``[element]`` for lists, ``{name: type}`` for structs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: what the card's table says of it."""

    name: str
    type: Type
    unit: str
    meaning: str


_SPAN = {"onset_s": "float64", "offset_s": "float64"}

COLUMNS: tuple[Column, ...] = (
    Column(
        name="id",
        type="string",
        unit="",
        meaning="<scenario>/<language>/<script>/<take>, stable over versions",
    ),
    Column(name="scenario", type="string", unit="", meaning="what the sample tests"),
    Column(name="language", type="string", unit="BCP-47", meaning="language of all that is said"),
    Column(
        name="split",
        type="string",
        unit="",
        meaning="train, validation or test; all takes of a script share it",
    ),
    Column(
        name="preset",
        type="string",
        unit="",
        meaning="named numbers of the scenario; + = changed by the recipe",
    ),
    Column(
        name="fdb_relation",
        type="string",
        unit="",
        meaning="to Full-Duplex-Bench: same-rule, analogue (scores not comparable) or own",
    ),
    Column(name="input", type="audio", unit="", meaning="the user side, mono: what is streamed to the model"),
    Column(name="clean_input", type="audio", unit="", meaning="the same without the event, or null"),
    Column(
        name="untreated_input",
        type="audio",
        unit="",
        meaning="the same with the event dry and at the user's level, or null",
    ),
    Column(name="system", type="audio", unit="", meaning="reference of the system's side, or null"),
    Column(name="duration_s", type="float64", unit="s", meaning="length of every track of the row"),
    Column(name="sample_rate_hz", type="int32", unit="Hz", meaning="rate of every track of the row"),
    Column(
        name="turns",
        type=[
            {
                "role": "string",
                "speaker": "string",
                "text": "string",
                "reading": "string",
                "intent": "string",
                **_SPAN,
                "reference_answer": "string",
                "depends_on": ["int32"],
                "spoken_text": "string",
                "words": [{"text": "string", **_SPAN}],
                "word_time_source": "string",
            }
        ],
        unit="s",
        meaning="what was said, by whom and when; spoken_text is shorter than text where a turn was cut off",
    ),
    Column(
        name="events",
        type=[
            {
                "kind": "string",
                "role": "string",
                **_SPAN,
                "turn": "int32",
                "expected_if_speaking": "string",
                "expected_if_silent": "string",
                "score_from_s": "float64",
                "score_to_s": "float64",
                "intended_s": "float64",
                "pause_kind": "string",
                "fto_s": "float64",
                "intended_fto_s": "float64",
                "token": "string",
                "function": "string",
                "meets_fdb": "bool",
                "meets_m3": "bool",
                "q": "float64",
                "q_source": "string",
                "intent": "string",
                "addressee": "string",
                "carries_instruction": "bool",
                "audible_end_s": "float64",
                "system_planned_end_s": "float64",
                "system_stop_s": "float64",
                "spoken_text": "string",
                "planned_text": "string",
                "context_start_s": "float64",
                "input_start_s": "float64",
            }
        ],
        unit="s",
        meaning="what happens between turns, from the mixer; fields that do not apply are null",
    ),
    Column(
        name="m3_events",
        type=[{"kind": "string", "role": "string", **_SPAN}],
        unit="s",
        meaning="the same by M3-DuplexBench's rule on words (an overlapping TURN_SHIFT has onset > offset), or null",
    ),
    Column(
        name="backchannel_q",
        type=["float32"],
        unit="share per 200 ms",
        meaning="expected share of listeners who start a token in each window, or null",
    ),
    Column(name="q_source", type="string", unit="", meaning="author or listeners, and the kernel; or null"),
    Column(
        name="treatment",
        type={
            "preset": "string",
            "target_db": "float64",
            "measured_db": "float64",
            "audible_end_s": "float64",
            "params": "string",
        },
        unit="dB re the user's on-axis speech",
        meaning="what was done to the event's clip; params: every drawn number as JSON; or null",
    ),
    Column(
        name="checks",
        type={
            "onset_error_s": "float64",
            "offset_error_s": "float64",
            "level_error_db": "float64",
            "true_peak_dbfs": "float64",
            "detector_agreement": "float64",
            **{name: "float64" for name, (measure, _) in VALUES.items() if measure.scope != "pair"},
        },
        unit="",
        meaning="measured on the audio; null = not measured",
    ),
    Column(
        name="script",
        type={
            "id": "string",
            "source": "string",
            "licence": "string",
            "domain": "string",
            "register": "string",
            "addressee": "string",
            "pause_kind": "string",
            "tags": ["string"],
        },
        unit="",
        meaning="the text's origin",
    ),
    Column(
        name="provenance",
        type={
            "engine": "string",
            "engine_version": "string",
            "engine_licence": "string",
            "voices": [
                {
                    "role": "string",
                    "voice": "string",
                    "mix": [{"style": "string", "weight": "float64"}],
                    "licence": "string",
                    "attribution": "string",
                }
            ],
            "turns": [{"stem": "string", "clip": "string", "speed": "float64", "seed": "int64"}],
            "room": "string",
            "timing_profile": "string",
            "recipe_digest": "string",
            "code_version": "string",
            "llm": "string",
            "prompt_hash": "string",
            "attempt": "int32",
        },
        unit="",
        meaning="who spoke, with what, from which recipe; stems are named by the SHA-256 of their samples",
    ),
)

AUDIO_COLUMNS = tuple(column.name for column in COLUMNS if column.type == "audio")
"""The tracks of a row: what the user's microphone hears, with and without the event, and the system's side."""


def features(sample_rate_hz: int) -> dict[str, Any]:
    """Return the features as the ``huggingface`` metadata of Parquet states them."""
    return {column.name: _feature(column.type, sample_rate_hz) for column in COLUMNS}


def _feature(type_: Type, rate: int) -> Any:
    if type_ == "audio":
        return {"sampling_rate": rate, "_type": "Audio"}
    if isinstance(type_, str):
        return {"dtype": type_, "_type": "Value"}
    if isinstance(type_, list):
        if isinstance(type_[0], dict):
            return [_feature(type_[0], rate)]
        return {"feature": _feature(type_[0], rate), "_type": "Sequence"}
    return {name: _feature(part, rate) for name, part in type_.items()}


def schema_digest() -> str:
    """Return the SHA-256 of all columns' names and types."""
    text = json.dumps([[column.name, column.type] for column in COLUMNS])
    return hashlib.sha256(text.encode()).hexdigest()


def card_features(sample_rate_hz: int) -> list[dict[str, Any]]:
    """Return the features as a dataset card's YAML states them."""
    return [_card_feature(column.name, column.type, sample_rate_hz) for column in COLUMNS]


def _card_feature(name: str, type_: Type, rate: int) -> dict[str, Any]:
    if type_ == "audio":
        return {"name": name, "dtype": {"audio": {"sampling_rate": rate}}}
    if isinstance(type_, str):
        return {"name": name, "dtype": type_}
    if isinstance(type_, list):
        if isinstance(type_[0], dict):
            return {"name": name, "list": [_card_feature(k, v, rate) for k, v in type_[0].items()]}
        return {"name": name, "list": type_[0]}
    return {"name": name, "struct": [_card_feature(k, v, rate) for k, v in type_.items()]}


def arrow_schema(sample_rate_hz: int) -> pa.Schema:
    """Return the Arrow schema of a shard, with the features in its metadata."""
    import pyarrow as pa

    return pa.schema(
        [(column.name, _arrow(column.type)) for column in COLUMNS],
        metadata={"huggingface": json.dumps({"info": {"features": features(sample_rate_hz)}})},
    )


def _arrow(type_: Type) -> pa.DataType:
    import pyarrow as pa

    if type_ == "audio":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if isinstance(type_, str):
        return {
            "string": pa.string(),
            "float64": pa.float64(),
            "float32": pa.float32(),
            "int32": pa.int32(),
            "int64": pa.int64(),
            "bool": pa.bool_(),
        }[type_]
    if isinstance(type_, list):
        return pa.list_(_arrow(type_[0]))
    return pa.struct([(name, _arrow(part)) for name, part in type_.items()])
