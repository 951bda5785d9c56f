"""Whether scripts serve their scenario: scripts in, findings, quotas and counts out; no engine, no network."""

from .check_scripts import check_script, lint_scripts
from .finding import LintReport, QuotaResult, ScriptFinding
from .forms import DOMAINS, FORMS
from .reading import Pronounce, Spoken

__all__ = [
    "DOMAINS",
    "FORMS",
    "LintReport",
    "Pronounce",
    "QuotaResult",
    "ScriptFinding",
    "Spoken",
    "check_script",
    "lint_scripts",
]
