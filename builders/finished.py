"""The finished samples of an unfinished build: what names one, and where its row and its reasons lie."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..scenarios.conversation import Plan
from ..scenarios.recipe import row_digest
from .jobs import Job
from .schema import SCHEMA_VERSION
from .workshop import Site, workshop


def sample_key(site: Site, job: Job, plan: Plan) -> str:
    """Return the SHA-256 of everything that decides an attempt at a row: a build that goes on takes up no other.

    Which attempt is the good one the limits decide; what they decided stands beside the row (`decided`). The
    plan holds the texts, voices and drawn times; beside it stand the recipe's part, the engine, what is
    measured, the code, and the state of a folder of noise recordings.
    """
    speaker, _, _ = workshop(site)
    any_gates = replace(site.recipe, checks=replace(site.recipe.checks, gates={}))
    parts: dict[str, Any] = {
        "plan": asdict(plan),
        "split": job.split,
        "recipe": row_digest(any_gates, site.recipe.entries[job.entry]),
        "engine": [speaker.engine, speaker.version],
        "code": [__version__, SCHEMA_VERSION],
        "noise": _state(Path(plan.effects.noise_folder))
        if plan.effects and plan.effects.noise_folder
        else "",
        "base": None if site.base is None else [site.base.digest, site.base.other_voices],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """Return name, size and time of each recording."""
    stats = [(path.name, path.stat()) for path in sorted(folder.glob("*"))]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


def row_path(site: Site, key: str) -> Path:
    """Return where the row of a finished sample lies."""
    return site.partial / "rows" / key[:2] / f"{key}.parquet"


def said_path(site: Site, key: str) -> Path:
    """Return where what was said in a finished sample is noted."""
    return row_path(site, key).with_suffix(".said.json")


def reject_path(site: Site, key: str) -> Path:
    """Return where the reasons lie for which a sample was rejected."""
    return row_path(site, key).with_suffix(".reject.json")


def read_reject(site: Site, key: str) -> dict[str, Any]:
    """Return why a sample was rejected: its attempts with their reasons."""
    reject: dict[str, Any] = json.loads(reject_path(site, key).read_text(encoding="utf-8"))
    return reject
