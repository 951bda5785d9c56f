"""Stratified draws: each stretch of a law once in a block of dialogues, in an order without a pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK_DIALOGUES = 10
"""So many consecutive dialogues share their strata. A block knows nothing of other blocks: a dataset grows
without changing what was drawn."""

N_ORDERS = 8
"""So many random orders are tried; the one with the least rank correlation of neighbours is taken."""

N_OTHERS = 4
"""So many further draws from the same stratum stand ready where the first turns out to be infeasible."""

_MARGIN = 0.01
"""A draw keeps this share of its stratum away from both edges, so that rounding to samples stays inside."""


def strata(
    rng: np.random.Generator, counts: tuple[int, ...], *, n_draws: int = 1
) -> tuple[NDArray[np.float64], ...]:
    """Return probabilities for a block: with n values in all, each of the n equal strata of [0, 1) holds one.

    Parameters
    ----------
    rng
    counts
        How many values each dialogue of the block takes.
    n_draws
        Draws per value, all from its stratum.

    Returns
    -------
    tuple of ndarray, shape (count, n_draws)
        One array per dialogue.

    Notes
    -----
    The Kolmogorov-Smirnov distance between the n first draws and the uniform law is below 1 / n.
    """
    n = sum(counts)
    orders = [rng.permutation(n) for _ in range(N_ORDERS)]
    inside = _MARGIN + (1 - 2 * _MARGIN) * rng.uniform(size=(n, n_draws))
    edges = np.cumsum(counts)[:-1]
    order = min(orders, key=lambda o: abs(serial_correlation(tuple(np.split(o.astype(float), edges)))))
    return (
        tuple(np.split((order[:, np.newaxis] + inside) / n, edges))
        if n
        else tuple(np.empty((0, n_draws)) for _ in counts)
    )


def independent(
    rng: np.random.Generator, counts: tuple[int, ...], *, n_draws: int = 1
) -> tuple[NDArray[np.float64], ...]:
    """Return independent probabilities in the same shape as `strata`: one array (count, n_draws) per dialogue."""
    return tuple(rng.uniform(size=(count, n_draws)) for count in counts)


def serial_correlation(sequences: tuple[NDArray[np.float64], ...]) -> float:
    """Return the rank correlation (Spearman) of neighbours inside the sequences, 0 where it is not defined.

    Examples
    --------
    >>> round(serial_correlation((np.array([1.0, 2.0, 3.0, 4.0]),)), 6)
    1.0
    """
    first = np.concatenate([s[:-1] for s in sequences]) if sequences else np.empty(0)
    second = np.concatenate([s[1:] for s in sequences]) if sequences else np.empty(0)
    if first.size < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks, ties sharing their mean."""
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[inverse], dtype=np.float64)
