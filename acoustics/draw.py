"""Draw every number of a treatment from its preset."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .. import AudioError
from .directivity import shelf_at
from .presets import PRESETS, Number, Preset
from .record import from_json, to_json
from .room import Point, RoomParams, Talker, draw_room

TREATMENTS: dict[str, Preset] = {preset.name: preset for preset in PRESETS}

_CANDIDATES = 64
_WALL_M = 0.4
_MOUTH_M = (1.1, 1.7)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreatmentParams:
    """Every number of one treatment, enough to make the same sound again.

    Parameters
    ----------
    preset : str
        Name of the preset it was drawn from.
    target_db : float, optional
        Span level of the result re the reference, forced after the filters.
    gain_first_db : float, optional
        Level of the dry voice re the reference, set before the filters. Exactly one of `target_db`,
        `gain_first_db` and `room` is given.
    shelf_corner_hz, shelf_gain_db, shelf_q : float, optional
        All or none.
    low_pass_hz : float, optional
    n_low_pass : int
    tap_delays_s, tap_gains_db : tuple of float
        As many of each.
    echo_delay_s, echo_gain_db, echo_feedback : float, optional
        All or none.
    angle_deg : float, optional
        What the shelf was derived from, for the record.
    room : RoomParams, optional
    talker : Talker, optional
        Where in `room` the event is spoken; both or none, and then the level is the geometry's own.
    """

    preset: str
    target_db: float | None = None
    gain_first_db: float | None = None
    shelf_corner_hz: float | None = None
    shelf_gain_db: float | None = None
    shelf_q: float | None = None
    low_pass_hz: float | None = None
    n_low_pass: int = 1
    tap_delays_s: tuple[float, ...] = ()
    tap_gains_db: tuple[float, ...] = ()
    echo_delay_s: float | None = None
    echo_gain_db: float | None = None
    echo_feedback: float | None = None
    angle_deg: float | None = None
    room: RoomParams | None = None
    talker: Talker | None = None

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.target_db, self.gain_first_db, self.room)) != 1:
            raise AudioError(
                f"treatment {self.preset}: target_db {self.target_db}, gain_first_db {self.gain_first_db}, "
                f"room {'given' if self.room else None}; wanted exactly one of them: a level that is forced, "
                "a gain before the filters, or a geometry that makes its own"
            )
        if len(self.tap_delays_s) != len(self.tap_gains_db):
            raise AudioError(f"treatment {self.preset}: tap_delays_s and tap_gains_db differ in length")
        for group in (
            (self.shelf_corner_hz, self.shelf_gain_db, self.shelf_q),
            (self.echo_delay_s, self.echo_gain_db, self.echo_feedback),
            (self.room, self.talker),
        ):
            if any(value is None for value in group) and any(value is not None for value in group):
                raise AudioError(
                    f"treatment {self.preset}: shelf, echo and room need all of their parts, or none"
                )


def draw_treatment(name: str, rng: np.random.Generator, *, room: RoomParams | None = None) -> TreatmentParams:
    """Return the numbers of one treatment, drawn from the preset `name`.

    Fixed numbers take nothing from the generator.

    Parameters
    ----------
    name : str
        One of `TREATMENTS`.
    rng : numpy Generator
    room : RoomParams, optional
        The sample's room, for the presets that have one; drawn from their room preset when not given.

    Raises
    ------
    AudioError
        No preset of that name; the message lists those there are.
    """
    preset = TREATMENTS.get(name)
    if preset is None:
        raise AudioError(f"treatment {name!r} is unknown; known are {', '.join(sorted(TREATMENTS))}")
    drawn: dict[str, Any] = {}
    for field in fields(Preset):
        if field.name == "distance_m":  # a condition on a place, not a number of its own
            continue
        value = getattr(preset, field.name)
        if isinstance(value, Number):
            drawn[field.name] = _draw(value, rng)
        elif isinstance(value, tuple):
            drawn[field.name] = tuple(_draw(number, rng) for number in value)
    if "angle_deg" in drawn:
        shelf = shelf_at(drawn["angle_deg"])
        drawn |= dict(zip(("shelf_corner_hz", "shelf_gain_db", "shelf_q"), shelf, strict=True))
    turned_by_deg = drawn.pop("turned_by_deg", None)
    if preset.room is not None:
        room = draw_room(rng, name=preset.room) if room is None else room
        drawn["room"] = room
        drawn["talker"] = (
            _turned(room, turned_by_deg, rng) if turned_by_deg is not None else _elsewhere(room, preset, rng)
        )
    return TreatmentParams(preset=preset.name, n_low_pass=preset.n_low_pass, **drawn)


def _draw(number: Number, rng: np.random.Generator) -> float:
    if number.low == number.high:
        return number.low
    if number.scale == "log":
        return float(np.exp(rng.uniform(np.log(number.low), np.log(number.high))))
    return float(rng.uniform(number.low, number.high))


def _turned(room: RoomParams, by_deg: float, rng: np.random.Generator) -> Talker:
    side = 1.0 if rng.random() < 0.5 else -1.0
    facing_deg = float((room.user.facing_deg + side * by_deg) % 360.0)
    return Talker(position_m=room.user.position_m, facing_deg=facing_deg, directivity="speech")


def _elsewhere(room: RoomParams, preset: Preset, rng: np.random.Generator) -> Talker:
    """Return a talker within the preset's distance; in a room too small for it, as far off as was drawn."""
    assert preset.distance_m is not None
    x, y, _ = room.size_m
    low, high = (_WALL_M, _WALL_M, _MOUTH_M[0]), (x - _WALL_M, y - _WALL_M, _MOUTH_M[1])
    places = rng.uniform(low, high, size=(_CANDIDATES, 3))
    distances = np.linalg.norm(places - np.asarray(room.microphone_m), axis=1)
    fitting = np.flatnonzero((distances >= preset.distance_m.low) & (distances <= preset.distance_m.high))
    chosen = places[fitting[0] if fitting.size else int(np.argmax(distances))]
    place: Point = (float(chosen[0]), float(chosen[1]), float(chosen[2]))
    return Talker(position_m=place, facing_deg=float(rng.uniform(0.0, 360.0)), directivity="speech")


def treatment_to_json(params: TreatmentParams) -> dict[str, Any]:
    """Return the numbers as a JSON object, keys without a value left out."""
    return to_json(params)


def treatment_from_json(data: dict[str, Any]) -> TreatmentParams:
    """Return the params that `treatment_to_json` wrote; an unknown or missing key is an AudioError."""
    return from_json(TreatmentParams, data)
