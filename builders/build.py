"""Recipe to folder: plan, speak, place, render, check and write every sample, in any number of processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import AudioError, EngineError, ReleaseError, SpeechError
from ..acoustics.level import from_pcm16
from ..scenarios.conversation import Plan
from ..scenarios.recipe import Recipe, row_digest
from ..whole_file import put_text
from .assemble import assemble
from .check import Finding, check_limits, check_row
from .decided import read_decided, still_holds, write_decided
from .engines import run_on
from .finished import read_reject, reject_path, row_path, said_path, sample_key
from .foresee import refuse_impossible
from .gates import findings_of, reasons_table
from .jobs import Job, jobs_of
from .judged import judge_sample
from .out_folder import claimed, clear, partial_of, put_in_place, refuse_taken
from .place import place
from .quality.sample_values import SampleQuality
from .render import draw_acoustics, render
from .rows import to_row
from .said import Base, ids_of, write_said
from .sample import Sample
from .sayings import Voices, kept_of, planned, record_of
from .seeds import rng_for
from .speak import again
from .stems import write_stem
from .stopping import going_on
from .workshop import Site, workshop
from .write import write_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one sample; `n_kept` utterances were taken from an earlier build."""

    job: Job
    key: str
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
    refuse_taken(out, overwrite=overwrite)
    jobs = jobs_of(recipe, only)
    partial_dir = partial_of(out)
    if base is not None and base.same_ids:
        there = set(ids_of(base.folder))
        jobs = tuple(job for job in jobs if job.id in there)
    site = Site(recipe=recipe, cache_dir=cache_dir, partial=partial_dir, base=base)
    for job in _first_of_each(jobs):  # a recipe that cannot be planned fails before anything is written
        planned(site, job)
    refuse_impossible(site, jobs)
    with claimed(partial_dir), going_on(f"finished samples are in {partial_dir}"):
        refuse_taken(out, overwrite=overwrite)  # another build may have finished while this one planned
        outcomes: dict[str, Outcome] = {}
        longest_first = sorted(jobs, key=lambda job: -job.n_characters)  # no worker is left with one
        with closing(run_on(engine, partial(build_sample, site), longest_first, workers)) as made:
            for outcome in made:
                outcomes[outcome.job.id] = outcome
                progress(outcome, len(outcomes), len(jobs))
        ordered = [outcomes[job.id] for job in jobs]
        rejects = tuple(outcome for outcome in ordered if outcome.rejected)
        limit = recipe.checks.max_rejected_fraction
        if len(rejects) > limit * len(jobs):
            table = reasons_table([read_reject(site, outcome.key) for outcome in rejects])
            raise ReleaseError(
                f"{len(rejects)} of {len(jobs)} samples were rejected, more than "
                f"checks.max_rejected_fraction = {limit:g}:\n{table}\n"
                f"What is good stays in {partial_dir}; mend the scripts or the limits and build again"
            )
        configs = assemble(site, ordered, describe)
        put_in_place(partial_dir / "dataset", out)
        clear(partial_dir)
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


