"""What decided a finished sample, kept beside its row: a changed limit tries again what it may change, and no more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..whole_file import put_text
from .finished import row_path
from .gates import Gate, judge, shortfalls
from .jobs import Job
from .quality.sample_values import SampleQuality
from .workshop import Site, workshop


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Under which limits a sample was decided, by which attempt, and what was measured in it.

    `attempt` and `quality` are None where the sample was rejected.
    """

    attempts: int
    gates: str
    attempt: int | None = None
    quality: SampleQuality | None = None


def decided_path(site: Site, key: str) -> Path:
    """Return where that is noted."""
    return row_path(site, key).with_suffix(".decided.json")


def write_decided(
    site: Site, job: Job, key: str, *, attempt: int | None = None, quality: SampleQuality | None = None
) -> None:
    """Note what decides a sample: the limits as they are, and for one that is good what was measured."""
    noted: dict[str, Any] = {"attempts": site.recipe.checks.attempts, "gates": _digest(_gates_of(site, job))}
    if quality is not None:
        noted["attempt"] = attempt
        noted["values"] = dict(quality.values)
        noted["by_turn"] = [dict(values) for values in quality.by_turn]
        noted["notes"] = [[turn, measure, note] for (turn, measure), note in quality.notes.items()]
    put_text(decided_path(site, key), json.dumps(noted, ensure_ascii=False, default=float))


def read_decided(site: Site, key: str) -> Decided | None:
    """Return what decided a sample; None where nothing says it."""
    path = decided_path(site, key)
    if not path.is_file():
        return None
    noted = json.loads(path.read_text(encoding="utf-8"))
    quality = None
    if "values" in noted:
        quality = SampleQuality(
            values=noted["values"],
            by_turn=tuple(noted["by_turn"]),
            notes={(turn, measure): note for turn, measure, note in noted["notes"]},
            n_new=0,
        )
    return Decided(
        attempts=noted["attempts"], gates=noted["gates"], attempt=noted.get("attempt"), quality=quality
    )


def still_holds(site: Site, job: Job, decided: Decided | None) -> bool:
    """Return whether a build that starts now would decide a sample in the same way, and by the same attempt.

    A rejected one: only if no limit changed. A good one: if the attempts reach its own, and either no gate
    changed, or it was the first attempt and its values pass the gates as they are now. One that stays behind what
    is tried for: only if no limit changed.
    """
    if decided is None:
        return False
    gates, attempts = _gates_of(site, job), site.recipe.checks.attempts
    same_limits = decided.attempts == attempts and decided.gates == _digest(gates)
    if decided.attempt is None or decided.quality is None:
        return same_limits
    if any(map(any, shortfalls(decided.quality, job.language, gates))):
        return same_limits
    if decided.attempt >= attempts:
        return False
    if decided.gates == _digest(gates):
        return True
    return decided.attempt == 0 and not judge(decided.quality, job.language, gates, job.id).findings


def _gates_of(site: Site, job: Job) -> tuple[Gate, ...]:
    return tuple(gate for gate in workshop(site)[2].gates if gate.holds_for(job.language))


def _digest(gates: Sequence[Gate]) -> str:
    text = json.dumps([asdict(gate) for gate in gates], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
