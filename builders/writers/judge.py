"""Whether a written script is taken: by the linter, against its likes, and by the quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from ...scenarios.conversation import Script
from ...scenarios.lint import Pronounce, check_script
from ...scenarios.lint.duplicates import NEAR, Unit, are_compared, units
from ...scenarios.lint.tokens import jaccard
from .cells import Cap, Cell, cell_of, filled_cell


class Judge:
    """Takes scripts one by one; what was taken decides what may still be.

    Parameters
    ----------
    wanted : Counter of Cell
        Scripts still wanted of each cell.
    caps : sequence of Cap
    known : iterable of Script
        Scripts that a new one must not be like: those there already, and other banks.
    pronounce : Pronounce
    domains : collection of str
    """

    def __init__(
        self,
        *,
        wanted: Counter[Cell],
        caps: Sequence[Cap],
        known: Iterable[Script],
        pronounce: Pronounce,
        domains: Collection[str],
    ) -> None:
        self.open = +Counter(wanted)
        self.taken: list[Script] = []
        self._caps = caps
        self._counts: Counter[tuple[str, str]] = Counter()
        self._pronounce = pronounce
        self._domains = domains
        self._units: list[Unit] = [unit for script in known for unit in units(script)]

    def count(self, script: Script) -> None:
        """Count a script that is there already against cells and caps."""
        cell = filled_cell(script, self.open)
        if cell is not None:
            self.open = self.open - Counter({cell: 1})
        for cap in self._caps:
            value = cap.value(script)
            if value is not None:
                self._counts[cap.name, value] += 1

    def used_up(self) -> dict[str, list[str]]:
        """Return, for each cap, the values that have come as often as they may."""
        most = {cap.name: cap.most for cap in self._caps}
        found: dict[str, list[str]] = {}
        for (name, value), count in sorted(self._counts.items()):
            if count >= most[name]:
                found.setdefault(name, []).append(value)
        return found

    def take(self, script: Script) -> str:
        """Take the script, or return why not: the name of a rule, a colon, and the reason."""
        errors = [f for f in check_script(script, self._pronounce, self._domains) if f.severity == "error"]
        if errors:
            return f"{errors[0].rule}: {errors[0].message}"
        if filled_cell(script, self.open) is None:
            return f"quota: no more of {' '.join(cell_of(script)) or 'these'} wanted"
        for cap in self._caps:
            value = cap.value(script)
            if value is not None and self._counts[cap.name, value] >= cap.most:
                return f"quota: {cap.name} {value!r} stands {cap.most} times already"
        mine = list(units(script))
        for unit in mine:
            for other in self._units:
                if are_compared(other, unit) and jaccard(unit.tokens, other.tokens) >= NEAR:
                    where = f"{other.script.scenario}/{other.script.id}"
                    return f"duplicate: its {unit.part} is like the {other.part} of {where}"
        self._units += mine
        self.taken.append(script)
        self.count(script)
        return ""
