"""A law given by quantiles: draw from it, ask it for probabilities, cut it to a range, compare a sample with it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import RecipeError

_N_STEPS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileLaw:
    """Ascending `values` at ascending `probabilities` from 0 to 1; linear between them.

    A value that stands at several probabilities has mass of its own (a constant law has nothing else).
    """

    probabilities: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        p, v = self.probabilities, self.values
        if len(p) != len(v) or len(p) < 2 or p[0] != 0.0 or p[-1] != 1.0:
            raise RecipeError("a quantile law needs as many values as probabilities, from 0 to 1")
        if any(a > b for a, b in pairwise(p)) or any(a > b for a, b in pairwise(v)):
            raise RecipeError("a quantile law needs ascending probabilities and values")


def law_of(quantiles: tuple[float, ...]) -> QuantileLaw:
    """Return the law of evenly spaced quantiles (a profile's table)."""
    p = np.linspace(0.0, 1.0, len(quantiles))
    return QuantileLaw(probabilities=tuple(p.tolist()), values=tuple(quantiles))


def quantile(law: QuantileLaw, probability: ArrayLike) -> NDArray[np.float64]:
    """Return the values at `probability`, same shape.

    Examples
    --------
    >>> float(quantile(law_of((0.0, 1.0, 4.0)), 0.75))
    2.5
    """
    return np.asarray(np.interp(np.asarray(probability), law.probabilities, law.values), dtype=np.float64)


def probability_below(law: QuantileLaw, value: ArrayLike) -> NDArray[np.float64]:
    """Return P(T < value), same shape: an atom at `value` does not count."""
    return _probability(law, value, side="left")


def probability_up_to(law: QuantileLaw, value: ArrayLike) -> NDArray[np.float64]:
    """Return P(T <= value), same shape: an atom at `value` counts.

    Examples
    --------
    >>> float(probability_up_to(law_of((0.0, 1.0, 4.0)), 2.5))
    0.75
    """
    return _probability(law, value, side="right")


def _probability(law: QuantileLaw, value: ArrayLike, *, side: str) -> NDArray[np.float64]:
    p, v = np.asarray(law.probabilities), np.asarray(law.values)
    x = np.asarray(value, dtype=np.float64)
    at = np.searchsorted(v, x, side="left" if side == "left" else "right")
    low = np.clip(at - 1, 0, v.size - 1)
    high = np.clip(at, 0, v.size - 1)
    width = v[high] - v[low]
    share = np.where(width > 0, (x - v[low]) / np.where(width > 0, width, 1.0), 0.0)
    inner = p[low] + np.clip(share, 0.0, 1.0) * (p[high] - p[low])
    return np.asarray(np.where(at == 0, 0.0, np.where(at >= v.size, 1.0, inner)), dtype=np.float64)


def cut_law(law: QuantileLaw, *, low: float, high: float) -> QuantileLaw:
    """Return the law given that its value lies in [low, high].

    Raises
    ------
    RecipeError
        If nothing of the law lies there.
    """
    p_low, p_high = float(probability_below(law, low)), float(probability_up_to(law, high))
    if p_high - p_low <= 1e-9:
        raise RecipeError(
            f"nothing of the timing law (from {law.values[0]:g} to {law.values[-1]:g}) lies between "
            f"{low:g} and {high:g}; widen the range, or take another timing profile"
        )
    inside = [(p, v) for p, v in zip(law.probabilities, law.values, strict=True) if p_low < p < p_high]
    edges = quantile(law, [p_low, p_high])
    points = [(p_low, max(float(edges[0]), low)), *inside, (p_high, min(float(edges[1]), high))]
    return QuantileLaw(
        probabilities=(0.0, *((p - p_low) / (p_high - p_low) for p, _ in points[1:-1]), 1.0),
        values=tuple(v for _, v in points),
    )


def ks_distance(sample: ArrayLike, law: QuantileLaw, *, resolution: float = 0.0) -> float:
    """Return the Kolmogorov-Smirnov distance between a sample and the law, 0 to 1.

    Parameters
    ----------
    sample : shape (n,), n >= 1
    resolution
        How far a value may have been moved by rounding (a sample period): differences that such a move
        explains do not count, so that a constant law can be met.

    Notes
    -----
    D = sup |F_n(x) - F(x)|, both sides of every step of F_n.
    """
    x = np.sort(np.asarray(sample, dtype=np.float64))
    n = x.size
    over = np.arange(1, n + 1) / n - probability_up_to(law, x + resolution)
    under = probability_below(law, x - resolution) - np.arange(n) / n
    return max(0.0, float(over.max()), float(under.max()))


def wasserstein_distance(sample: ArrayLike, law: QuantileLaw) -> float:
    """Return W1 = integral over u of |F_n^-1(u) - F^-1(u)|, in the unit of the values.

    Examples
    --------
    >>> round(wasserstein_distance([0.5], law_of((0.0, 1.0))), 3)
    0.25
    """
    x = np.sort(np.asarray(sample, dtype=np.float64))
    u = (np.arange(_N_STEPS) + 0.5) / _N_STEPS
    return float(np.mean(np.abs(x[np.minimum((u * x.size).astype(int), x.size - 1)] - quantile(law, u))))
