"""The equal error rate: how well one limit on a similarity tells pairs of one speaker from pairs of two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


def equal_error_rate(same: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the rate at which both errors are equally frequent, 0 to 1, and the limit that gives it.

    At a limit, pairs of one speaker below it and pairs of two speakers at or above it are errors. Where no limit
    makes both shares equal, the rate is their mean at the limit where they differ least. Limits are looked for
    halfway between neighbouring similarities.

    Parameters
    ----------
    same : sequence of float, not empty
        Similarities of pairs of one speaker.
    other : sequence of float, not empty
        Similarities of pairs of two speakers.

    Examples
    --------
    >>> equal_error_rate([0.9, 1.0], [0.4, 0.5])
    (0.0, 0.7)
    >>> equal_error_rate([0.4, 0.8], [0.2, 0.6])[0]
    0.5
    """
    values = sorted({*map(float, same), *map(float, other)})
    limits = np.array([(a + b) / 2 for a, b in pairwise(values)] or values)
    missed = np.searchsorted(np.sort(same), limits, side="left") / len(same)
    passed = 1.0 - np.searchsorted(np.sort(other), limits, side="left") / len(other)
    best = int(np.lexsort((missed + passed, np.abs(missed - passed)))[0])
    return float(missed[best] + passed[best]) / 2, float(limits[best])
