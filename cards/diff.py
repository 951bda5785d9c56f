"""Two releases to what changed between them, and which version the newer one must have."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .. import ReleaseError
from ..builders.built import open_built, rows_in
from ..builders.parquet_file import opened
from ..builders.schema import AUDIO_COLUMNS
from .load import PAPERS

Level = Literal["none", "patch", "minor", "major"]

RULES = (
    "MAJOR: the schema, a row's split, its audio or its labels changed, or a row was removed",
    "MINOR: rows or configurations were added, or only columns about origin and checks changed",
    "PATCH: only the card and what stands beside it changed",
)

_ABOUT = ("provenance", "checks")
"""Columns that say where a row comes from and what was measured on it: no labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed: ids of rows, and how many rows changed in each column.

    `audio` counts rows whose samples differ, by track; `papers` are files beside the shards.
    """

    schema: tuple[str, ...]
    configs_added: tuple[str, ...]
    configs_removed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[str, ...]
    columns: dict[str, int]
    audio: dict[str, int]
    papers: tuple[str, ...]

    @property
    def level(self) -> Level:
        """Which part of the version must rise, by `RULES`."""
        labels = any(name not in _ABOUT for name in self.columns)
        if self.schema or self.removed or self.moved or self.audio or labels or self.configs_removed:
            return "major"
        if self.added or self.configs_added or self.columns:
            return "minor"
        return "patch" if self.papers else "none"

    def lines(self) -> tuple[str, ...]:
        """Return the changelog entry, one line a change."""
        found = [f"Schema: {change}." for change in self.schema]
        for verb, names in (("added", self.configs_added), ("removed", self.configs_removed)):
            if names:
                found.append(f"Configurations {verb}: {', '.join(names)}.")
        for verb, ids in (("added", self.added), ("removed", self.removed), ("in another split", self.moved)):
            if ids:
                more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
                found.append(f"Rows {verb}: {len(ids)} ({', '.join(ids[:3])}{more}).")
        for track, n in self.audio.items():
            found.append(f"Audio changed: `{track}` of {n} rows.")
        for column, n in self.columns.items():
            found.append(f"Column `{column}` changed in {n} rows.")
        if not self.audio:
            found.append("Audio unchanged.")
        if self.papers:
            found.append(f"Beside the rows: {', '.join(self.papers)}.")
        return tuple(found)


def raised(version: str, level: Level) -> str:
    """Return the version after `version` at a level of change.

    Examples
    --------
    >>> raised("1.2.3", "major"), raised("1.2.3", "minor"), raised("1.2.3", "patch"), raised("1.2.3", "none")
    ('2.0.0', '1.3.0', '1.2.4', '1.2.3')
    """
    try:
        major, minor, patch = (int(part) for part in version.split("."))
    except ValueError:
        raise ReleaseError(f"version {version!r}: wanted MAJOR.MINOR.PATCH") from None
    if level == "major":
        return f"{major + 1}.0.0"
    if level == "minor":
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + (level == 'patch')}"


def diff_folders(old: Path, new: Path) -> Difference:
    """Return what changed from one folder to another; rows are told apart by their ids.

    Raises
    ------
    ReleaseError
        If one of them holds no finished dataset, or is damaged.
    """
    first, second = _index(old), _index(new)
    shared = [id_ for id_ in first.rows if id_ in second.rows]
    columns: Counter[str] = Counter()
    audio: Counter[str] = Counter()
    for id_ in shared:
        before, after = first.rows[id_], second.rows[id_]
        for name in before.values.keys() & after.values.keys():
            if before.values[name] != after.values[name]:
                (audio if name in AUDIO_COLUMNS else columns)[name] += 1
    return Difference(
        schema=_schema_changes(first.schema, second.schema),
        configs_added=tuple(name for name in second.configs if name not in first.configs),
        configs_removed=tuple(name for name in first.configs if name not in second.configs),
        added=tuple(id_ for id_ in second.rows if id_ not in first.rows),
        removed=tuple(id_ for id_ in first.rows if id_ not in second.rows),
        moved=tuple(id_ for id_ in shared if first.rows[id_].split != second.rows[id_].split),
        columns=dict(sorted(columns.items())),
        audio=dict(sorted(audio.items())),
        papers=_papers(old, new),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    split: str
    values: dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    schema: dict[str, str]
    configs: tuple[str, ...]
    rows: dict[str, _Row]


def _index(folder: Path) -> _Index:
    """Return a digest of every value of every row: samples for audio, so that a new encoding is no change."""
    shards = open_built(folder).shards
    schema: dict[str, str] = {}
    rows: dict[str, _Row] = {}
    for shard in shards:
        with opened(shard.path) as file:
            schema.update({field.name: str(field.type) for field in file.schema_arrow})
        for row in rows_in((shard,)):
            values = {key: _digest(key, value) for key, value in row.items() if key not in ("id", "split")}
            rows[row["id"]] = _Row(split=row["split"], values=values)
    return _Index(schema=schema, configs=tuple(dict.fromkeys(s.config for s in shards)), rows=rows)


def _digest(column: str, value: Any) -> bytes:
    if column in AUDIO_COLUMNS and value is not None:
        import soundfile

        samples, rate = soundfile.read(io.BytesIO(value["bytes"]), dtype="int32", always_2d=True)
        return hashlib.sha256(f"{rate} {samples.shape} ".encode() + samples.tobytes()).digest()
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).digest()


def _schema_changes(old: dict[str, str], new: dict[str, str]) -> tuple[str, ...]:
    return (
        *(f"column `{name}` removed" for name in old if name not in new),
        *(f"column `{name}` added" for name in new if name not in old),
        *(f"column `{name}` is of another type" for name in old if name in new and old[name] != new[name]),
    )


def _papers(old: Path, new: Path) -> tuple[str, ...]:
    found = [path.name for pattern in PAPERS for at in (old, new) for path in sorted(at.glob(pattern))]
    return tuple(name for name in dict.fromkeys(found) if _bytes(old / name) != _bytes(new / name))


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