def build_sample(site: Site, job: Job) -> Outcome:
    """Build one sample, unless an earlier run did; leave its row, its stems or its reasons on disk."""
    plan = planned(site, job)
    key = sample_key(site, job, plan)
    path, reject = row_path(site, key), reject_path(site, key)
    if (path.exists() or reject.exists()) and still_holds(site, job, read_decided(site, key)):
        reasons = "" if path.exists() else "; ".join(read_reject(site, key)["attempts"][-1]["reasons"])
        return Outcome(job=job, key=key, n_spoken=0, n_cached=0, resumed=True, rejected=reasons)
    for stale in (path, reject):  # limits have changed since: try again
        stale.unlink(missing_ok=True)
    counts = {"spoken": 0, "cached": 0, "kept": 0}
    clips: dict[str, None] = {}

    def count(what: str) -> None:
        counts[what] += 1

    failed: list[dict[str, Any]] = []
    kept = kept_of(site, job)
    tries = (0,) * len(plan.turns)  # how often each turn was spoken before
    if kept is not None and len(kept.tries) == len(plan.turns):
        tries = kept.tries
    for attempt in range(site.recipe.checks.attempts):
        counts["kept"] = 0
        voices = Voices(site=site, job=job, kept=kept, count=count, note_clip=clips.setdefault)
        try:
            tried = _attempt(site, job, plan, tries, voices)
        except EngineError:
            raise
        except (SpeechError, AudioError) as error:
            failed.append({"attempt": attempt, "reasons": [str(error)], "findings": [], "stems": []})
            tries = tuple(n + 1 for n in tries)
            continue
        tried.row["provenance"]["attempt"] = attempt
        if not tried.findings:
            for utterance in tried.sample.utterances:
                write_stem(site.partial, utterance.sha256, utterance.pcm, utterance.sample_rate_hz)
            write_said(said_path(site, key), record_of(site, job, plan, tried.sample, tries, clips, kept))
            write_decided(site, job, key, attempt=attempt, quality=tried.quality)
            write_row(path, tried.row)
            return Outcome(
                job=job,
                key=key,
                n_spoken=counts["spoken"],
                n_cached=counts["cached"],
                n_kept=counts["kept"],
                resumed=False,
                rejected="",
            )
        failed.append(
            {
                "attempt": attempt,
                "reasons": [str(finding) for finding in tried.findings],
                "findings": findings_of(tried.findings),
                "stems": [u.sha256 for u in tried.sample.utterances],
            }
        )
        if counts["kept"] == len(plan.turns):
            break  # what was said stays as it is: to speak it anew would change more than was asked
        tries = tuple(n + (tried.turns is None or i in tried.turns) for i, n in enumerate(tries))
    rejected = {
        "id": job.id,
        "attempts": failed,
        "clips": [f"{site.recipe.speech.engine}/{c}" for c in clips],
    }
    write_decided(site, job, key)
    put_text(reject, json.dumps(rejected, ensure_ascii=False))
    return Outcome(
        job=job,
        key=key,
        n_spoken=counts["spoken"],
        n_cached=counts["cached"],
        n_kept=counts["kept"],
        resumed=False,
        rejected="; ".join(failed[-1]["reasons"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """One attempt: the sample, its row, what was measured, what is wrong with it, and which turns (None: all)."""

    sample: Sample
    row: dict[str, Any]
    quality: SampleQuality
    findings: tuple[Finding, ...]
    turns: frozenset[int] | None


def _attempt(site: Site, job: Job, plan: Plan, tries: tuple[int, ...], voices: Voices) -> _Tried:
    """Return the sample with each turn at its try, looked at from all sides."""
    recipe = site.recipe
    speaker, _, quality = workshop(site)
    plan = replace(
        plan, turns=tuple(again(turn, n, speaker) for turn, n in zip(plan.turns, tries, strict=True))
    )
    utterances = tuple(voices.say(turn, i, tries[i]) for i, turn in enumerate(plan.turns))
    timeline = place(plan, tuple(u.shape for u in utterances), sample_rate_hz=recipe.sample_rate_hz)
    acoustics = draw_acoustics(plan, partial(rng_for, recipe.seed, job.id))
    sample = render(plan, timeline, utterances, acoustics)
    findings = check_limits(sample)
    row = to_row(sample, recipe_digest=row_digest(recipe, recipe.entries[job.entry]))
    stems = {utterance.sha256: from_pcm16(utterance.pcm) for utterance in utterances}
    more, measured = check_row(row, recipe.checks, stems.__getitem__)
    verdict, found = judge_sample(sample, quality)
    row["checks"] = measured | dict(found.values)
    return _Tried(
        sample=sample,
        row=row,
        quality=found,
        findings=(*findings, *more, *verdict.findings),
        turns=None if findings or more else verdict.turns,
    )
