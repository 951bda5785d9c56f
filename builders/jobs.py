"""Recipe to jobs: which samples are asked for, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from .. import RecipeError
from ..scenarios import SCENARIOS
from ..scenarios.bank import load_scripts
from ..scenarios.conversation import Plan, Script
from ..scenarios.fields import unknown
from ..scenarios.recipe import Recipe
from ..scenarios.scenario import Entry, PlanContext
from .cast import Pools, cast
from .seeds import rng_for, share


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One sample of a recipe; `position` is the script's place in the bank (after the entry's tags)."""

    id: str
    entry: int
    language: str
    position: int
    take: int
    split: str
    n_characters: int

    @property
    def config(self) -> str:
        """Return the configuration the sample belongs to."""
        return "-".join(self.id.split("/")[:2])


def configs_of(recipe: Recipe) -> tuple[str, ...]:
    """Return the names ``<scenario>-<language>`` that a recipe builds."""
    return tuple(f"{entry.scenario}-{language}" for entry in recipe.entries for language in entry.languages)


def scripts_of(recipe: Recipe, entry: Entry, language: str) -> tuple[Script, ...]:
    """Return the scripts an entry draws from: those that carry all of its tags.

    Raises
    ------
    RecipeError
        If there is none.
    """
    scripts = tuple(
        script
        for script in load_scripts(entry.scenario, language, recipe.scripts)
        if set(entry.tags) <= set(script.tags)
    )
    if not scripts:
        raise RecipeError(
            f"{recipe.source}: scenarios.{entry.scenario}: no script in {language!r} carries the tags "
            f"{', '.join(entry.tags)}; take the preset's tags away with tags = []"
        )
    return scripts


def jobs_of(recipe: Recipe, only: tuple[str, ...] = ()) -> tuple[Job, ...]:
    """Return the samples of a recipe in their order: entry, language, take, script.

    Parameters
    ----------
    only
        Names of scenarios or of configurations ``<scenario>-<language>``; empty for all.
    """
    configs = configs_of(recipe)
    known = (*configs, *(entry.scenario for entry in recipe.entries))
    for name in only:
        if name not in known:
            raise RecipeError(f"--only {name}: {unknown('configuration', name, known)}")
    jobs: list[Job] = []
    for number, entry in enumerate(recipe.entries):
        for language in entry.languages:
            if only and not {entry.scenario, f"{entry.scenario}-{language}"} & set(only):
                continue
            scripts = scripts_of(recipe, entry, language)
            for i in range(entry.count):
                take, position = divmod(i, len(scripts))
                script = scripts[position]
                jobs.append(
                    Job(
                        id=f"{entry.scenario}/{language}/{script.id}/{take}",
                        entry=number,
                        language=language,
                        position=position,
                        take=take,
                        split=split_of(recipe, entry, script),
                        n_characters=sum(len(turn.text) for turn in script.turns),
                    )
                )
    return tuple(jobs)


def split_of(recipe: Recipe, entry: Entry, script: Script) -> str:
    """Return the split of a script: the same for all its takes and for parallel scripts of other languages."""
    u = share(recipe.seed, f"{entry.scenario}/{script.id}", "split")
    reached = 0.0
    splits = [(name, part) for name, part in entry.splits.items() if part > 0]
    for name, part in splits:
        reached += part
        if u < reached:
            return name
    return splits[-1][0]


def plan_of(recipe: Recipe, job: Job, pools: Pools) -> Plan:
    """Return the plan of a sample; it depends on the job and on nothing that is built beside it."""
    entry = recipe.entries[job.entry]
    script = scripts_of(recipe, entry, job.language)[job.position]
    group = f"{entry.scenario}/{job.language}"
    return SCENARIOS[entry.scenario].plan(
        script,
        PlanContext(
            sample_id=job.id,
            position=job.position,
            take=job.take,
            split=job.split,
            entry=entry,
            cast=cast(
                pools[job.language],
                roles=SCENARIOS[entry.scenario].roles,
                seed=recipe.seed,
                group=group,
                position=job.position,
                take=job.take // SCENARIOS[entry.scenario].n_alike(entry),
            ),
            speed=recipe.speech.speed,
            rng=rng_for(recipe.seed, job.id, "plan"),
            shared_rng=partial(rng_for, recipe.seed, group),
        ),
    )
