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
from ..scenarios.text_file import read_text
from ..scenarios.wanted_splits import WantedSplits, read_wanted_splits
from .built import MANIFEST, Built, open_built
from .candidates import Candidate, Selection, candidates_in
from .out_folder import fresh, partial_of, put_in_place, refuse_within
from .parquet_file import columns_of
from .said import SAID, all_said
from .said_speech import SPEECH, read_speech
from .selected_speakers import speakers_apart
from .selection import select, selection_facts
from .side_files import QUALITY, REJECTS, read_quality, read_values
from .stems import stem_path
from .write import read_rows, sha256_of, write_split

_AS_THEY_ARE = (REJECTS, "ATTRIBUTION.txt")
"""What stands beside the shards and goes along unchanged. Ratings do not: they are of the whole dataset."""


def load_wanted_splits(path: Path) -> WantedSplits:
    """Return the table [splits] of a TOML file.

    Raises
    ------
    RecipeError
        If the file is not there, is no TOML or has no such table.
    """
    try:
        data = tomllib.loads(read_text(path, error=RecipeError))
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
        If the folder is not a built one, is damaged, or `out` exists.
    """
    built = open_built(folder)
    partial_of(out)  # it needs a name
    refuse_within(out, folder)
    if out.exists():
        raise ReleaseError(f"{out} exists; give another --out")
    later, quality = read_values(folder), read_quality(folder)
    candidates = [
        replace(c, values={**c.values, **later.get(c.id, {})})
        for c in candidates_in(shard.path for shard in built.shards)
    ]
    selection = select(candidates, wanted, seed=built.manifest["recipe"]["seed"])
    facts = selection_facts(candidates, selection, wanted)
    with fresh(out) as partial:
        beside = partial / "dataset"
        beside.mkdir()
        files = _write(built, beside, candidates, selection)
        _copy_stems(built, beside, selection)
        _write_said(folder, beside, selection, speakers_apart(candidates, selection))
        _copy_quality(folder / "quality", beside / "quality", selection)
        for name in _AS_THEY_ARE:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, beside / name)
        _write_json(beside / QUALITY, {**quality, "selection": facts})
        _write_json(beside / MANIFEST, _reselected(built.manifest, wanted, files))
        describe(beside)
        put_in_place(beside, out)
    return facts


def _reselected(
    manifest: Mapping[str, Any], wanted: WantedSplits, files: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the manifest with the new splits and files; its digest is that of the old one with the splits."""
    splits = json.loads(json.dumps(asdict(wanted)))
    decided = json.dumps([manifest["recipe_digest"], splits], sort_keys=True)
    return {
        **manifest,
        "recipe": {**manifest["recipe"], "splits": splits},
        "recipe_digest": hashlib.sha256(decided.encode()).hexdigest(),
        "files": files,
    }


def _write(
    built: Built, out: Path, candidates: Sequence[Candidate], selection: Selection
) -> dict[str, dict[str, Any]]:
    """Write the shards of each configuration and split; return their facts as the manifest has them."""
    sources: dict[str, list[Path]] = {}
    for source in built.shards:
        sources.setdefault(source.config, []).append(source.path)
    rate = built.manifest["recipe"]["sample_rate_hz"]
    seconds = {candidate.id: candidate.length_s for candidate in candidates}
    written: dict[str, dict[str, Any]] = {}
    for config, paths in sources.items():
        scenario, _, language = config.partition("-")
        ids = {c.id for c in candidates if f"{c.scenario}-{c.language}" == config}
        for split in dict.fromkeys(selection.splits[id_] for id_ in sorted(ids) if id_ in selection.splits):
            mine = {id_ for id_ in ids if selection.splits.get(id_) == split}
            for shard in write_split(out / scenario / language, split, _rows(paths, mine, split), rate):
                there = [row["id"] for row in columns_of(shard, ["id"])]
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


def _copy_stems(built: Built, out: Path, selection: Selection) -> None:
    """Copy the folder of stems, but for those that only left-out samples have."""
    stems_of_build = built.folder / "stems"
    if not stems_of_build.is_dir():
        return
    kept: set[Path] = set()
    every: set[Path] = set()
    for shard in built.shards:
        for row in columns_of(shard.path, ["id", "provenance"]):
            stems = {
                stem_path(out, turn["stem"]) for turn in row["provenance"]["turns"] or () if turn["stem"]
            }
            every |= stems
            kept |= stems if row["id"] in selection.splits else set()
    shutil.copytree(stems_of_build, out / "stems")
    for path in every - kept:
        path.unlink(missing_ok=True)


def _write_said(folder: Path, out: Path, selection: Selection, apart: Mapping[str, str]) -> None:
    """Write what the selected samples said, with their new splits, and how far apart the speakers are."""
    if (folder / SAID).exists():
        with (out / SAID).open("w", encoding="utf-8") as file:
            for said in all_said(folder):
                if said.id in selection.splits:
                    kept = {**asdict(said), "split": selection.splits[said.id]}
                    file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    if (folder / SPEECH).exists():
        _write_json(out / SPEECH, {**read_speech(folder), "speaker_disjoint": dict(apart)})


def _copy_quality(folder: Path, out: Path, selection: Selection) -> None:
    """Copy what was measured later of the selected samples; pages and errors of the whole folder stay behind."""
    if not (folder / "values.jsonl").is_file():
        return
    out.mkdir()
    with (folder / "values.jsonl").open(encoding="utf-8") as lines:  # read and checked before
        values = [line for line in map(json.loads, lines) if line["id"] in selection.splits]
    with (out / "values.jsonl").open("w", encoding="utf-8") as file:
        for line in values:
            if "split" in line:
                line["split"] = selection.splits[line["id"]]
            file.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
    if (folder / "measures.json").is_file():
        shutil.copyfile(folder / "measures.json", out / "measures.json")


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
