"""Recipe to folder: plan, speak, place, render, check and write every sample, in any number of processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import ReleaseError
from ..scenarios.recipe import Recipe
from .assemble import assemble
from .engines import run_on
from .finished import read_reject
from .foresee import refuse_impossible
from .gates import reasons_table
from .jobs import Job, jobs_of
from .make_sample import Outcome, make_sample
from .out_folder import claimed, clear, partial_of, put_in_place, refuse_taken
from .said import Base, ids_of
from .sayings import planned
from .stopping import going_on
from .workshop import Site


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
        with closing(run_on(engine, partial(make_sample, site), longest_first, workers)) as made:
            for outcome in made:
                outcomes[outcome.job.id] = outcome
                progress(outcome, len(outcomes), len(jobs))
        ordered = [outcomes[job.id] for job in jobs]
        rejects = tuple(outcome for outcome in ordered if outcome.rejected)
        limit = recipe.checks.max_rejected_fraction
        if len(rejects) > limit * len(jobs):
            table = reasons_table(
                [read_reject(site, outcome.key) for outcome in rejects],
                f"{partial_dir / 'rows'}/*/*.reject.json",
            )
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
