"""A built folder to facts: everything that a card may say, read from disk."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..builders.built import MANIFEST, open_built
from ..builders.noise_origin import noise_origin
from ..builders.parquet_file import opened
from ..builders.schema import AUDIO_COLUMNS
from ..builders.side_files import SideFiles, read_side_files
from ..scenarios.conversation import parent_of
from ..scenarios.label_difference import label_differences
from ..scenarios.timing_report import MeasuredGap, measured_gaps
from .licenses import Part
from .voice_basis import IMPORTED, basis_of

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
    "m3_events",
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
    """What a folder holds.

    `parts` counts the rows of each configuration that hold a part; `treatments` holds (target, measured)
    levels in dB by preset; `labels` counts (what was meant, what M3's rule says); `speakers` and `scripts` are
    those of each split; `speech_s` is by role; `quality` holds configuration, split and measured values of each
    row; `n_later` counts rows of a later attempt than the first; `beside` is what stands beside the shards.
    """

    manifest: dict[str, Any]
    manifest_sha256: str
    configs: dict[str, dict[str, SplitFacts]] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    sample_rate_hz: int = 0
    presets: dict[str, Counter[str]] = field(default_factory=dict)
    relations: dict[str, Counter[str]] = field(default_factory=dict)
    events: dict[str, Counter[str]] = field(default_factory=dict)
    tracks: dict[str, Counter[str]] = field(default_factory=dict)
    voices: dict[str, dict[str, Any]] = field(default_factory=dict)
    engines: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    sources: Counter[tuple[str, str]] = field(default_factory=Counter)
    llms: Counter[str] = field(default_factory=Counter)
    parts: dict[str, Counter[Part]] = field(default_factory=dict)
    checks: dict[str, list[float | None]] = field(default_factory=dict)
    level_errors_db: dict[str, list[float]] = field(default_factory=dict)
    treatments: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    durations_s: dict[str, list[float]] = field(default_factory=dict)
    speech_s: Counter[str] = field(default_factory=Counter)
    n_turns: Counter[str] = field(default_factory=Counter)
    speakers: dict[str, set[str]] = field(default_factory=dict)
    scripts: dict[str, set[str]] = field(default_factory=dict)
    word_time_sources: Counter[str] = field(default_factory=Counter)
    gaps: list[MeasuredGap] = field(default_factory=list)
    labels: Counter[tuple[str, str]] = field(default_factory=Counter)
    quality: list[tuple[str, str, dict[str, float | None]]] = field(default_factory=list)
    n_later: int = 0
    beside: SideFiles = field(default_factory=SideFiles)

    @property
    def n_rows(self) -> int:
        """How many rows the folder holds."""
        return sum(facts.n_rows for splits in self.configs.values() for facts in splits.values())

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """Every part of every configuration, once."""
        return tuple(dict.fromkeys(part for parts in self.parts.values() for part in parts))


def summarize(folder: Path) -> Summary:
    """Return the facts of a built folder; audio columns are not read.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset, or a shard or a file beside them is damaged.
    """
    built = open_built(folder)
    manifest = built.manifest
    digest = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    summary = Summary(manifest=manifest, manifest_sha256=digest, beside=read_side_files(folder))
    languages: dict[str, None] = {}
    columns = [*_READ, *(f"{track}.path" for track in AUDIO_COLUMNS)]
    for shard in built.shards:
        with opened(shard.path) as file:
            n_bytes = sum(
                file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)
            )
            for batch in file.iter_batches(batch_size=64, columns=columns):
                for row in batch.to_pylist():
                    _add(summary, shard.config, row)
                    later = summary.beside.values.get(row["id"], {})
                    summary.quality.append((shard.config, shard.split, {**(row["checks"] or {}), **later}))
                    languages[row["language"]] = None
        split = summary.configs.setdefault(shard.config, {}).setdefault(shard.split, SplitFacts())
        split.n_rows += shard.n_rows
        split.seconds += shard.seconds
        split.shards.append(shard.name)
        split.n_bytes += n_bytes
        split.file_bytes += shard.n_bytes
        split.digest = hashlib.sha256(f"{split.digest}{shard.sha256}".encode()).hexdigest()
    # what no entry of the recipe names is shown all the same: the rows are there
    order = [*(entry["scenario"] for entry in manifest["recipe"]["entries"]), *summary.presets]
    summary.scenarios = tuple(s for s in dict.fromkeys(order) if s in summary.presets)
    spoken = [*manifest["recipe"]["languages"], *languages]
    summary.languages = tuple(lang for lang in dict.fromkeys(spoken) if lang in languages)
    return summary


def _add(summary: Summary, config: str, row: dict[str, Any]) -> None:
    scenario, split = row["scenario"], row["split"]
    summary.sample_rate_hz = row["sample_rate_hz"]
    summary.presets.setdefault(scenario, Counter())[row["preset"]] += 1
    summary.relations.setdefault(scenario, Counter())[row["fdb_relation"]] += 1
    summary.events.setdefault(scenario, Counter()).update(event["kind"] for event in row["events"])
    summary.tracks.setdefault(scenario, Counter()).update(t for t in AUDIO_COLUMNS if row[t] is not None)
    summary.durations_s.setdefault(scenario, []).append(row["duration_s"])
    summary.scripts.setdefault(split, set()).add(f"{row['language']}/{row['script']['id']}")
    summary.gaps.extend(measured_gaps(row))
    summary.labels.update(label_differences([row]))
    for turn in row["turns"]:
        summary.n_turns[turn["role"]] += 1
        summary.speech_s[turn["role"]] += turn["offset_s"] - turn["onset_s"]
        summary.word_time_sources[turn["word_time_source"] or "none"] += 1
    _add_origin(summary, config, row)
    checks = row["checks"] or {}  # imported rows whose labels point at no sound have none
    for name, value in checks.items():
        summary.checks.setdefault(name, []).append(value)
    treatment = row["treatment"]
    if treatment is not None:
        if checks.get("level_error_db") is not None:
            summary.level_errors_db.setdefault(treatment["preset"], []).append(checks["level_error_db"])
        if treatment["target_db"] is not None and treatment["measured_db"] is not None:
            summary.treatments.setdefault(treatment["preset"], []).append(
                (treatment["target_db"], treatment["measured_db"])
            )


def _spoken_by(made: Mapping[str, Any], source: str) -> Part:
    """Return where the speech of a row comes from: an engine's weights, or a corpus of recordings.

    `source` is where the row's text comes from: of imported rows the speech is from there too.
    """
    engine, licence = made["engine"], made["engine_licence"]
    if basis_of(engine).part == "weights":
        return Part(kind="weights", name=engine, licence=licence, attribution=f"speech engine {engine}")
    if engine.startswith(IMPORTED):
        name = engine.removeprefix(IMPORTED)
        return Part(kind="corpus", name=name, licence=licence, attribution=source)
    named = dict.fromkeys(voice["attribution"] for voice in made["voices"] if voice["attribution"])
    # conversations name their corpus there; of an engine that plays clips it is what tells versions apart
    name = made["engine_version"] if engine == "recording" else engine
    return Part(kind="corpus", name=name, licence=licence, attribution=", ".join(named))


def _add_origin(summary: Summary, config: str, row: dict[str, Any]) -> None:
    made, script = row["provenance"], row["script"]
    summary.n_later += made["attempt"] > 0
    summary.engines[(made["engine"], made["engine_version"], made["engine_licence"])] += 1
    summary.sources[(script["source"], script["licence"])] += 1
    if made["llm"]:
        summary.llms[made["llm"]] += 1
    parts = {
        _spoken_by(made, script["source"]),
        Part(kind="text", name=script["source"], licence=script["licence"], attribution=script["source"]),
    }
    noise = noise_origin(row)
    if noise is not None:
        parts.add(Part(kind="noise", name=noise.folder, licence=noise.licence, attribution=noise.source))
    parts.update(Part(**part) for part in summary.manifest["recipe"].get("origin", {}).get("parts", ()))
    for voice in made["voices"]:
        parts.add(
            Part(
                kind="voice",
                name=voice["voice"],
                licence=voice["licence"],
                attribution=voice["attribution"],
            )
        )
        known = summary.voices.setdefault(
            voice["voice"],
            {
                "licence": voice["licence"],
                "attribution": voice["attribution"],
                "languages": set(),
                "engines": set(),
                "n": 0,
            },
        )
        known["languages"].add(row["language"])
        known["engines"].add(made["engine"])
        known["n"] += 1
        parents = [parent_of(part["style"]) for part in voice["mix"] or []] or [voice["voice"]]
        summary.speakers.setdefault(row["split"], set()).update(parents)
    summary.parts.setdefault(config, Counter()).update(sorted(parts, key=str))
