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
from .cast import Pools, voice_pools
from .check import Finding, check_limits, check_row
from .engines import run_on
from .gates import findings_of, reasons_table
from .jobs import Job, jobs_of, plan_of
from .judged import QualityPlan, judge_sample, quality_facts, quality_plan
from .place import place
from .render import draw_acoustics, render
from .sample import Sample
from .schema import SCHEMA_VERSION, to_row
from .seeds import rng_for
from .speak import again, speak_turn
from .speakers import Speaker, make_speaker
from .stems import stem_path, write_stem
from .write import manifest, read_rows, write_row, write_split


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one sample."""

    job: Job
    n_spoken: int
    n_cached: int
    resumed: bool
    rejected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What a build did, for the summary."""

    folder: Path
    configs: dict[str, dict[str, float]]
    n_spoken: int
    n_cached: int
    n_resumed: int
    rejects: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    """What every process needs to know: the recipe, and where things lie."""

    recipe: Recipe
    cache_dir: Path
    partial: Path


_workshops: dict[str, tuple[Speaker, Pools, QualityPlan]] = {}


def _workshop(site: _Site) -> tuple[Speaker, Pools, QualityPlan]:
    """Return this process's speaker, its voices and what is measured; an engine is opened once in a process."""
    key = f"{recipe_digest(site.recipe)} {site.cache_dir}"
    if key not in _workshops:
        speech = site.recipe.speech
        folder = Path(site.recipe.source).parent
        try:
            speaker = make_speaker(speech.engine, site.cache_dir, speech.options, folder)
        except EngineError:
            raise
        except (RecipeError, SpeechError) as error:
            raise RecipeError(f"{site.recipe.source}: {error}") from None
        quality = quality_plan(site.recipe, site.cache_dir)
        _workshops[key] = speaker, voice_pools(site.recipe, speaker), quality
    return _workshops[key]


