"""What every plan says of its sound: room, noise floor, treatment and effects, checked against each other."""

from __future__ import annotations

from typing import Any

from .. import RecipeError
from .effects import effects_of
from .fields import CALIBRATED_TREATMENTS, ROOM_TREATMENTS
from .scenario import Entry


def sound_of(entry: Entry, noise_floor_dbov: float) -> dict[str, Any]:
    """Return the fields of a `Plan` that speak of sound, by name.

    Parameters
    ----------
    noise_floor_dbov
        As drawn; taken only where there is a room.

    Raises
    ------
    RecipeError
        A treatment whose level is its own, with a target; one in the sample's room, without a room; or
        effects that do not fit together.
    """
    where = f"scenarios.{entry.scenario}"
    treatment, target_db = entry.values.get("treatment", ""), entry.values.get("target_db")
    room = entry.text("room")
    if treatment and target_db is not None and treatment not in CALIBRATED_TREATMENTS:
        raise RecipeError(
            f"{where}.target_db = {target_db:g}: {treatment} has the level its chain gives, which is reported; "
            f"take target_db away, or take one of {', '.join(CALIBRATED_TREATMENTS)}"
        )
    if treatment in ROOM_TREATMENTS and room == "none":
        raise RecipeError(
            f"{where}.treatment = {treatment!r}: it stands in the sample's room, and there is none; "
            'set room = "quiet_room@1"'
        )
    return {
        "treatment": treatment,
        "target_db": target_db,
        "room": room,
        "noise_floor_dbov": None if room == "none" else noise_floor_dbov,
        "effects": effects_of(entry),
    }
