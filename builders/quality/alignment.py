"""Two word sequences to what was matched, replaced, dropped and added on the way from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_ERROR = 1_000_000
_REPLACED = _ERROR + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an alignment: `wanted` is empty where a word was added, `heard` where one was dropped."""

    kind: Literal["same", "replaced", "dropped", "added"]
    wanted: str
    heard: str


def align(wanted: Sequence[str], heard: Sequence[str]) -> tuple[Step, ...]:
    """Return the alignment with the fewest errors; among equals, the one with most words at their place.

    Examples
    --------
    >>> [step.kind for step in align("a b c".split(), "a c d".split())]
    ['same', 'dropped', 'same', 'added']

    References
    ----------
    V. Levenshtein (1966), Binary codes capable of correcting deletions, insertions and reversals.
    """
    n, m = len(wanted), len(heard)
    cost = [[_ERROR * j for j in range(m + 1)]]
    for i in range(1, n + 1):
        above, row = cost[-1], [_ERROR * i]
        for j in range(1, m + 1):
            across = above[j - 1] + (0 if wanted[i - 1] == heard[j - 1] else _REPLACED)
            row.append(min(across, above[j] + _ERROR, row[j - 1] + _ERROR))
        cost.append(row)
    steps: list[Step] = []
    i, j = n, m
    while i or j:
        same = i > 0 and j > 0 and wanted[i - 1] == heard[j - 1]
        if i and j and cost[i][j] == cost[i - 1][j - 1] + (0 if same else _REPLACED):
            steps.append(Step(kind="same" if same else "replaced", wanted=wanted[i - 1], heard=heard[j - 1]))
            i, j = i - 1, j - 1
        elif i and cost[i][j] == cost[i - 1][j] + _ERROR:
            steps.append(Step(kind="dropped", wanted=wanted[i - 1], heard=""))
            i -= 1
        else:
            steps.append(Step(kind="added", wanted="", heard=heard[j - 1]))
            j -= 1
    return tuple(reversed(steps))


def n_errors(steps: Sequence[Step]) -> int:
    """Return the number of steps that are not ``same``."""
    return sum(step.kind != "same" for step in steps)
