"""Values of samples to a table: mean, 95 % interval and number, by configuration and split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityLine:
    """One line of the quality table. `low` and `high` bound the mean at 95 % (None below two samples)."""

    config: str
    split: str
    value: str
    n: int
    mean: float
    low: float | None
    high: float | None


def interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the mean of values and its 95 % interval by Student's t, as if samples were independent.

    Samples of one script or voice are not: the interval is then too narrow.

    Examples
    --------
    >>> [round(x, 3) for x in interval([1.0, 2.0, 3.0, 4.0])]
    [2.5, 0.446, 4.554]
    """
    from scipy.special import stdtrit

    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return mean, None, None
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    half = float(stdtrit(n - 1, 0.975)) * deviation / sqrt(n)
    return mean, mean - half, mean + half


def quality_lines(
    samples: Iterable[tuple[str, str, Mapping[str, Any]]], names: Sequence[str]
) -> tuple[QualityLine, ...]:
    """Return the table of samples given as (configuration, split, values); lines without a value are left out."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for config, split, values in samples:
        for name in names:
            value = values.get(name)
            if value is not None:
                found.setdefault((config, split, name), []).append(float(value))
    lines = []
    for (config, split, name), there in found.items():
        mean, low, high = interval(there)
        lines.append(
            QualityLine(config=config, split=split, value=name, n=len(there), mean=mean, low=low, high=high)
        )
    return tuple(lines)


def histogram(values: Sequence[float], *, n_bins: int = 20) -> tuple[list[float], list[int]]:
    """Return the edges of equal bins from the least to the largest value, shape (n_bins + 1,), and their counts."""
    import numpy as np

    counts, edges = np.histogram(values, bins=n_bins)
    return [float(edge) for edge in edges], [int(count) for count in counts]
