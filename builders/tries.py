"""The tries of a sample's turns: which comes next, and which made the best of each."""

from __future__ import annotations

from collections.abc import Sequence

Shortfall = tuple[float, ...]
"""How far an utterance stays behind each value that is tried for, in the order of the gates; all 0: not at all."""


class Tries:
    """How often each turn was spoken before, from one attempt to the next.

    Until an attempt passes the gates, the turns that failed are spoken again. Then those are that stay behind what
    is tried for, and nothing that is there already.

    Parameters
    ----------
    first : tuple of int
        The tries at the first attempt.

    Attributes
    ----------
    now : tuple of int
        The tries at the attempt to come.
    """

    def __init__(self, first: tuple[int, ...]) -> None:
        self.now = first
        self._found: tuple[dict[int, Shortfall], ...] = tuple({} for _ in first)
        self._first_at = dict.fromkeys(enumerate(first), 0)
        self._n_attempts = 1

    @property
    def is_behind(self) -> bool:
        """Return whether a turn has no try yet that is all that is tried for."""
        return bool(self._behind())

    def after(self, short: Sequence[Shortfall], failed: frozenset[int] | None, *, improving: bool) -> None:
        """Go on after an attempt.

        Parameters
        ----------
        short
            How far each turn stayed behind; empty where that is not known.
        failed
            The turns that failed their gates; None where the sample did as a whole, which may be any turn's doing.
        improving
            Whether an attempt has passed the gates.
        """
        everyone = frozenset(range(len(self.now)))
        bad = everyone if failed is None else failed
        for i in everyone - bad:
            self._found[i].setdefault(self.now[i], short[i])
        moving = self._behind() if improving else bad
        self.now = tuple(n + (i in moving) for i, n in enumerate(self.now))
        for turn in enumerate(self.now):
            self._first_at.setdefault(turn, self._n_attempts)
        self._n_attempts += 1

    def best(self) -> tuple[tuple[int, ...], Shortfall]:
        """Return the try of each turn that stays behind least, the first among equals, and by how much all do."""
        chosen = tuple(min(found, key=lambda n: (found[n], n)) for found in self._found)
        return chosen, total([found[n] for found, n in zip(self._found, chosen, strict=True)])

    def attempt_of(self, tries: tuple[int, ...]) -> int:
        """Return the attempt, counted from 0, at which the last of these tries was first asked for."""
        return max(self._first_at[turn] for turn in enumerate(tries))

    def _behind(self) -> frozenset[int]:
        return frozenset(
            i for i, found in enumerate(self._found) if all(any(short) for short in found.values())
        )


def total(short: Sequence[Shortfall]) -> Shortfall:
    """Return how far all turns together stay behind."""
    return tuple(map(sum, zip(*short, strict=True)))
