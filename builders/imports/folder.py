"""Imported rows to a dataset folder: shards, stems and manifest, so that check and card read it as any other."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ... import AudioError, DuplexkitError, ReleaseError
from ...acoustics.level import to_pcm16
from ...scenarios.recipe import Checks
from ..check import check_row
from ..export.levels import tracks_at
from ..export.origins import ATTRIBUTION
from ..flac import from_flac, to_flac
from ..out_folder import fresh, put_in_place
from ..place import to_samples
from ..schema import AUDIO_COLUMNS, COLUMNS
from ..stems import read_stem, write_stem
from ..write import manifest, read_rows, write_row, write_split
from .origin import Origin
from .row import sound_record

Row = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class _Content:
    """What the rows so far are: a digest of all they hold, and how many there are by what they have in common."""

    sha256: Any = field(default_factory=hashlib.sha256)
    counts: Counter[tuple[str, str, str, str, str]] = field(default_factory=Counter)
    """By scenario, language, preset, relation and split."""

    def add(self, row: Row) -> None:
        """Count a row; its sound goes into the digest as samples, so that no encoder's version is in it."""
        keys = ("scenario", "language", "preset", "fdb_relation", "split")
        self.counts[tuple(row[key] for key in keys)] += 1
        labels = {
            key: value for key, value in row.items() if key not in (*AUDIO_COLUMNS, "checks", "provenance")
        }
        self.sha256.update(json.dumps(labels, sort_keys=True, ensure_ascii=False).encode())
        for track in AUDIO_COLUMNS:
            samples = from_flac(row[track])
            self.sha256.update(b"" if samples is None else to_pcm16(samples).tobytes())

    @property
    def digest(self) -> str:
        """Return the digest of the rows so far."""
        return str(self.sha256.hexdigest())


def write_imported(
    rows: Iterator[Row],
    out: Path,
    *,
    name: str,
    origin: Origin,
    rate_hz: int | None,
    describe: Callable[[Path], object],
    progress: Callable[[int], None],
) -> int:
    """Write rows as the dataset folder `out`; return how many there are. `describe` writes its card.

    Every turn is cut out of its track as a stem, and the `checks` column is measured. Nothing is rejected:
    what does not fit its own sound is what `duplexkit check` is asked for afterwards. In place of a recipe's
    digest stands one of all that was imported.

    Raises
    ------
    ReleaseError
        If rows of one configuration have several rates and `rate_hz` is not given.
    """
    with fresh(out) as partial:
        n = _fill(partial, rows, name=name, origin=origin, rate_hz=rate_hz, progress=progress)
        if origin.attribution:
            (partial / "dataset" / ATTRIBUTION).write_text(origin.attribution, encoding="utf-8")
        describe(partial / "dataset")
        put_in_place(partial / "dataset", out)
    return n


def _fill(
    partial: Path,
    rows: Iterator[Row],
    *,
    name: str,
    origin: Origin,
    rate_hz: int | None,
    progress: Callable[[int], None],
) -> int:
    """Write the dataset folder in an unfinished one, without its card; return how many rows there are."""
    folder = partial / "dataset"
    groups: dict[tuple[str, str], list[Path]] = {}
    rates: dict[str, tuple[int, str]] = {}
    content = _Content()
    n = 0
    for row in rows:
        if rate_hz is not None and row["sample_rate_hz"] != rate_hz:
            row = _at_rate(row, rate_hz)
        config = f"{row['scenario']}-{row['language']}"
        first_hz, first_id = rates.setdefault(config, (row["sample_rate_hz"], row["id"]))
        if row["sample_rate_hz"] != first_hz:
            raise ReleaseError(
                f"{row['id']} has {row['sample_rate_hz']} Hz, {first_id} {first_hz} Hz; a configuration has one "
                "rate: give --rate HZ to resample"
            )
        _state_origin(row, origin)
        content.add(row)
        _with_stems(row, folder)
        row["checks"] = _measured(row, folder)
        path = partial / "rows" / f"{n:07d}.parquet"
        write_row(path, row)
        groups.setdefault((config, row["split"]), []).append(path)
        n += 1
        progress(n)
    if not groups:
        raise DuplexkitError(
            f"import {name}: its lists are there, but they name no sample: nothing to import"
        )
    facts: dict[str, dict[str, Any]] = {}
    for (config, split), paths in groups.items():
        scenario, _, language = config.partition("-")
        shards = write_split(
            folder / scenario / language, split, _rows(paths, content.digest), rates[config][0]
        )
        facts |= _facts(folder, shards, config, split)
    described = manifest(
        folder,
        recipe=_recipe(name, origin, rates, content.counts),
        recipe_digest=content.digest,
        shards=facts,
        n_rejected=0,
    )
    (folder / "rejects.jsonl").write_text("", encoding="utf-8")
    text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return n


