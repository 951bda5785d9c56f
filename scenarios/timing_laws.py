"""Laws of a time, as the 101 quantiles that a profile holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import RecipeError

N_QUANTILES = 101
PROBABILITIES: NDArray[np.float64] = np.linspace(0.0, 1.0, N_QUANTILES)
_GRID_S = 1e-4
_N_OUTER = 1000


def ex_gaussian_quantiles(
    *, mu_s: float, sigma_s: float, tau_s: float, low_s: float, high_s: float
) -> NDArray[np.float64]:
    """Return the quantiles of an ex-Gaussian law cut to [low_s, high_s], shape (101,), seconds.

    Notes
    -----
    The law is Normal(mu, sigma) + Exponential(tau); its distribution function is
    Phi(z) - exp(-(x - mu) / tau + sigma^2 / (2 tau^2)) Phi(z - sigma / tau) with z = (x - mu) / sigma,
    inverted on a grid of 0.1 ms.
    """
    from scipy.special import log_ndtr, ndtr

    x = _grid(low_s, high_s)
    z = (x - mu_s) / sigma_s
    # the product of a large exponential and a small tail: in logarithms, so that it cannot overflow
    tail = np.exp(-(x - mu_s) / tau_s + sigma_s**2 / (2 * tau_s**2) + log_ndtr(z - sigma_s / tau_s))
    return _inverse(x, ndtr(z) - tail)


def log_normal_quantiles(
    *, origin_s: float, shape: float, scale_s: float, low_s: float, high_s: float
) -> NDArray[np.float64]:
    """Return the quantiles of a log-normal law above `origin_s`, cut to [low_s, high_s], shape (101,), seconds.

    Notes
    -----
    P(T <= x) = Phi(ln((x - origin) / scale) / shape).
    """
    from scipy.special import ndtr

    x = _grid(low_s, high_s)
    above = np.maximum(x - origin_s, 1e-12)
    return _inverse(x, ndtr(np.log(above / scale_s) / shape))


def uniform_quantiles(*, low: float, high: float) -> NDArray[np.float64]:
    """Return the quantiles of a law that is even between `low` and `high`, shape (101,)."""
    return np.asarray(low + (high - low) * PROBABILITIES, dtype=np.float64)


def constant_quantiles(*, value: float) -> NDArray[np.float64]:
    """Return the quantiles of one value, shape (101,)."""
    return np.full(N_QUANTILES, float(value))


FAMILIES: dict[str, Callable[..., NDArray[np.float64]]] = {
    "ex_gaussian": ex_gaussian_quantiles,
    "log_normal": log_normal_quantiles,
    "uniform": uniform_quantiles,
    "constant": constant_quantiles,
}


def law_quantiles(family: str, parameters: dict[str, float]) -> tuple[float, ...]:
    """Return the quantiles of a named family, rounded to 0.1 ms.

    Raises
    ------
    RecipeError
        For an unknown family.
    """
    if family not in FAMILIES:
        raise RecipeError(f"law {family!r} is unknown; known: {', '.join(FAMILIES)}")
    return tuple(round(float(value), 4) for value in FAMILIES[family](**parameters))


def _grid(low_s: float, high_s: float) -> NDArray[np.float64]:
    n_steps = round((high_s - low_s) / _GRID_S)
    return np.asarray(low_s + _GRID_S * np.arange(n_steps + 1), dtype=np.float64)


def _inverse(x: NDArray[np.float64], law: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the quantiles where the distribution function `law` stands at the times `x`."""
    inside = (law - law[0]) / (law[-1] - law[0])
    quantiles = np.interp(PROBABILITIES, inside, x)
    middles = (np.arange(_N_OUTER) + 0.5) / _N_OUTER / (N_QUANTILES - 1)
    return with_ends(
        quantiles,
        first=float(np.interp(middles, inside, x).mean()),
        last=float(np.interp(1.0 - middles, inside, x).mean()),
    )


def with_ends(quantiles: NDArray[np.float64], *, first: float, last: float) -> NDArray[np.float64]:
    """Return the quantiles, shape (101,), with ends that keep the means of the first and last percent.

    A table is linear between its points. With the extremes as ends a long tail would weigh too much (for
    an ex-Gaussian cut at 6 s: 20 ms in the mean); so the ends lie as far outside as those means ask for,
    never beyond the extremes.
    """
    kept = quantiles.copy()
    kept[0] = np.clip(2 * first - kept[1], quantiles[0], kept[1])
    kept[-1] = np.clip(2 * last - kept[-2], kept[-2], quantiles[-1])
    return np.asarray(kept, dtype=np.float64)
