"""Two word sequences to what was matched, replaced, dropped and added on the way from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an alignment: `wanted` is empty where a word was added, `heard` where one was dropped."""

    kind: Literal["same", "replaced", "dropped", "added"]
    wanted: str
    heard: str


def align(wanted: Sequence[str], heard: Sequence[str]) -> tuple[Step, ...]:
    """Return the cheapest alignment, each error costing 1; among equals, replacements first.

    Examples
    --------
    >>> [step.kind for step in align("a b c".split(), "a c d".split())]
    ['same', 'dropped', 'same', 'added']

    References
    ----------
    V. Levenshtein (1966), Binary codes capable of correcting deletions, insertions and reversals.
    """
    n, m = len(wanted), len(heard)
    cost = np.zeros((n + 1, m + 1), dtype=np.int64)
    cost[:, 0], cost[0, :] = np.arange(n + 1), np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = min(
                cost[i - 1, j - 1] + (wanted[i - 1] != heard[j - 1]), cost[i - 1, j] + 1, cost[i, j - 1] + 1
            )
    steps: list[Step] = []
    i, j = n, m
    while i or j:
        if i and j and cost[i, j] == cost[i - 1, j - 1] + (wanted[i - 1] != heard[j - 1]):
            same = wanted[i - 1] == heard[j - 1]
            steps.append(Step(kind="same" if same else "replaced", wanted=wanted[i - 1], heard=heard[j - 1]))
            i, j = i - 1, j - 1
        elif i and cost[i, j] == cost[i - 1, j] + 1:
            steps.append(Step(kind="dropped", wanted=wanted[i - 1], heard=""))
            i -= 1
        else:
            steps.append(Step(kind="added", wanted="", heard=heard[j - 1]))
            j -= 1
    return tuple(reversed(steps))


def n_errors(steps: Sequence[Step]) -> int:
    """Return the number of steps that are not ``same``."""
    return sum(step.kind != "same" for step in steps)
