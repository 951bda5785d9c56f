"""A row's sound before its effects, and whether its audio is what stems and numbers give."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..acoustics.level import from_pcm16
from .rebuild import NO_RECORDINGS, rebuild_tracks
from .sound_record import acoustics_of, clips_of, event_turn, read_record
from .tracks import UserSides, user_sides

REBUILT_STEPS = 2
"""Another kind of CPU may round otherwise: a track made again may differ by this many 16-bit steps."""

RECODED_DB = -20.0
"""Another version of a codec gives other samples: the difference may be this strong re the track."""

Signal = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The user's side of a row before its effects, and the tracks made again (None: a recording is missing)."""

    sides: dict[str, Signal]
    rebuilt: dict[str, NDArray[np.int16]] | None


def before_effects(row: Mapping[str, Any], stem: Callable[[str], Signal]) -> Before:
    """Return what a row sounded like before noise, echo, microphone and codec, by the names of its tracks.

    Parameters
    ----------
    stem
        Gives a stem's samples, shape (n,), by its SHA-256.

    Raises
    ------
    AudioError
        Labels that leave the stems.
    """
    if "recording" in read_record(row)["effects"].get("noise", {}):
        bare = _without_effects(row)
        sides = user_sides(
            clips_of(bare, stem),
            acoustics_of(bare, NO_RECORDINGS),
            event=event_turn(bare),
            n_samples=round(row["duration_s"] * row["sample_rate_hz"]),
            sample_rate_hz=row["sample_rate_hz"],
        )
        return Before(sides=_named(sides), rebuilt=None)
    tracks = rebuild_tracks(row, stem)
    made = {
        "input": tracks.input,
        "clean_input": tracks.clean_input,
        "untreated_input": tracks.untreated_input,
    }
    return Before(
        sides=_named(tracks.sides),
        rebuilt={name: pcm for name, pcm in made.items() if pcm is not None},
    )


def _without_effects(row: Mapping[str, Any]) -> dict[str, Any]:
    room = json.dumps({**read_record(row), "effects": {}})
    return {**row, "provenance": {**row["provenance"], "room": room}}


def _named(sides: UserSides) -> dict[str, Signal]:
    named = {
        "input": sides.quiet if sides.with_event is None else sides.with_event,
        "clean_input": None if sides.with_event is None else sides.quiet,
        "untreated_input": sides.untreated,
    }
    return {name: side for name, side in named.items() if side is not None}


def differs_by(samples: Signal, rebuilt: NDArray[np.int16], *, has_codec: bool) -> str:
    """Return by how much a track differs from the one made again, in words; empty where it may.

    Parameters
    ----------
    samples
        The track, shape (n,).
    rebuilt
        The one made again, shape (n,).
    has_codec
        Whether a codec was in the way, whose samples belong to its version.
    """
    difference = samples - from_pcm16(rebuilt)
    steps = float(np.max(np.abs(difference))) * 32768.0
    if steps <= REBUILT_STEPS:
        return ""
    powers = [float(np.mean(np.square(x, dtype=np.float64))) for x in (difference, samples)]
    ratio_db = 10.0 * np.log10(powers[0] / powers[1])
    if has_codec and ratio_db <= RECODED_DB:
        return ""
    return f"{steps:.0f} steps of 16 bits, {ratio_db:.0f} dB"
