"""Recipe to jobs: which samples are asked for, each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from .. import RecipeError
from ..scenarios import SCENARIOS
from ..scenarios.conversation import Cast, Plan, Role, Script, Voice
from ..scenarios.fields import unknown
from ..scenarios.recipe import Recipe
from ..scenarios.scenario import Entry, PlanContext
from ..scenarios.sources import entry_scripts
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
        for script in entry_scripts(entry, language, recipe.scripts, Path(recipe.source).parent)
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
    return _split(recipe.seed, entry.scenario, tuple(entry.splits.items()), script.id)


def _split(seed: int, scenario: str, shares: tuple[tuple[str, float], ...], script_id: str) -> str:
    u = share(seed, f"{scenario}/{script_id}", "split")
    reached = 0.0
    splits = [(name, part) for name, part in shares if part > 0]
    for name, part in splits:
        reached += part
        if u < reached:
            return name
    return splits[-1][0]


@lru_cache(maxsize=64)
def _places(
    seed: int, scenario: str, shares: tuple[tuple[str, float], ...], ids: tuple[str, ...]
) -> tuple[int, ...]:
    """Return the place of each script among those of its split."""
    counts: dict[str, int] = {}
    places = []
    for script_id in ids:
        split = _split(seed, scenario, shares, script_id)
        places.append(counts.get(split, 0))
        counts[split] = places[-1] + 1
    return tuple(places)


def plan_of(
    recipe: Recipe,
    job: Job,
    pools: Pools,
    *,
    voices: Cast | None = None,
    other_than: Mapping[Role, Voice] | None = None,
) -> Plan:
    """Return the plan of a sample; it depends on the job and on nothing that is built beside it.

    Parameters
    ----------
    pools
        The voices that may be heard in the job's split.
    voices, other_than
        Who plays the roles, where that is decided; or who must not play them again (`variant`).
    """
    entry = recipe.entries[job.entry]
    scripts = scripts_of(recipe, entry, job.language)
    script = scripts[job.position]
    group = f"{entry.scenario}/{job.language}"
    return SCENARIOS[entry.scenario].plan(
        script,
        PlanContext(
            sample_id=job.id,
            position=job.position,
            take=job.take,
            split=job.split,
            entry=entry,
            cast=voices
            or cast(
                pools[job.language],
                roles=SCENARIOS[entry.scenario].roles,
                seed=recipe.seed,
                group=group,
                position=_places(
                    recipe.seed,
                    entry.scenario,
                    tuple(entry.splits.items()),
                    tuple(script.id for script in scripts),
                )[job.position],
                take=job.take // SCENARIOS[entry.scenario].n_alike(entry),
                other_than=other_than,
            ),
            speed=recipe.speech.speed,
            rng=rng_for(recipe.seed, job.id, "plan"),
            shared_rng=partial(rng_for, recipe.seed, group),
            scripts=scripts,
            parallel_rng=partial(rng_for, recipe.seed, entry.scenario),
            bank=recipe.scripts,
        ),
    )
