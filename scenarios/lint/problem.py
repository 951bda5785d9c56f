"""What a rule says of one script."""

from dataclasses import dataclass

from .finding import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A rule that a script breaks, and how."""

    rule: str
    message: str
    severity: Severity = "error"