def build(
    recipe: Recipe,
    out: Path,
    *,
    cache_dir: Path,
    workers: int,
    engine: str = "local",
    only: tuple[str, ...] = (),
    overwrite: bool = False,
    describe: Callable[[Path], None],
    progress: Callable[[Outcome, int, int], None],
) -> BuildResult:
    """Build a recipe into the folder `out`, or go on where an earlier run stopped.

    Finished samples lie in ``<out>.partial`` until all are there; then the folder is written, `describe`
    writes its card, and it is renamed. Order, number of workers and `engine` change nothing.

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
    site = _Site(recipe=recipe, cache_dir=cache_dir, partial=partial_dir)
    _, pools, _ = _workshop(site)
    for job in _first_of_each(jobs):  # a recipe that cannot be planned fails before anything is written
        plan_of(recipe, job, pools)
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


def _key(site: _Site, job: Job) -> str:
    """Return what names a finished sample: everything that decides its row."""
    digest = row_digest(site.recipe, site.recipe.entries[job.entry])
    text = f"{job.id}\x1f{job.split}\x1f{digest}\x1f{__version__}\x1f{SCHEMA_VERSION}"
    return hashlib.sha256(text.encode()).hexdigest()


def _row_path(site: _Site, job: Job) -> Path:
    key = _key(site, job)
    return site.partial / "rows" / key[:2] / f"{key}.parquet"


def build_sample(site: _Site, job: Job) -> Outcome:
    """Build one sample, unless an earlier run did; leave its row, its stems or its reasons on disk."""
    path = _row_path(site, job)
    reject = path.with_suffix(".reject.json")
    if path.exists():
        return Outcome(job=job, n_spoken=0, n_cached=0, resumed=True, rejected="")
    if reject.exists():
        reasons = _reject_of(site, job)["attempts"][-1]["reasons"]
        return Outcome(job=job, n_spoken=0, n_cached=0, resumed=True, rejected="; ".join(reasons))
    counts = {"spoken": 0, "cached": 0}

    def count(what: str) -> None:
        counts[what] += 1

    failed: list[dict[str, Any]] = []
    plan = plan_of(site.recipe, job, _workshop(site)[1])
    tries = (0,) * len(plan.turns)  # how often each turn was spoken before
    for attempt in range(site.recipe.checks.attempts):
        try:
            sample, row, findings, turns = _attempt(site, job, plan, tries, count)
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
            write_row(path, row)
            return Outcome(
                job=job, n_spoken=counts["spoken"], n_cached=counts["cached"], resumed=False, rejected=""
            )
        failed.append(
            {
                "attempt": attempt,
                "reasons": [str(finding) for finding in findings],
                "findings": findings_of(findings),
                "stems": [u.sha256 for u in sample.utterances],
            }
        )
        tries = tuple(n + (turns is None or i in turns) for i, n in enumerate(tries))
    reject.parent.mkdir(parents=True, exist_ok=True)
    beside = reject.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(json.dumps({"id": job.id, "attempts": failed}, ensure_ascii=False), encoding="utf-8")
    beside.replace(reject)
    return Outcome(
        job=job,
        n_spoken=counts["spoken"],
        n_cached=counts["cached"],
        resumed=False,
        rejected="; ".join(failed[-1]["reasons"]),
    )


def _reject_of(site: _Site, job: Job) -> dict[str, Any]:
    """Return why an earlier run rejected a sample."""
    path = _row_path(site, job).with_suffix(".reject.json")
    reject: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return reject


def _attempt(
    site: _Site, job: Job, plan: Plan, tries: tuple[int, ...], count: Callable[[str], None]
) -> tuple[Sample, dict[str, Any], list[Finding], frozenset[int] | None]:
    """Return the sample with each turn at its try, its row, what is wrong with it, and which turns (None: all)."""
    recipe = site.recipe
    speaker, _, quality = _workshop(site)
    plan = replace(plan, turns=tuple(again(turn, n) for turn, n in zip(plan.turns, tries, strict=True)))
    voices = speaker.voices()
    utterances = tuple(
        speak_turn(
            turn,
            language=plan.language,
            voice=voices[turn.voice],
            speaker=speaker,
            cache_dir=site.cache_dir,
            seed=int(rng_for(recipe.seed, job.id, f"speech/{tries[i]}/{i}").integers(2**31)),
            sample_rate_hz=recipe.sample_rate_hz,
            count=count,
        )
        for i, turn in enumerate(plan.turns)
    )
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
    site: _Site, outcomes: list[Outcome], describe: Callable[[Path], None]
) -> dict[str, dict[str, float]]:
    """Write the finished samples as a dataset folder beside the rows; return samples and hours per config."""
    folder = site.partial / "dataset"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    facts: dict[str, dict[str, Any]] = {}
    configs: dict[str, dict[str, float]] = {}
    groups: dict[tuple[str, str], list[Job]] = {}
    for outcome in outcomes:
        if not outcome.rejected:
            groups.setdefault((outcome.job.config, outcome.job.split), []).append(outcome.job)
    for (config, split), jobs in groups.items():
        scenario, _, language = config.partition("-")
        counted = {"rows": 0.0, "seconds": 0.0}
        place_of = folder / scenario / language
        shards = write_split(place_of, split, _rows(site, jobs, folder, counted), site.recipe.sample_rate_hz)
        for shard in shards:
            facts[shard.relative_to(folder).as_posix()] = {"config": config, "split": split, **_facts(shard)}
        total = configs.setdefault(config, {"samples": 0, "hours": 0.0})
        total["samples"] += counted["rows"]
        total["hours"] += counted["seconds"] / 3600
    rejected = [outcome for outcome in outcomes if outcome.rejected]
    lines = [
        _row_path(site, outcome.job).with_suffix(".reject.json").read_text(encoding="utf-8")
        for outcome in rejected
    ]
    (folder / "rejects.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "quality.json").write_text(
        json.dumps(quality_facts(_workshop(site)[2]), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
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


def _rows(site: _Site, jobs: list[Job], folder: Path, counted: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the jobs in order, and give the folder their stems."""
    for job in jobs:
        (row,) = read_rows(_row_path(site, job))
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
