"""The samples of a build as selection looks at them, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..scenarios.conversation import parent_of
from .parquet_file import columns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sample as far as selection looks at it. `speakers` are the parents of all voices heard in it."""

    id: str
    scenario: str
    language: str
    script: str
    domain: str
    intent: str
    speakers: frozenset[str]
    length_s: float
    values: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The split of each sample by id. `left_out` samples mix speakers of two splits and go nowhere.

    `speakers` are the speakers of each split, where they were asked to be apart.
    """

    splits: Mapping[str, str]
    left_out: tuple[str, ...]
    speakers: Mapping[str, frozenset[str]]


def candidate_of(row: Mapping[str, Any]) -> Candidate:
    """Return a row of the schema (audio not needed) as selection looks at it."""
    intents = [event["intent"] for event in row["events"] if event["intent"]]
    return Candidate(
        id=row["id"],
        scenario=row["scenario"],
        language=row["language"],
        script=row["script"]["id"],
        domain=row["script"]["domain"] or "",
        intent=intents[-1] if intents else "",
        speakers=frozenset(
            parent_of(part["style"]) for voice in row["provenance"]["voices"] for part in voice["mix"]
        )
        or frozenset(voice["voice"] for voice in row["provenance"]["voices"]),
        length_s=row["duration_s"],
        values=row["checks"],
    )


_COLUMNS = [
    *("id", "scenario", "language", "split", "duration_s", "events", "checks", "script"),
    "provenance",
]


def candidates_in(paths: Iterable[Path]) -> list[Candidate]:
    """Return the rows of Parquet files as selection looks at them; audio is not read."""
    return [candidate_of(row) for path in paths for row in columns_of(path, _COLUMNS)]
