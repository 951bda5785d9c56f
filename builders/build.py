"""Recipe to folder: plan, speak, place, render, check and write every sample, in any number of processes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import AudioError, EngineError, RecipeError, ReleaseError, SpeechError, __version__
from ..acoustics.level import from_pcm16
from ..scenarios.conversation import Plan
from ..scenarios.recipe import Recipe, recipe_digest, row_digest
from .check import Finding, check_limits, check_row
from .engines import run_on
from .gates import findings_of, reasons_table
from .jobs import Job, jobs_of
from .judged import judge_sample, quality_facts
from .place import place
from .render import draw_acoustics, render
from .rows import to_row
from .said import Base, gather_said, ids_of, said_of, write_said, write_speech
from .sample import Sample
from .sayings import Voices, kept_of, planned, record_of
from .schema import SCHEMA_VERSION
from .seeds import rng_for
from .selection import candidates_in, select, selection_facts
from .speak import again
from .stems import stem_path, write_stem
from .workshop import Site, workshop
from .write import manifest, read_rows, write_row, write_split


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one sample; `n_kept` utterances were taken from an earlier build."""

    job: Job
    n_spoken: int
    n_cached: int
    n_kept: int = 0
    resumed: bool
    rejected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What a build did, for the summary."""

    folder: Path
    configs: dict[str, dict[str, float]]
    n_spoken: int
    n_cached: int
    n_kept: int
    n_resumed: int
    rejects: tuple[Outcome, ...]


def build(
    recipe: Recipe,
    out: Path,
    *,
    cache_dir: Path,
    workers: int,
    engine: str = "local",
    only: tuple[str, ...] = (),
    overwrite: bool = False,
    base: Base | None = None,
    describe: Callable[[Path], object],
    progress: Callable[[Outcome, int, int], None],
) -> BuildResult:
    """Build a recipe into the folder `out`, or go on where an earlier run stopped.

    Finished samples lie in ``<out>.partial`` until all are there; then the folder is written, `describe`
    writes its card, and it is renamed. Order, number of workers and `engine` change nothing. `base` is the
    build of which this one is a variant.

    Raises
    ------
    RecipeError
        If the recipe asks for what is not there.
    ReleaseError
        If `out` exists and `overwrite` is not given, another build is at it, or too many samples were bad.
    """
    if out.exists() and not overwrite:
        raise ReleaseError(f"{out} exists; give another --out, or --overwrite to replace it")
    jobs = jobs_of(recipe, only)
    partial_dir = out.with_name(f"{out.name}.partial")
    if base is not None and base.same_ids:
        there = set(ids_of(base.folder))
        jobs = tuple(job for job in jobs if job.id in there)
    site = Site(recipe=recipe, cache_dir=cache_dir, partial=partial_dir, base=base)
    for job in _first_of_each(jobs):  # a recipe that cannot be planned fails before anything is written
        planned(site, job)
    with _claimed(partial_dir):
        outcomes: dict[str, Outcome] = {}
        longest_first = sorted(jobs, key=lambda job: -job.n_characters)  # no worker is left with one
        for outcome in run_on(engine, partial(build_sample, site), longest_first, workers):
            outcomes[outcome.job.id] = outcome
            progress(outcome, len(outcomes), len(jobs))
        ordered = [outcomes[job.id] for job in jobs]
        rejects = tuple(outcome for outcome in ordered if outcome.rejected)
        limit = recipe.checks.max_rejected_fraction
        if len(rejects) > limit * len(jobs):
            table = reasons_table([_reject_of(site, outcome.job) for outcome in rejects])
            raise ReleaseError(
                f"{len(rejects)} of {len(jobs)} samples were rejected, more than "
                f"checks.max_rejected_fraction = {limit:g}:\n{table}\n"
                f"What is good stays in {partial_dir}; mend the scripts or the limits and build again"
            )
        configs = _assemble(site, ordered, describe)
        _put_in_place(partial_dir / "dataset", out)
        shutil.rmtree(partial_dir)
    return BuildResult(
        folder=out,
        configs=configs,
        n_spoken=sum(o.n_spoken for o in ordered),
        n_cached=sum(o.n_cached for o in ordered),
        n_kept=sum(o.n_kept for o in ordered),
        n_resumed=sum(o.resumed for o in ordered),
        rejects=rejects,
    )


def _first_of_each(jobs: tuple[Job, ...]) -> list[Job]:
    return list({job.config: job for job in reversed(jobs)}.values())


@contextmanager
def _claimed(partial_dir: Path) -> Iterator[None]:
    """Hold the unfinished folder for this build alone."""
    from filelock import FileLock, Timeout

    try:
        partial_dir.mkdir(parents=True, exist_ok=True)
        lock = FileLock(partial_dir / ".lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise ReleaseError(
            f"another build is writing {partial_dir}; wait for it, or give another --out"
        ) from None
    except OSError as error:
        raise RecipeError(f"--out: {partial_dir.parent} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def _key(site: Site, job: Job) -> str:
    """Return what names a finished sample: everything that decides its row."""
    digest = row_digest(site.recipe, site.recipe.entries[job.entry])
    pools = workshop(site)[1].pools[job.split][job.language]
    voices = {role.value: [voice.id for voice in pool] for role, pool in pools.items()}
    text = f"{job.id}\x1f{job.split}\x1f{digest}\x1f{__version__}\x1f{SCHEMA_VERSION}\x1f{voices}"
    if site.base is not None:
        text += f"\x1f{site.base.digest}\x1f{site.base.other_voices}"
    return hashlib.sha256(text.encode()).hexdigest()


def _row_path(site: Site, job: Job) -> Path:
    key = _key(site, job)
    return site.partial / "rows" / key[:2] / f"{key}.parquet"


def build_sample(site: Site, job: Job) -> Outcome:
    """Build one sample, unless an earlier run did; leave its row, its stems or its reasons on disk."""
    path = _row_path(site, job)
    reject = path.with_suffix(".reject.json")
    if path.exists():
        return Outcome(job=job, n_spoken=0, n_cached=0, resumed=True, rejected="")
    if reject.exists():
        reasons = _reject_of(site, job)["attempts"][-1]["reasons"]
        return Outcome(job=job, n_spoken=0, n_cached=0, resumed=True, rejected="; ".join(reasons))
    counts = {"spoken": 0, "cached": 0, "kept": 0}
    clips: dict[str, None] = {}

    def count(what: str) -> None:
        counts[what] += 1

    failed: list[dict[str, Any]] = []
    plan = planned(site, job)
    kept = kept_of(site, job)
    tries = (0,) * len(plan.turns)  # how often each turn was spoken before
    if kept is not None and len(kept.tries) == len(plan.turns):
        tries = kept.tries
    for attempt in range(site.recipe.checks.attempts):
        voices = Voices(site=site, job=job, kept=kept, count=count, note_clip=clips.setdefault)
        try:
            sample, row, findings, turns = _attempt(site, job, plan, tries, voices)
        except EngineError:
            raise
        except (SpeechError, AudioError) as error:
            failed.append({"attempt": attempt, "reasons": [str(error)], "findings": [], "stems": []})
            tries = tuple(n + 1 for n in tries)
            continue
        row["provenance"]["attempt"] = attempt
        if not findings:
            for utterance in sample.utterances:
                write_stem(site.partial, utterance.sha256, utterance.pcm, utterance.sample_rate_hz)
            write_said(path.with_suffix(".said.json"), record_of(site, job, plan, sample, tries, clips, kept))
            write_row(path, row)
            return Outcome(
                job=job,
                n_spoken=counts["spoken"],
                n_cached=counts["cached"],
                n_kept=counts["kept"],
                resumed=False,
                rejected="",
            )
        failed.append(
            {
                "attempt": attempt,
                "reasons": [str(finding) for finding in findings],
                "findings": findings_of(findings),
                "stems": [u.sha256 for u in sample.utterances],
            }
        )
        if counts["kept"] == len(plan.turns):
            break  # what was said stays as it is: to speak it anew would change more than was asked
        tries = tuple(n + (turns is None or i in turns) for i, n in enumerate(tries))
    reject.parent.mkdir(parents=True, exist_ok=True)
    beside = reject.with_suffix(f".{os.getpid()}.tmp")
    rejected = {
        "id": job.id,
        "attempts": failed,
        "clips": [f"{site.recipe.speech.engine}/{c}" for c in clips],
    }
    beside.write_text(json.dumps(rejected, ensure_ascii=False), encoding="utf-8")
    beside.replace(reject)
    return Outcome(
        job=job,
        n_spoken=counts["spoken"],
        n_cached=counts["cached"],
        n_kept=counts["kept"],
        resumed=False,
        rejected="; ".join(failed[-1]["reasons"]),
    )


def _reject_of(site: Site, job: Job) -> dict[str, Any]:
    """Return why an earlier run rejected a sample."""
    path = _row_path(site, job).with_suffix(".reject.json")
    reject: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return reject


def _attempt(
    site: Site, job: Job, plan: Plan, tries: tuple[int, ...], voices: Voices
) -> tuple[Sample, dict[str, Any], list[Finding], frozenset[int] | None]:
    """Return the sample with each turn at its try, its row, what is wrong with it, and which turns (None: all)."""
    recipe = site.recipe
    _, _, quality = workshop(site)
    plan = replace(plan, turns=tuple(again(turn, n) for turn, n in zip(plan.turns, tries, strict=True)))
    utterances = tuple(voices.say(turn, i, tries[i]) for i, turn in enumerate(plan.turns))
    timeline = place(plan, tuple(u.shape for u in utterances), sample_rate_hz=recipe.sample_rate_hz)
    acoustics = draw_acoustics(plan, partial(rng_for, recipe.seed, job.id))
    sample = render(plan, timeline, utterances, acoustics)
    findings = check_limits(sample)
    row = to_row(sample, recipe_digest=row_digest(recipe, recipe.entries[job.entry]), attempt=max(tries))
    stems = {utterance.sha256: from_pcm16(utterance.pcm) for utterance in utterances}
    more, measured = check_row(row, recipe.checks, stems.__getitem__)
    verdict, values = judge_sample(sample, quality)
    row["checks"] = measured | values
    turns = None if findings or more else verdict.turns
    return sample, row, [*findings, *more, *verdict.findings], turns


def _assemble(
    site: Site, outcomes: list[Outcome], describe: Callable[[Path], object]
) -> dict[str, dict[str, float]]:
    """Write the finished samples as a dataset folder beside the rows; return samples and hours per config."""
    folder = site.partial / "dataset"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    facts: dict[str, dict[str, Any]] = {}
    configs: dict[str, dict[str, float]] = {}
    groups: dict[tuple[str, str], list[Job]] = {}
    good = [outcome.job for outcome in outcomes if not outcome.rejected]
    splits, selected = _splits(site, good)
    for job in good:
        if job.id in splits:
            groups.setdefault((job.config, splits[job.id]), []).append(job)
    for (config, split), jobs in groups.items():
        scenario, _, language = config.partition("-")
        counted = {"rows": 0.0, "seconds": 0.0}
        place_of = folder / scenario / language
        shards = write_split(
            place_of, split, _rows(site, jobs, split, folder, counted), site.recipe.sample_rate_hz
        )
        for shard in shards:
            facts[shard.relative_to(folder).as_posix()] = {"config": config, "split": split, **_facts(shard)}
        total = configs.setdefault(config, {"samples": 0, "hours": 0.0})
        total["samples"] += counted["rows"]
        total["hours"] += counted["seconds"] / 3600
    ordered = [job for job in good if job.id in splits]
    gather_said(folder, [(_row_path(site, job).with_suffix(".said.json"), splits[job.id]) for job in ordered])
    speaker, company, _ = workshop(site)
    write_speech(folder, site.recipe, speaker, {"speaker_disjoint": company.disjoint})
    rejected = [outcome for outcome in outcomes if outcome.rejected]
    lines = [
        _row_path(site, outcome.job).with_suffix(".reject.json").read_text(encoding="utf-8")
        for outcome in rejected
    ]
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
    )
    (folder / "manifest.json").write_text(
        json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    describe(folder)
    return configs


def _splits(site: Site, jobs: list[Job]) -> tuple[dict[str, str], dict[str, Any] | None]:
    """Return the split of each sample that goes out, and what a card says of their selection."""
    base, wanted = site.base, site.recipe.splits
    if base is not None and base.same_ids:  # a sample stays in the split it was in
        before = {job.id: said_of(base.folder, job.id) for job in jobs}
        return {id_: said.split for id_, said in before.items() if said is not None}, None
    if wanted is None:
        return {job.id: job.split for job in jobs}, None
    candidates = candidates_in(_row_path(site, job) for job in jobs)
    selection = select(candidates, wanted, seed=site.recipe.seed)
    return dict(selection.splits), selection_facts(candidates, selection, wanted)


def _rows(
    site: Site, jobs: list[Job], split: str, folder: Path, counted: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the jobs in order, and give the folder their stems."""
    for job in jobs:
        (row,) = read_rows(_row_path(site, job))
        row["split"] = split
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


def _put_in_place(done: Path, out: Path) -> None:
    """Give the finished folder its name; an old one goes only when the new one stands."""
    old = out.with_name(f"{out.name}.replaced")
    if out.exists():
        shutil.rmtree(old, ignore_errors=True)
        out.rename(old)
    done.rename(out)
    shutil.rmtree(old, ignore_errors=True)
