"""Timing profiles: statistics of dialogues from which gaps, overlaps and lags are drawn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from .. import RecipeError
from .fields import unknown
from .quantile_law import QuantileLaw, law_of
from .timing_laws import N_QUANTILES, law_quantiles

SHIPPED = Path(str(files(__package__))) / "profiles"
VARIABLES = ("shift", "fto")
DIRECTIONS = ("user_to_system", "system_to_user")

TABLES: dict[str, tuple[str, str]] = {
    "user_to_system": (
        "s",
        "from the end of the user's turn to the onset of the system's; negative = overlap",
    ),
    "system_to_user": (
        "s",
        "from the end of the system's turn to the onset of the user's; negative = overlap",
    ),
    "hold": ("s", "silence between two turns of one speaker"),
    "backchannel_lag": ("s", "from the end of the other's phrase to a listener's token"),
    "backchannel_place": ("share", "where in the other's turn the phrase of a token ends"),
    "barge_in_onset": ("share", "where in the interrupted turn a barge-in starts"),
    "barge_in_overlap": ("s", "how long a barge-in overlaps the turn it interrupts"),
    "stop_latency": ("s", "from a barge-in's onset to the interrupted speaker's silence"),
}
"""Every table a profile may hold: its unit, and what is counted."""

RATES = {
    "backchannels_per_minute": "a listener's tokens per minute of the other's turns",
    "barge_in_share": "barge-ins among barge-ins and shifts",
    "holds_per_turn": "turns by which a speaker goes on after a silence, per turn",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """101 ascending quantiles of one kind of transition.

    `n` is how many transitions it was made from (None: none, a chosen law); `method` says how: a law's name,
    or ``quantiles``; `law` holds the law's parameters.
    """

    unit: str
    n: int | None
    method: str
    law: dict[str, float]
    quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingProfile:
    """Tables by kind of transition (`TABLES`), and rates (`RATES`).

    `variable` says what the two directions count: ``fto`` (every talkspurt) or ``shift`` (M3: turns only);
    the two are different variables and must not be mixed. `status` is ``estimated`` or ``anchored, not
    estimated``. `n` is the number of transitions of both directions together.
    """

    name: str
    version: int
    variable: str
    status: str
    source: str
    n: int | None
    language: str
    licence: str
    tables: dict[str, Table]
    rates: dict[str, float]


def shipped_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that come with the package."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.json")))


@lru_cache(maxsize=64)
def load_profile(name: str) -> TimingProfile:
    """Return a timing profile.

    Parameters
    ----------
    name
        A shipped profile, a ``.json`` file (from the working folder), or, for controlled studies,
        ``constant:SECONDS`` or ``uniform:FROM:TO``: those gaps in both directions.

    Raises
    ------
    RecipeError
        If there is none, or the file does not hold a profile.
    """
    family, colon, numbers = name.partition(":")
    if colon and family in ("constant", "uniform"):
        return _controlled(name, family, numbers)
    path = Path(name) if name.endswith(".json") else SHIPPED / f"{name}.json"
    if not path.is_file():
        raise RecipeError(
            f"timing profile {name!r}: {unknown('profile', name, shipped_profiles())}, a .json file, "
            f"constant:SECONDS or uniform:FROM:TO"
        )
    return read_profile(path)


def read_profile(path: Path) -> TimingProfile:
    """Return the profile in a JSON file, checked; errors as `load_profile`."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        profile = TimingProfile(
            **{
                key: str(data[key]) for key in ("name", "variable", "status", "source", "language", "licence")
            },
            version=int(data["version"]),
            n=None if data["n"] is None else int(data["n"]),
            tables={name: _table(name, table, path) for name, table in data["tables"].items()},
            rates={name: float(rate) for name, rate in data.get("rates", {}).items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, RecipeError):
            raise
        raise RecipeError(f"{path}: no timing profile ({type(error).__name__}: {error})") from None
    if profile.variable not in VARIABLES:
        raise RecipeError(f"{path}: variable = {profile.variable!r}; wanted {' or '.join(VARIABLES)}")
    for rate in profile.rates:
        if rate not in RATES:
            raise RecipeError(f"{path}: rates.{rate}: {unknown('rate', rate, tuple(RATES))}")
    return profile


