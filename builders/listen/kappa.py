"""Agreement between raters beyond chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def fleiss_kappa(counts: Sequence[Mapping[str, int]]) -> float | None:
    """Return Fleiss' kappa of items rated by two raters and more; None where it is not defined.

    Items with fewer than two ratings are left out. Items may have different numbers of raters: agreement is
    the mean over items, chance comes from the shares of all ratings. Not defined without such items, and where
    all ratings are the same (chance agreement is then 1).

    Parameters
    ----------
    counts
        For each item, how many raters gave each answer.

    Examples
    --------
    >>> fleiss_kappa([{"yes": 2}, {"no": 2}])
    1.0
    >>> fleiss_kappa([{"yes": 1, "no": 1}, {"yes": 1, "no": 1}])
    -1.0

    References
    ----------
    J. L. Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76(5).
    """
    rated = [item for item in counts if sum(item.values()) >= 2]
    if not rated:
        return None
    agreement = 0.0
    totals: dict[str, int] = {}
    for item in rated:
        n = sum(item.values())
        agreement += sum(k * (k - 1) for k in item.values()) / (n * (n - 1)) / len(rated)
        for answer, k in item.items():
            totals[answer] = totals.get(answer, 0) + k
    n_all = sum(totals.values())
    chance = sum((k / n_all) ** 2 for k in totals.values())
    return None if chance >= 1.0 else (agreement - chance) / (1.0 - chance)
