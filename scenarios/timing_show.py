"""A timing profile as text that one can look at: figures and a histogram per table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .quantile_law import QuantileLaw, law_of, probability_up_to, quantile
from .timing import TABLES, TimingProfile, profile_digest

_BLOCKS = " ▁▂▃▄▅▆▇█"
_WIDTH = 60
_N_POINTS = 20_000


def describe(profile: TimingProfile) -> str:
    """Return the profile's figures and a density of each table, one column per sixtieth of its range."""
    lines = [
        f"{profile.name} (version {profile.version}, variable {profile.variable}, {profile.status})",
        f"SHA-256 {profile_digest(profile)}",
        f"language {profile.language}; n = {'none' if profile.n is None else profile.n}; {profile.licence}",
        profile.source,
    ]
    lines += [f"{name} = {rate:g}" for name, rate in profile.rates.items()]
    for name, table in profile.tables.items():
        law = law_of(table.quantiles)
        drawn = quantile(law, (np.arange(_N_POINTS) + 0.5) / _N_POINTS)
        n = "" if table.n is None else f", n = {table.n}"
        parameters = ", ".join(f"{key} = {value:g}" for key, value in table.law.items())
        lines += [
            "",
            f"{name}: {TABLES[name][1]}",
            f"  {table.method}{f' ({parameters})' if parameters else ''}{n}",
            f"  {_figures(drawn, table.unit)}",
            f"  {density(law)}",
            f"  {_number(law.values[0], table.unit)}{_number(law.values[-1], table.unit):>{_WIDTH - 8}}",
        ]
    return "\n".join(lines)


def _figures(drawn: NDArray[np.float64], unit: str) -> str:
    figures = {
        "mean": float(drawn.mean()),
        "median": float(np.median(drawn)),
        "p10": float(np.quantile(drawn, 0.1)),
        "p90": float(np.quantile(drawn, 0.9)),
    }
    named = ", ".join(f"{name} {_number(value, unit)}" for name, value in figures.items())
    return f"{named}, share < 0 {float(np.mean(drawn < 0)):.3f}"


def density(law: QuantileLaw) -> str:
    """Return a line of blocks whose heights are the density over the law's range.

    Examples
    --------
    >>> density(law_of((0.0, 1.0)))[:4]
    '████'
    """
    low, high = law.values[0], law.values[-1]
    if high == low:
        return "█"
    edges = np.linspace(low, high, _WIDTH + 1)
    mass = np.diff(probability_up_to(law, edges))
    heights = np.rint(mass / mass.max() * (len(_BLOCKS) - 1)).astype(int)
    return "".join(_BLOCKS[height] for height in heights)


def _number(value: float, unit: str) -> str:
    return f"{1000 * value:.0f} ms" if unit == "s" else f"{100 * value:.0f} %"
