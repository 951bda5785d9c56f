"""The acoustic numbers of a sample as JSON in its row, and back: enough to make the sound again from the stems."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..acoustics.level import Span
from ..acoustics.record import from_json, to_json
from ..acoustics.room import RoomParams
from ..acoustics.treatments import treatment_from_json
from ..scenarios.conversation import Role
from .cut_off import faded_out
from .effects import effects_from_json, effects_to_json
from .tracks import Acoustics, PlacedClip, Tracks

Signal = NDArray[np.float32]


def sound_record(
    room_name: str, acoustics: Acoustics, clips: tuple[PlacedClip, ...], tracks: Tracks
) -> dict[str, Any]:
    """Return the record: room, noise floor, where each stem starts, effects, and what they limited."""
    effects = effects_to_json(acoustics.effects)
    if acoustics.effects.microphone is not None:
        effects["clipped_share"] = tracks.clipped_share
    if acoustics.effects.codec is not None:
        effects["decoder_limited_share"] = tracks.decoder_limited_share
    return {
        "preset": room_name,
        "params": None if acoustics.room is None else to_json(acoustics.room),
        "noise_floor_dbov": acoustics.noise_floor_dbov,
        "noise_seed": None if acoustics.noise_floor_dbov is None else acoustics.noise_seed,
        "clips": [{"start": clip.start, **({"cut": True} if clip.is_cut else {})} for clip in clips],
        "effects": effects,
    }


def read_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a row."""
    record: dict[str, Any] = json.loads(row["provenance"]["room"])
    return record


def event_turn(row: Mapping[str, Any]) -> int | None:
    """Return the turn that is absent from a row's `clean_input`; None where it has none."""
    return None if row["clean_input"] is None else int(row["events"][-1]["turn"])


def speech_of(row: Mapping[str, Any], turn: int) -> list[Span]:
    """Return the spans of a turn's speech, its marked pauses left out, on the sample's clock."""
    rate = row["sample_rate_hz"]
    pauses = sorted(
        (event["onset_s"], event["offset_s"])
        for event in row["events"]
        if event["kind"] in ("pause", "hold") and event["turn"] == turn
    )
    said = row["turns"][turn]
    edges = [said["onset_s"], *(edge for pause in pauses for edge in pause), said["offset_s"]]
    at = [round(edge * rate) for edge in edges]
    return [(a, b) for a, b in zip(at[::2], at[1::2], strict=True) if b > a]


def clips_of(row: Mapping[str, Any], stem: Callable[[str], Signal]) -> tuple[PlacedClip, ...]:
    """Return the placed clips of a row, from its numbers and its stems."""
    rate = row["sample_rate_hz"]
    clips = []
    record = read_record(row)["clips"]
    for i, (turn, made, placed) in enumerate(
        zip(row["turns"], row["provenance"]["turns"], record, strict=True)
    ):
        role, start = Role(turn["role"]), placed["start"]
        offset = round(turn["offset_s"] * rate) - start
        samples = stem(made["stem"])
        is_cut = placed.get("cut", False)
        if role is Role.SYSTEM:
            samples = samples[:offset]
            samples = faded_out(samples, sample_rate_hz=rate) if is_cut else samples
        clips.append(
            PlacedClip(
                role=role,
                samples=samples,
                start=start,
                onset=round(turn["onset_s"] * rate) - start,
                offset=offset,
                spans=tuple((a - start, b - start) for a, b in speech_of(row, i)),
                is_cut=is_cut,
            )
        )
    return tuple(clips)


def acoustics_of(row: Mapping[str, Any], recordings: Mapping[str, Signal]) -> Acoustics:
    """Return the acoustic numbers of a row; `recordings` holds noise by the SHA-256 of its samples."""
    record, treatment = read_record(row), row["treatment"]
    return Acoustics(
        treatment=None if treatment is None else treatment_from_json(json.loads(treatment["params"])),
        room=None if record["params"] is None else from_json(RoomParams, record["params"]),
        noise_floor_dbov=record["noise_floor_dbov"],
        noise_seed=record["noise_seed"] or 0,
        effects=effects_from_json(
            {
                key: value
                for key, value in record["effects"].items()
                if key not in ("clipped_share", "decoder_limited_share")
            },
            recordings,
        ),
    )
