"""Finished samples to a dataset folder: shards, manifest, rejects, and what describes them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from ..scenarios.recipe import recipe_digest, row_digest
from .candidates import candidates_in
from .finished import reject_path, row_path, said_path
from .jobs import Job
from .judged import quality_facts
from .said import gather_said, said_of
from .said_speech import write_speech
from .selection import select, selection_facts
from .stems import stem_path
from .workshop import Site, workshop
from .write import manifest, read_rows, write_split


class Finished(Protocol):
    """A sample that is done: its key, and why it was rejected (empty: it was not)."""

    @property
    def job(self) -> Job:
        """Return the sample's job."""
        ...

    @property
    def key(self) -> str:
        """Return what names it."""
        ...

    @property
    def rejected(self) -> str:
        """Return the reason, or nothing."""
        ...


def assemble(
    site: Site, outcomes: Sequence[Finished], describe: Callable[[Path], object]
) -> dict[str, dict[str, float]]:
    """Write the finished samples as a dataset folder beside the rows; return samples and hours per config."""
    folder = site.partial / "dataset"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    facts: dict[str, dict[str, Any]] = {}
    configs: dict[str, dict[str, float]] = {}
    groups: dict[tuple[str, str], list[Path]] = {}
    digests: dict[str, str] = {}
    good = [outcome for outcome in outcomes if not outcome.rejected]
    splits, selected = _splits(site, good)
    for outcome in good:
        job = outcome.job
        if job.id in splits:
            groups.setdefault((job.config, splits[job.id]), []).append(row_path(site, outcome.key))
            digests[job.config] = row_digest(site.recipe, site.recipe.entries[job.entry])
    for (config, split), paths in groups.items():
        scenario, _, language = config.partition("-")
        counted = {"rows": 0.0, "seconds": 0.0}
        rows = _rows(site, paths, split, digests[config], counted)
        shards = write_split(folder / scenario / language, split, rows, site.recipe.sample_rate_hz)
        for shard in shards:
            facts[shard.relative_to(folder).as_posix()] = {"config": config, "split": split, **_facts(shard)}
        total = configs.setdefault(config, {"samples": 0, "hours": 0.0})
        total["samples"] += counted["rows"]
        total["hours"] += counted["seconds"] / 3600
    gather_said(folder, [(said_path(site, o.key), splits[o.job.id]) for o in good if o.job.id in splits])
    speaker, company, _ = workshop(site)
    write_speech(folder, site.recipe, speaker, {"speaker_disjoint": company.disjoint})
    rejected = [outcome for outcome in outcomes if outcome.rejected]
    lines = [reject_path(site, outcome.key).read_text(encoding="utf-8") for outcome in rejected]
    (folder / "rejects.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "quality.json").write_text(
        json.dumps({**quality_facts(workshop(site)[2]), "selection": selected}, indent=1, ensure_ascii=False)
        + "\n",
        encoding="utf-8",
    )
    described = manifest(
        folder,
        recipe=json.loads(json.dumps(asdict(replace(site.recipe, source="", scripts=Path())), default=str)),
        recipe_digest=recipe_digest(site.recipe),
        shards=facts,
        n_rejected=len(rejected),
        variant_of=None if site.base is None else site.base.variant_of,
    )
    (folder / "manifest.json").write_text(
        json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    describe(folder)
    return configs


def _splits(site: Site, good: Sequence[Finished]) -> tuple[dict[str, str], dict[str, Any] | None]:
    """Return the split of each sample that goes out, and what a card says of their selection."""
    base, wanted = site.base, site.recipe.splits
    if base is not None and base.same_ids:  # a sample stays in the split it was in
        before = {o.job.id: said_of(base.folder, o.job.id) for o in good}
        return {id_: said.split for id_, said in before.items() if said is not None}, None
    if wanted is None:
        return {o.job.id: o.job.split for o in good}, None
    candidates = candidates_in(row_path(site, o.key) for o in good)
    selection = select(candidates, wanted, seed=site.recipe.seed)
    return dict(selection.splits), selection_facts(candidates, selection, wanted)


def _rows(
    site: Site, paths: list[Path], split: str, digest: str, counted: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """Yield the rows in order, with the split and the recipe's digest as they are now, and give out their stems."""
    folder = site.partial / "dataset"
    for path in paths:
        (row,) = read_rows(path)
        row["split"] = split
        row["provenance"]["recipe_digest"] = digest  # a row is kept where a gate has changed that it passes
        counted["rows"] += 1
        counted["seconds"] += row["duration_s"]
        for made in row["provenance"]["turns"]:
            target = stem_path(folder, made["stem"])
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(stem_path(site.partial, made["stem"]), target)
        yield row


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or a copy where the file system knows no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _facts(shard: Path) -> dict[str, Any]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    durations = pq.read_table(shard, columns=["duration_s"])["duration_s"]
    return {"rows": len(durations), "seconds": pc.sum(durations).as_py()}
