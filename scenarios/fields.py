"""What a recipe may say of a scenario: named fields with a unit, bounds and a meaning."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from .. import RecipeError

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeField:
    """A pair [low, high] from which a number is drawn; one number stands for a pair of equals."""

    name: str
    unit: str
    low: float
    high: float
    meaning: str

    def read(self, value: Any, where: str) -> Range:
        """Return the pair, checked against the bounds of the field."""
        pair = [value, value] if is_number(value) else value
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(map(is_number, pair))):
            raise RecipeError(
                f"{where} = {value!r}: wanted a number or a pair [low, high] in {self.unit}, "
                f"for example {self.name} = [{self.low:g}, {self.high:g}]"
            )
        low, high = float(pair[0]), float(pair[1])
        if low > high:
            raise RecipeError(
                f"{where} = [{low:g}, {high:g}]: an empty range; write the smaller number first: "
                f"[{high:g}, {low:g}]"
            )
        if not (self.low <= low and high <= self.high):  # NaN is outside too
            raise RecipeError(
                f"{where} = [{low:g}, {high:g}]: outside what {self.name} may be, "
                f"{self.low:g} to {self.high:g} {self.unit}"
            )
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class IntRangeField:
    """A pair [low, high] of whole numbers, both included."""

    name: str
    unit: str
    low: int
    high: int
    meaning: str

    def read(self, value: Any, where: str) -> tuple[int, int]:
        """Return the pair, checked."""
        low, high = RangeField(
            name=self.name, unit=self.unit, low=self.low, high=self.high, meaning=self.meaning
        ).read(value, where)
        if low != int(low) or high != int(high):
            raise RecipeError(f"{where} = {value!r}: wanted whole numbers of {self.unit}")
        return int(low), int(high)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberField:
    """One number."""

    name: str
    unit: str
    low: float
    high: float
    meaning: str

    def read(self, value: Any, where: str) -> float:
        """Return the number, checked."""
        if not is_number(value) or not self.low <= value <= self.high:
            raise RecipeError(
                f"{where} = {value!r}: wanted one number from {self.low:g} to {self.high:g} {self.unit}"
            )
        return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagField:
    """true or false."""

    name: str
    meaning: str
    unit: str = "true or false"

    def read(self, value: Any, where: str) -> bool:
        """Return the flag, checked."""
        if not isinstance(value, bool):
            raise RecipeError(f"{where} = {value!r}: wanted true or false")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class NameField:
    """A name; its existence is checked where the thing is known (`known` given: here)."""

    name: str
    meaning: str
    known: tuple[str, ...] = ()
    unit: str = "name"

    def read(self, value: Any, where: str) -> str:
        """Return the name, checked."""
        if not isinstance(value, str):
            raise RecipeError(f"{where} = {value!r}: wanted a name in quotes")
        if self.known and value not in self.known:
            raise RecipeError(f"{where} = {value!r}: {unknown('value', value, self.known)}")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesField:
    """Some of the known names; one name in quotes stands for a list of one."""

    name: str
    meaning: str
    known: tuple[str, ...]
    unit: str = "list of names"

    def read(self, value: Any, where: str) -> tuple[str, ...]:
        """Return the names, checked, each once."""
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not names or not all(isinstance(n, str) for n in names):
            raise RecipeError(
                f'{where} = {value!r}: wanted a list of names, for example {self.name} = ["{self.known[0]}"]'
            )
        for name in names:
            if name not in self.known:
                raise RecipeError(f"{where}: {name!r}: {unknown('value', name, self.known)}")
        return tuple(dict.fromkeys(names))


Field = RangeField | IntRangeField | NumberField | FlagField | NameField | NamesField


def is_number(value: object) -> bool:
    """Return whether a value is a finite number that a float can hold (TOML has nan and inf, and endless digits)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def unknown(what: str, name: str, known: tuple[str, ...]) -> str:
    """Return the end of a message about a name that is not known, with near matches first."""
    near = get_close_matches(name, known, n=2, cutoff=0.6)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}? " if near else ""
    some = sorted(known)[:12]
    more = f" and {len(known) - len(some)} more" if len(known) > len(some) else ""
    return f"unknown {what}; {hint}known: {', '.join(some) or 'none'}{more}"


def read_table(
    table: object, *, fields: Mapping[str, Field], where: str, also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the values of a recipe table whose keys are `fields` (keys in `also` are left to the caller).

    Raises
    ------
    RecipeError
        For an unknown key, or a value that its field refuses; names `where` and the key.
    """
    if not isinstance(table, Mapping):
        raise RecipeError(f"{where} = {table!r}: wanted a table of keys")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key in also:
            continue
        if key not in fields:
            raise RecipeError(f"{where}.{key}: {unknown('key', key, (*fields, *also))}")
        values[key] = fields[key].read(value, f"{where}.{key}")
    return values


LEAD = RangeField(
    name="lead_s",
    unit="seconds",
    low=0.0,
    high=30.0,
    meaning="quiet before the first speech sample",
)
TAIL = RangeField(
    name="tail_s",
    unit="seconds",
    low=0.0,
    high=120.0,
    meaning="quiet after the last speech sample, in which the model may answer",
)
WAIT = RangeField(
    name="wait_s",
    unit="seconds",
    low=0.0,
    high=120.0,
    meaning="from the end of the context to the onset of the event: the model is answering meanwhile",
)
LENGTH = RangeField(
    name="length_s",
    unit="seconds",
    low=0.05,
    high=120.0,
    meaning="how long the speech that makes the scenario may last; other samples are tried again, then rejected",
)
ON_AXIS = "on_axis"
"""As a treatment: no filter; only the level is set."""

CALIBRATED_TREATMENTS = (
    "off_axis@1",
    "off_axis_varied@1",
    "next_room@1",
    "next_room_varied@1",
    "closed_door@1",
    ON_AXIS,
)
"""The treatments whose level is a target (the acoustics' presets; a test compares the names)."""

GAIN_FIRST_TREATMENTS = ("off_axis_gain_first@1", "next_room_gain_first@1")
"""The treatments that set a gain before the filters; the level that comes out is reported."""

ROOM_TREATMENTS = ("turned_away_room@1", "second_talker_room@1")
"""The treatments that move a talker in the sample's room; the level that comes out is reported."""

TREATMENT = NameField(
    name="treatment",
    meaning="acoustic preset of the event's clip; on_axis sets the level alone",
    known=(*CALIBRATED_TREATMENTS, *GAIN_FIRST_TREATMENTS, *ROOM_TREATMENTS),
)
TARGET = NumberField(
    name="target_db",
    unit="dB",
    low=-60.0,
    high=0.0,
    meaning="level of the event's speech span re the user's on-axis spans; left out: the treatment's own",
)
ROOM = NameField(
    name="room",
    meaning="room of the whole user side; none = digital silence between clips",
    known=("none", "quiet_room@1"),
)
NOISE_FLOOR = RangeField(
    name="noise_floor_dbov",
    unit="dBov",
    low=-100.0,
    high=-40.0,
    meaning="level of the noise floor under the whole user side (only with a room)",
)


def by_name(*fields: Field) -> dict[str, Field]:
    """Return the fields by name."""
    return {field.name: field for field in fields}
