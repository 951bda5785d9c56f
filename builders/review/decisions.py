"""A reviewer's decisions: which excerpts are kept, which are rejected and why."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import RecipeError
from ...scenarios.text_file import parse_json, read_text, shown

REASONS = (
    "turn boundary is wrong",
    "speakers are mixed on a channel",
    "noise or cross-talk",
    "private or unsafe content",
    "not what the task asks for",
    "other",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Keep an excerpt or not; `sha256` is that of the samples that were heard."""

    keep: bool
    reason: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Decisions by excerpt id, and the SHA-256 of the file they came from."""

    by_id: Mapping[str, Decision]
    sha256: str


def read_decisions(path: Path) -> Decisions:
    """Return the decisions of a file that the review page wrote.

    Raises
    ------
    RecipeError
        If the file is missing or malformed, or rejects without a reason; names the excerpt.
    """
    text = read_text(path, error=RecipeError)
    data = parse_json(text, str(path), error=RecipeError)
    entries = data.get("decisions") if isinstance(data, dict) else None
    if not isinstance(entries, dict):
        raise RecipeError(
            f"{path}: no decisions of a review page: {shown(data)}; wanted the file that the page's button "
            f"'save decisions' wrote"
        )
    by_id: dict[str, Decision] = {}
    for name, entry in entries.items():
        try:
            decision = Decision(
                keep=entry["keep"], reason=str(entry.get("reason", "")), sha256=str(entry["sha256"])
            )
        except (KeyError, TypeError, AttributeError):
            raise RecipeError(f"{path}: {name}: {shown(entry)}; wanted keep, reason and sha256") from None
        if not isinstance(decision.keep, bool):
            raise RecipeError(f"{path}: {name}: keep = {decision.keep!r}; wanted true or false")
        if not decision.keep and not decision.reason.strip():
            raise RecipeError(f"{path}: {name} is rejected without a reason; give one on the page")
        by_id[name] = decision
    return Decisions(by_id=by_id, sha256=hashlib.sha256(text.encode()).hexdigest())


def decide(decisions: Decisions, heard: Mapping[str, str]) -> dict[str, str]:
    """Return the excerpts that are left out, with the reason.

    Parameters
    ----------
    decisions
    heard
        Id of every excerpt -> SHA-256 of its samples.

    Raises
    ------
    RecipeError
        If an excerpt has no decision, a decision has no excerpt, or the sound is not what was heard.
    """
    open_ = sorted(set(heard) - set(decisions.by_id))
    if open_:
        raise RecipeError(
            f"{len(open_)} of {len(heard)} excerpts have no decision: {', '.join(open_[:5])}"
            f"{' …' if len(open_) > 5 else ''}; decide on them on the review page and save again"
        )
    gone = sorted(set(decisions.by_id) - set(heard))
    if gone:
        raise RecipeError(
            f"{len(gone)} decisions are about excerpts that are not here: {', '.join(gone[:5])}; the "
            f"recordings or the options are not those that were reviewed"
        )
    for name, sha256 in heard.items():
        if decisions.by_id[name].sha256 != sha256:
            raise RecipeError(f"{name}: the sound is not what was reviewed; make the review page again")
    return {name: d.reason for name, d in decisions.by_id.items() if not d.keep}