def _table(name: str, data: Any, path: Path) -> Table:
    where = f"{path}: tables.{name}"
    if name not in TABLES:
        raise RecipeError(f"{where}: {unknown('table', name, tuple(TABLES))}")
    table = Table(
        unit=data["unit"],
        n=data["n"],
        method=data["method"],
        law={key: float(value) for key, value in data.get("law", {}).items()},
        quantiles=tuple(float(value) for value in data["quantiles"]),
    )
    points = table.quantiles
    if table.unit != TABLES[name][0]:
        raise RecipeError(f"{where}: unit = {table.unit!r}; wanted {TABLES[name][0]!r}")
    if len(points) != N_QUANTILES:
        raise RecipeError(f"{where}: {len(points)} quantiles; wanted {N_QUANTILES}, from 0 to 100 %")
    if not all(map(isfinite, points)) or any(a > b for a, b in pairwise(points)):
        raise RecipeError(f"{where}: the quantiles must be ascending numbers")
    return table


def _controlled(name: str, family: str, numbers: str) -> TimingProfile:
    wanted = 1 if family == "constant" else 2
    try:
        values = [float(part) for part in numbers.split(":")]
    except ValueError:
        values = []
    if len(values) != wanted or not all(map(isfinite, values)) or values != sorted(values):
        raise RecipeError(
            f"timing profile {name!r}: wanted constant:SECONDS or uniform:FROM:TO with FROM <= TO, "
            f"for example constant:0.2 or uniform:-0.2:1.0"
        )
    base = read_profile(SHIPPED / f"{family}.json")
    law = {"value": values[0]} if family == "constant" else {"low": values[0], "high": values[1]}
    table = Table(unit="s", n=None, method=family, law=law, quantiles=law_quantiles(family, law))
    return replace(base, name=name, tables={**base.tables, **dict.fromkeys(DIRECTIONS, table)})


def require_variable(profile: TimingProfile, variable: str) -> None:
    """Refuse a profile that counts another variable than the one that is drawn or compared."""
    if profile.variable != variable:
        raise RecipeError(
            f"timing profile {profile.name!r} holds {profile.variable!r}, but {variable!r} is wanted here; "
            f"their means differ (turn shifts skip backchannels): take a profile with variable {variable!r}"
        )


def table_law(profile: TimingProfile, table: str) -> QuantileLaw:
    """Return the law of one table.

    Raises
    ------
    RecipeError
        If the profile has no such table.
    """
    if table not in profile.tables:
        raise RecipeError(
            f"timing profile {profile.name!r} has no table {table!r}; it has "
            f"{', '.join(sorted(profile.tables))}. Take another profile, or fit one that has it"
        )
    return law_of(profile.tables[table].quantiles)


def profile_json(profile: TimingProfile) -> str:
    """Return the profile as its JSON file holds it, one line per table's quantiles."""
    head = {
        key: getattr(profile, key)
        for key in ("name", "version", "variable", "status", "source", "n", "language", "licence", "rates")
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    tables = [
        f"  {json.dumps(name)}: {{"
        + ", ".join(
            f"{json.dumps(key)}: {json.dumps(getattr(table, key))}" for key in ("unit", "n", "method", "law")
        )
        + f',\n   "quantiles": {json.dumps(list(table.quantiles))}}}'
        for name, table in profile.tables.items()
    ]
    return "\n".join(["{", *lines, ' "tables": {', ",\n".join(tables), " }", "}", ""])


def profile_digest(profile: TimingProfile) -> str:
    """Return the SHA-256 of the profile's content."""
    return hashlib.sha256(profile_json(profile).encode()).hexdigest()
