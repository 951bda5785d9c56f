"""What the linter says: findings, quotas and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFinding:
    """Something a script (or a set of scripts: empty `script_id`) is found wanting in."""

    rule: str
    severity: Severity
    language: str
    scenario: str
    script_id: str
    message: str

    def __str__(self) -> str:
        where = "/".join(part for part in (self.language, self.scenario, self.script_id) if part)
        return f"{self.severity} {where}: {self.message} ({self.rule})"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaResult:
    """A share or a number over one language's scripts of a scenario, and what is wanted of it.

    `low` and `high` are inclusive; None leaves that side open.
    """

    language: str
    scenario: str
    name: str
    value: float
    low: float | None
    high: float | None
    is_share: bool
    note: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the value is inside the bounds."""
        return (self.low is None or self.value >= self.low) and (self.high is None or self.value <= self.high)

    @property
    def wanted(self) -> str:
        """Return the bounds in words."""
        low, high = (None if b is None else self._shown(b) for b in (self.low, self.high))
        if low is not None and high is not None:
            return low if low == high else f"{low} to {high}"
        return f"at least {low}" if low is not None else f"at most {high}" if high is not None else "counted"

    @property
    def shown(self) -> str:
        """Return the value as it is printed."""
        return self._shown(self.value)

    def _shown(self, number: float) -> str:
        return f"{100 * number:.1f} %" if self.is_share else f"{number:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """All that was found in a set of scripts.

    `form_only` are the languages without rules: of their scripts the form was checked and nothing else.
    """

    n_scripts: int
    findings: tuple[ScriptFinding, ...]
    quotas: tuple[QuotaResult, ...]
    form_only: tuple[str, ...] = ()

    @property
    def n_errors(self) -> int:
        """Return the number of errors."""
        return sum(finding.severity == "error" for finding in self.findings)
