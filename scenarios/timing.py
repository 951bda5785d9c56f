"""Timing profiles: statistics of dialogues from which gaps, overlaps and lags are drawn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from typing import Any, cast

from .. import RecipeError
from .fields import unknown
from .quantile_law import QuantileLaw, law_of
from .text_file import parse_json, read_text, shown
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

BOUNDS = {"s": (-60.0, 120.0), "share": (-0.05, 1.05)}
"""What a quantile may be, by unit: no gap of a dialogue lies outside; a fitted law may pass a share's ends a little."""

RATES = {
    "backchannels_per_minute": "a listener's tokens per minute of the other's turns",
    "barge_in_share": "barge-ins among barge-ins and shifts",
    "holds_per_turn": "turns by which a speaker goes on after a silence, per turn",
}


_TEXTS = ("name", "variable", "status", "source", "language", "licence")


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
    data = _object(_read(path), str(path), needed=(*_TEXTS, "version", "n", "tables"), also=("rates",))
    for key in _TEXTS:
        if not isinstance(data[key], str):
            raise RecipeError(f"{path}: {key} = {shown(data[key])}; wanted a text")
    if not _is_count(data["version"]):
        raise RecipeError(f"{path}: version = {shown(data['version'])}; wanted a whole number")
    if data["variable"] not in VARIABLES:
        raise RecipeError(f"{path}: variable = {data['variable']!r}; wanted {' or '.join(VARIABLES)}")
    tables = {
        name: _table(name, table, f"{path}: tables.{name}")
        for name, table in _object(data["tables"], f"{path}: tables", also=tuple(TABLES)).items()
    }
    if not set(tables) & set(DIRECTIONS):
        raise RecipeError(
            f"{path}: tables has neither {DIRECTIONS[0]} nor {DIRECTIONS[1]}; wanted one of them at least"
        )
    rates = _object(data.get("rates", {}), f"{path}: rates", also=tuple(RATES))
    return TimingProfile(
        **{key: data[key] for key in _TEXTS},
        version=data["version"],
        n=_count_or_none(data["n"], f"{path}: n"),
        tables=tables,
        rates={
            name: _number(rate, f"{path}: rates.{name}", low=0.0, high=1e3) for name, rate in rates.items()
        },
    )


def _read(path: Path) -> Any:
    return parse_json(read_text(path, error=RecipeError), f"{path}: no timing profile", error=RecipeError)


def _object(
    value: Any, where: str, *, needed: tuple[str, ...] = (), also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a JSON object that has the needed keys, and no others than these and those in `also`."""
    if not isinstance(value, dict):
        raise RecipeError(f"{where}: no timing profile: {shown(value)}; wanted an object")
    for key in needed:
        if key not in value:
            raise RecipeError(f"{where}: no timing profile: the key {key!r} is missing")
    for key in value:
        if key not in (*needed, *also):
            raise RecipeError(f"{where}.{key}: {unknown('key', key, (*needed, *also))}")
    return value


def _table(name: str, data: Any, where: str) -> Table:
    keys = _object(data, where, needed=("unit", "n", "method", "quantiles"), also=("law",))
    unit, quantiles = TABLES[name][0], keys["quantiles"]
    if keys["unit"] != unit:
        raise RecipeError(f"{where}: unit = {shown(keys['unit'])}; wanted {unit!r}")
    if not isinstance(keys["method"], str):
        raise RecipeError(f"{where}: method = {shown(keys['method'])}; wanted a text")
    if not isinstance(quantiles, list) or len(quantiles) != N_QUANTILES:
        found = f"{len(quantiles)} quantiles" if isinstance(quantiles, list) else shown(quantiles)
        raise RecipeError(f"{where}: {found}; wanted a list of {N_QUANTILES}, from 0 to 100 %")
    low, high = BOUNDS[unit]
    points = tuple(
        _number(value, f"{where}.quantiles[{i}]", low=low, high=high) for i, value in enumerate(quantiles)
    )
    if any(a > b for a, b in pairwise(points)):
        raise RecipeError(f"{where}: the quantiles must be ascending numbers")
    law = _object(keys.get("law", {}), f"{where}.law", also=tuple(keys.get("law") or ()))
    return Table(
        unit=unit,
        n=_count_or_none(keys["n"], f"{where}.n"),
        method=keys["method"],
        law={key: _number(value, f"{where}.law.{key}") for key, value in law.items()},
        quantiles=points,
    )


def _number(value: Any, where: str, *, low: float = -inf, high: float = inf) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or not low <= value <= high:
        within = f" from {low:g} to {high:g}" if isfinite(low) else ""
        raise RecipeError(f"{where} = {shown(value)}; wanted a number{within}")
    return float(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count_or_none(value: Any, where: str) -> int | None:
    if value is None or _is_count(value):
        return cast("int | None", value)
    raise RecipeError(f"{where} = {shown(value)}; wanted a whole number, or null where nothing was counted")


def _controlled(name: str, family: str, numbers: str) -> TimingProfile:
    wanted = 1 if family == "constant" else 2
    try:
        values = [float(part) for part in numbers.split(":")]
    except ValueError:
        values = []
    low, high = BOUNDS["s"]
    if (
        len(values) != wanted
        or values != sorted(values)
        or not all(low <= value <= high for value in values)  # NaN is outside too
    ):
        raise RecipeError(
            f"timing profile {name!r}: wanted constant:SECONDS or uniform:FROM:TO with FROM <= TO and seconds "
            f"from {low:g} to {high:g}, for example constant:0.2 or uniform:-0.2:1.0"
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
