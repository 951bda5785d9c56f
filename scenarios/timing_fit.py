"""Transitions to a timing profile: quantiles where there are many, a law where there are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import RecipeError
from .quantile_law import ks_distance, law_of
from .timing import DIRECTIONS, RATES, TABLES, Table, TimingProfile
from .timing_laws import N_QUANTILES, PROBABILITIES, law_quantiles, with_ends
from .transitions import Transitions

MANY = 200
"""From so many transitions on a table holds their quantiles; below, a law fitted to them."""

FEW = 20
"""Below so many there is no table."""

_SLACK_S = 0.01
_LEAST_S, _LEAST_SHAPE = 0.005, 0.05
"""Narrower laws cannot be told from a constant one at 10 ms, and are no longer numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSource:
    """What a fitted profile says of its data."""

    name: str
    variable: str
    source: str
    language: str
    licence: str


def fit_profile(found: Transitions, about: ProfileSource) -> TimingProfile:
    """Return the profile of what was found.

    Raises
    ------
    RecipeError
        If neither direction of the shifts has 20 transitions.
    """
    tables = {name: fit_table(name, found.times.get(name, [])) for name in TABLES if name not in DIRECTIONS}
    first, second = DIRECTIONS
    tables[first] = fit_table(first, found.times.get(first, []))
    pooled = found.times.get(first) == found.times.get(second)
    tables[second] = tables[first] if pooled else fit_table(second, found.times.get(second, []))
    kept = {name: table for name in TABLES if (table := tables[name]) is not None}
    counts = {direction: len(found.times.get(direction, ())) for direction in DIRECTIONS}
    if not set(kept) & set(DIRECTIONS):
        raise RecipeError(
            f"{about.name}: too few transitions for a timing profile ("
            + ", ".join(f"{n} {direction}" for direction, n in counts.items())
            + f"); wanted at least {FEW} in a direction: give more dialogues, or pool the directions (roles equal)"
        )
    rates = {
        "backchannels_per_minute": _share(60 * found.n_tokens, found.turns_s),
        "barge_in_share": _share(found.n_barge_ins, found.n_barge_ins + found.n_shifts),
        "holds_per_turn": _share(found.n_holds, found.n_turns),
    }
    return TimingProfile(
        name=about.name,
        version=1,
        variable=about.variable,
        status="estimated",
        source=about.source,
        n=counts[first] if pooled else sum(counts.values()),
        language=about.language,
        licence=about.licence,
        tables=kept,
        rates={name: round(rates[name], 4) for name in RATES},
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def fit_table(name: str, values: list[float]) -> Table | None:
    """Return the table of so many values, or None for fewer than 20."""
    n = len(values)
    if n < FEW:
        return None
    sample = np.sort(np.array(values, dtype=np.float64))
    if n >= MANY or sample[0] == sample[-1]:
        quantiles = tuple(round(float(q), 4) for q in _sample_quantiles(sample))
        return Table(unit=TABLES[name][0], n=n, method="quantiles", law={}, quantiles=quantiles)
    fits = {family: _fitted(family, sample) for family in ("ex_gaussian", "log_normal")}
    tables = {
        family: Table(
            unit=TABLES[name][0],
            n=n,
            method=family,
            law=law,
            quantiles=law_quantiles(family, law),
        )
        for family, law in fits.items()
    }
    return min(tables.values(), key=lambda table: ks_distance(sample, law_of(table.quantiles)))


def _sample_quantiles(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 101 quantiles of a sorted sample, ends that keep the means of the outer percents."""
    quantiles = np.quantile(sample, PROBABILITIES, method="hazen")
    n_outer = max(1, round(sample.size / (N_QUANTILES - 1)))
    kept = with_ends(quantiles, first=float(sample[:n_outer].mean()), last=float(sample[-n_outer:].mean()))
    return np.maximum.accumulate(kept)


def _fitted(family: str, sample: NDArray[np.float64]) -> dict[str, float]:
    """Return the parameters of greatest likelihood of a law cut to the range of the sample."""
    from scipy.optimize import minimize
    from scipy.stats import exponnorm, lognorm

    low, high = float(sample[0]) - _SLACK_S, float(sample[-1]) + _SLACK_S
    mean, sd = float(sample.mean()), float(sample.std()) or _SLACK_S
    reach = 2 * (high - low)  # an origin still farther away only makes a normal law of it
    skew = float(np.mean(((sample - mean) / sd) ** 3))

    def law(x: NDArray[np.float64]) -> Any:
        if family == "ex_gaussian":
            sigma, tau = np.maximum(np.exp(x[1:]), _LEAST_S)
            return exponnorm(tau / sigma, loc=x[0], scale=sigma)
        origin = low - min(float(np.exp(min(x[0], 20.0))), reach)
        return lognorm(max(np.exp(x[1]), _LEAST_SHAPE), loc=origin, scale=max(np.exp(x[2]), _LEAST_S))

    def loss(x: NDArray[np.float64]) -> float:
        fitted = law(x)
        inside = fitted.cdf(high) - fitted.cdf(low)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = -float(np.sum(fitted.logpdf(sample))) + sample.size * float(np.log(inside))
        return value if np.isfinite(value) else 1e12

    if family == "ex_gaussian":
        tau = sd * min(0.9, max(0.1, abs(skew) / 2) ** (1 / 3))
        start = [mean - tau, np.log(np.sqrt(max(sd**2 - tau**2, 1e-6))), np.log(tau)]
    else:
        start = [np.log(sd / 4), np.log(0.8), np.log(max(float(np.median(sample)) - low + sd / 4, 1e-3))]
    best = minimize(
        loss, start, method="Nelder-Mead", options={"maxiter": 300, "xatol": 1e-2, "fatol": 1e-2}
    ).x
    if family == "ex_gaussian":
        sigma_s, tau_s = np.maximum(np.exp(best[1:]), _LEAST_S)
        parameters = {"mu_s": best[0], "sigma_s": sigma_s, "tau_s": tau_s}
    else:
        parameters = {
            "origin_s": low - min(float(np.exp(min(best[0], 20.0))), reach),
            "shape": max(np.exp(best[1]), _LEAST_SHAPE),
            "scale_s": max(np.exp(best[2]), _LEAST_S),
        }
    return {k: round(float(v), 4) for k, v in {**parameters, "low_s": low, "high_s": high}.items()}
