"""A built folder to facts: everything that a card may say, read from disk."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import ReleaseError

_READ = (
    "id",
    "scenario",
    "language",
    "split",
    "preset",
    "fdb_relation",
    "duration_s",
    "turns",
    "events",
    "treatment",
    "checks",
    "script",
    "provenance",
    "sample_rate_hz",
)


@dataclass(slots=True, kw_only=True)
class SplitFacts:
    """One split of one configuration."""

    n_rows: int = 0
    seconds: float = 0.0
    shards: list[str] = field(default_factory=list)
    n_bytes: int = 0
    file_bytes: int = 0
    digest: str = ""


@dataclass(slots=True, kw_only=True)
class Summary:
    """What a folder holds."""

    manifest: dict[str, Any]
    configs: dict[str, dict[str, SplitFacts]]
    languages: tuple[str, ...]
    scenarios: tuple[str, ...]
    sample_rate_hz: int
    presets: dict[str, Counter[str]]
    relations: dict[str, Counter[str]]
    events: dict[str, Counter[str]]
    voices: dict[str, dict[str, Any]]
    engines: Counter[tuple[str, str, str]]
    sources: Counter[tuple[str, str]]
    checks: dict[str, list[float]]
    level_errors_db: dict[str, list[float]]
    rejects: list[dict[str, Any]]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a built folder.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset.
    """
    path = folder / "manifest.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReleaseError(
            f"{folder}: no finished dataset (there is no manifest.json); build it first"
        ) from None
    except ValueError as error:
        raise ReleaseError(f"{path}: no JSON ({error}); build the folder again") from None
    if not isinstance(data, dict) or "files" not in data:
        raise ReleaseError(f"{path}: no manifest of duplexkit; build the folder again")
    return data


def summarize(folder: Path) -> Summary:
    """Return the facts of a built folder; audio columns are not read."""
    import pyarrow.parquet as pq

    manifest = read_manifest(folder)
    summary = Summary(
        manifest=manifest,
        configs={},
        languages=(),
        scenarios=(),
        sample_rate_hz=0,
        presets={},
        relations={},
        events={},
        voices={},
        engines=Counter(),
        sources=Counter(),
        checks={},
        level_errors_db={},
        rejects=_rejects(folder),
    )
    scenarios: dict[str, None] = {}
    languages: dict[str, None] = {}
    for name, facts in manifest["files"].items():
        path = folder / name
        try:
            file = pq.ParquetFile(path)
        except (OSError, ValueError) as error:
            raise ReleaseError(f"{path}: cannot be read ({error}); build the folder again") from None
        with file:
            n_bytes = sum(
                file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)
            )
            for batch in file.iter_batches(batch_size=64, columns=list(_READ)):
                for row in batch.to_pylist():
                    _add(summary, row)
                    scenarios[row["scenario"]] = languages[row["language"]] = None
        split = summary.configs.setdefault(facts["config"], {}).setdefault(facts["split"], SplitFacts())
        split.n_rows += facts["rows"]
        split.seconds += facts["seconds"]
        split.shards.append(name)
        split.n_bytes += n_bytes
        split.file_bytes += facts["bytes"]
        split.digest = hashlib.sha256(f"{split.digest}{facts['sha256']}".encode()).hexdigest()
    order = [entry["scenario"] for entry in manifest["recipe"]["entries"]]
    summary.scenarios = tuple(s for s in order if s in scenarios)
    summary.languages = tuple(lang for lang in manifest["recipe"]["languages"] if lang in languages)
    return summary


def _rejects(folder: Path) -> list[dict[str, Any]]:
    path = folder / "rejects.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _add(summary: Summary, row: dict[str, Any]) -> None:
    scenario = row["scenario"]
    summary.sample_rate_hz = row["sample_rate_hz"]
    summary.presets.setdefault(scenario, Counter())[row["preset"]] += 1
    summary.relations.setdefault(scenario, Counter())[row["fdb_relation"]] += 1
    summary.events.setdefault(scenario, Counter()).update(event["kind"] for event in row["events"])
    made = row["provenance"]
    summary.engines[(made["engine"], made["engine_version"], made["engine_licence"])] += 1
    summary.sources[(row["script"]["source"], row["script"]["licence"])] += 1
    for voice in made["voices"]:
        known = summary.voices.setdefault(
            voice["voice"],
            {"licence": voice["licence"], "attribution": voice["attribution"], "languages": set(), "n": 0},
        )
        known["languages"].add(row["language"])
        known["n"] += 1
    for name, value in row["checks"].items():
        if value is not None:
            summary.checks.setdefault(name, []).append(value)
    if row["treatment"] is not None and row["checks"]["level_error_db"] is not None:
        summary.level_errors_db.setdefault(row["treatment"]["preset"], []).append(
            row["checks"]["level_error_db"]
        )