def _state_origin(row: Row, origin: Origin) -> None:
    """Put into a row under which licence its sound and text are, and where they come from."""
    row["script"]["licence"] = row["provenance"]["engine_licence"] = origin.licence
    row["script"]["source"] = origin.source or row["script"]["source"]


def _measured(row: Row, folder: Path) -> Mapping[str, float | None]:
    """Return what was measured on a row: nothing where its labels point at no sound."""
    try:
        return check_row(row, Checks(), lambda sha256: read_stem(folder, sha256))[1]
    except AudioError:
        return dict.fromkeys(next(column.type for column in COLUMNS if column.name == "checks"))


def _rows(paths: list[Path], digest: str) -> Iterator[Row]:
    for path in paths:
        for row in read_rows(path):
            row["provenance"]["recipe_digest"] = digest
            yield row


def _facts(folder: Path, shards: list[Path], config: str, split: str) -> dict[str, dict[str, Any]]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    facts: dict[str, dict[str, Any]] = {}
    for shard in shards:
        durations = pq.read_table(shard, columns=["duration_s"])["duration_s"]
        facts[shard.relative_to(folder).as_posix()] = {
            "config": config,
            "split": split,
            "rows": len(durations),
            "seconds": pc.sum(durations).as_py(),
        }
    return facts


def _recipe(
    name: str,
    origin: Origin,
    rates: Mapping[str, tuple[int, str]],
    counts: Mapping[tuple[str, str, str, str, str], int],
) -> dict[str, Any]:
    """Return what stands for a recipe in the manifest: nothing was built; the entries say what came in."""
    splits: dict[tuple[str, str, str, str], dict[str, int]] = {}
    for (*entry, split), n in counts.items():
        splits.setdefault(tuple(entry), {})[split] = n  # type: ignore[arg-type]
    return {
        "source": "",
        "name": f"imported-{name}",
        "version": "0.1.0",
        "description": f"Imported from a folder of {name}; labels are those of the folder.",
        "seed": 0,
        "languages": sorted({config.partition("-")[2] for config in rates}),
        "sample_rate_hz": min(rate for rate, _ in rates.values()),
        "licence": origin.licence,
        "origin": asdict(origin),
        "scripts": "",
        "speech": {"engine": f"imported from {name}", "speed": [1.0, 1.0], "voices": {}},
        "checks": asdict(Checks()),
        "entries": [
            {
                "scenario": scenario,
                "preset": preset,
                "fdb_relation": relation,
                "count": sum(shares.values()),
                "languages": [language],
                "splits": {split: n / sum(shares.values()) for split, n in shares.items()},
                "tags": [],
                "values": {},
            }
            for (scenario, language, preset, relation), shares in splits.items()
        ],
    }


def _at_rate(row: Row, rate_hz: int) -> Row:
    """Return the row with its tracks at another rate."""
    tracks = tracks_at(row, rate_hz)
    cells = {
        name: {"bytes": to_flac(pcm, rate_hz), "path": row[name]["path"]} for name, pcm in tracks.items()
    }
    return {
        **row,
        **cells,
        "sample_rate_hz": rate_hz,
        "duration_s": tracks["input"].size / rate_hz,
    }


def _with_stems(row: Row, folder: Path) -> None:
    """Cut each turn out of its track, write it as a stem, and name it in the provenance."""
    rate_hz: int = row["sample_rate_hz"]
    starts = []
    for said in row["turns"]:
        cell = row["system"] if said["role"] == "system" else row["input"]
        samples = from_flac(cell)
        if samples is None:
            raise AudioError(f"{row['id']}: a turn of {said['role']} without a track of it")
        pcm = to_pcm16(samples)
        start = min(to_samples(said["onset_s"], rate_hz), pcm.size - 1)
        stem = np.ascontiguousarray(pcm[start : max(start + 1, to_samples(said["offset_s"], rate_hz))])
        sha256 = hashlib.sha256(stem.tobytes()).hexdigest()
        write_stem(folder, sha256, stem, rate_hz)
        row["provenance"]["turns"].append({"stem": sha256, "clip": None, "speed": None, "seed": None})
        starts.append(start)
    row["provenance"]["room"] = sound_record(starts)
