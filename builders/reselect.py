"""A built folder to the same samples in other splits, as a new folder."""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import RecipeError, ReleaseError
from ..scenarios.wanted_splits import WantedSplits, read_wanted_splits
from .out_folder import refuse_within
from .said import SAID, SPEECH
from .selection import Candidate, Selection, candidates_in, select, selection_facts, speakers_apart
from .stems import stem_path
from .write import read_rows, sha256_of, write_split


def load_wanted_splits(path: Path) -> WantedSplits:
    """Return the table [splits] of a TOML file.

    Raises
    ------
    RecipeError
        If the file is not there, is no TOML or has no such table.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: no valid TOML: {error}") from None
    if "splits" not in data:
        raise RecipeError(
            f"{path}: the table [splits] is missing; wanted for example [splits.test] with count = 100"
        )
    try:
        return read_wanted_splits(data["splits"])
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from None


def measured_values(folder: Path) -> dict[str, Mapping[str, float | None]]:
    """Return what `duplexkit check FOLDER --measure` left of each sample, by id; nothing where it never ran."""
    path = folder / "quality" / "values.jsonl"
    if not path.is_file():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["id"]: line["values"] for line in lines}


def reselect(
    folder: Path, wanted: WantedSplits, out: Path, *, describe: Callable[[Path], object]
) -> dict[str, Any]:
    """Write the samples of a built folder into `out`, split as wanted; return what `selection_facts` says.

    Values come from the `checks` column, and from ``quality/values.jsonl`` where a folder was measured later.
    Samples that are left out are so everywhere: what they said, their stems and their values stay behind. The
    recipe in the manifest has the new splits, and its digest is that of the old one with them.

    Raises
    ------
    RecipeError
        If the wishes cannot be met.
    ReleaseError
        If the folder is not a built one, or `out` exists.
    """
    if not (folder / "manifest.json").is_file():
        raise ReleaseError(f"{folder}: no finished dataset (there is no manifest.json); build it first")
    refuse_within(out, folder)
    if out.exists():
        raise ReleaseError(f"{out} exists; give another --out")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    later = measured_values(folder)
    candidates = [
        replace(c, values={**c.values, **later.get(c.id, {})})
        for c in candidates_in(folder / name for name in manifest["files"])
    ]
    selection = select(candidates, wanted, seed=manifest["recipe"]["seed"])
    facts = selection_facts(candidates, selection, wanted)
    beside = out.with_name(f"{out.name}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    files = _write(folder, beside, manifest, candidates, selection)
    _copy_stems(folder, beside, [folder / name for name in manifest["files"]], selection)
    _write_said(folder, beside, selection, speakers_apart(candidates, selection))
    _copy_quality(folder / "quality", beside / "quality", selection)
    splits = json.loads(json.dumps(asdict(wanted)))
    decided = json.dumps([manifest["recipe_digest"], splits], sort_keys=True)
    manifest["recipe_digest"] = hashlib.sha256(decided.encode()).hexdigest()
    manifest["recipe"]["splits"] = splits
    manifest["files"] = files
    for name in ("rejects.jsonl", "listening.json"):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, beside / name)
    known = folder / "quality.json"
    quality = json.loads(known.read_text(encoding="utf-8")) if known.is_file() else {}
    _write_json(beside / "quality.json", {**quality, "selection": facts})
    _write_json(beside / "manifest.json", manifest)
    describe(beside)
    beside.rename(out)
    return facts


def _write(
    folder: Path,
    out: Path,
    manifest: Mapping[str, Any],
    candidates: Sequence[Candidate],
    selection: Selection,
) -> dict[str, dict[str, Any]]:
    """Write the shards of each configuration and split; return their facts as the manifest has them."""
    sources: dict[str, list[Path]] = {}
    for name, facts in manifest["files"].items():
        sources.setdefault(facts["config"], []).append(folder / name)
    seconds = {candidate.id: candidate.length_s for candidate in candidates}
    written: dict[str, dict[str, Any]] = {}
    for config, paths in sources.items():
        scenario, _, language = config.partition("-")
        ids = {c.id for c in candidates if f"{c.scenario}-{c.language}" == config}
        for split in dict.fromkeys(selection.splits[id_] for id_ in sorted(ids) if id_ in selection.splits):
            mine = {id_ for id_ in ids if selection.splits.get(id_) == split}
            rate = manifest["recipe"]["sample_rate_hz"]
            for shard in write_split(out / scenario / language, split, _rows(paths, mine, split), rate):
                there = [row["id"] for row in _ids(shard)]
                written[shard.relative_to(out).as_posix()] = {
                    "sha256": sha256_of(shard),
                    "bytes": shard.stat().st_size,
                    "config": config,
                    "split": split,
                    "rows": len(there),
                    "seconds": sum(seconds[id_] for id_ in there),
                }
    return dict(sorted(written.items()))


def _rows(paths: Sequence[Path], ids: set[str], split: str) -> Iterator[dict[str, Any]]:
    for path in paths:
        for row in read_rows(path):
            if row["id"] in ids:
                row["split"] = split
                yield row


def _copy_stems(folder: Path, out: Path, shards: Sequence[Path], selection: Selection) -> None:
    """Copy the folder of stems, but for those that only left-out samples have."""
    import pyarrow.parquet as pq

    if not (folder / "stems").is_dir():
        return
    kept: set[Path] = set()
    every: set[Path] = set()
    for shard in shards:
        for row in pq.read_table(shard, columns=["id", "provenance"]).to_pylist():
            stems = {
                stem_path(out, turn["stem"]) for turn in row["provenance"]["turns"] or () if turn["stem"]
            }
            every |= stems
            kept |= stems if row["id"] in selection.splits else set()
    shutil.copytree(folder / "stems", out / "stems")
    for path in every - kept:
        path.unlink(missing_ok=True)


def _write_said(folder: Path, out: Path, selection: Selection, apart: Mapping[str, str]) -> None:
    """Write what the selected samples said, with their new splits, and how far apart the speakers are."""
    if (folder / SAID).is_file():
        with (
            (folder / SAID).open(encoding="utf-8") as lines,
            (out / SAID).open("w", encoding="utf-8") as file,
        ):
            for said in map(json.loads, lines):
                if said["id"] in selection.splits:
                    said["split"] = selection.splits[said["id"]]
                    file.write(json.dumps(said, ensure_ascii=False) + "\n")
    if (folder / SPEECH).is_file():
        facts = json.loads((folder / SPEECH).read_text(encoding="utf-8"))
        _write_json(out / SPEECH, {**facts, "speaker_disjoint": dict(apart)})


def _copy_quality(folder: Path, out: Path, selection: Selection) -> None:
    """Copy what was measured later of the selected samples; pages and errors of the whole folder stay behind."""
    if not (folder / "values.jsonl").is_file():
        return
    out.mkdir()
    with (folder / "values.jsonl").open(encoding="utf-8") as lines:
        values = [line for line in map(json.loads, lines) if line["id"] in selection.splits]
    with (out / "values.jsonl").open("w", encoding="utf-8") as file:
        for line in values:
            if "split" in line:
                line["split"] = selection.splits[line["id"]]
            file.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
    if (folder / "measures.json").is_file():
        shutil.copyfile(folder / "measures.json", out / "measures.json")


def _ids(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    rows: list[dict[str, Any]] = pq.read_table(path, columns=["id"]).to_pylist()
    return rows


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
