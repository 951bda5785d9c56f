"""Wanted splits that cannot be met, seen before a word is spoken."""

from __future__ import annotations

from collections.abc import Sequence

from .. import RecipeError
from ..scenarios import SCENARIOS
from ..scenarios.conversation import Role
from ..scenarios.fields import unknown
from ..scenarios.wanted_splits import SplitWish, WantedSplits
from .candidates import Candidate
from .jobs import Job, scripts_of
from .quality import VALUES
from .selected_speakers import speakers_asked
from .selection import Bundle, asked_of, bundles_of, group_sizes, n_languages, refuse_directionless
from .workshop import Site, workshop


def refuse_impossible(site: Site, jobs: Sequence[Job]) -> None:
    """Refuse the splits that a recipe wants where no outcome of the build can meet them.

    What depends on the sound (hours, which samples are rejected, who is the best) is not foreseen.

    Raises
    ------
    RecipeError
        If so; says what is planned and what was asked for.
    """
    wanted = site.recipe.splits
    if wanted is None or (site.base is not None and site.base.same_ids):
        return
    for wish in wanted.wishes:
        _refuse_unmeasured(site, wish)
    bundles = bundles_of(_planned(site, jobs), wanted)
    groups: dict[tuple[str, ...], list[Bundle]] = {}
    for bundle in bundles:
        groups.setdefault(bundle.group, []).append(bundle)
    sizes = group_sizes(bundles)
    left = [most_left(wanted, group, there, sizes[group]) for group, there in sorted(groups.items())]
    if not any(left):
        raise RecipeError(
            f"{site.recipe.source}: splits: nothing would be left for {wanted.rest}: all {len(jobs)} planned samples "
            f"are asked for by other splits; ask for less, or raise the counts of the scenarios"
        )
    if wanted.speaker_disjoint:
        speakers_asked(wanted, _speakers(site))


def _planned(site: Site, jobs: Sequence[Job]) -> list[Candidate]:
    """Return the samples of a build as selection looks at them, as far as they are known before they are made."""
    recipe = site.recipe
    found = []
    for job in jobs:
        entry = recipe.entries[job.entry]
        script = scripts_of(recipe, entry, job.language)[job.position]
        found.append(
            Candidate(
                id=job.id,
                scenario=entry.scenario,
                language=job.language,
                script=script.id,
                domain=script.domain,
                intent="",
                speakers=frozenset(),
                length_s=0.0,
                values={},
            )
        )
    return found


def most_left(wanted: WantedSplits, group: tuple[str, ...], there: Sequence[Bundle], size: int) -> float:
    """Return how many samples of a group are left at most when all wishes are met.

    Wishes take whole scripts: the last one may be left out where it would go too far, by half of its samples.

    Raises
    ------
    RecipeError
        If a wish asks for more than the ones before it can leave.
    """
    half = max(len(bundle.samples) for bundle in there) / 2
    left = float(size)
    for wish in wanted.wishes:
        if wish.hours is not None:
            continue
        n = n_languages(group, wanted)
        asked = asked_of(wish, size, n)
        each = f" ({asked / n:g} of each of {n} languages)" if n > 1 else ""
        if asked > left:
            others = "" if left == size else f", of which other splits leave at most {left:g}"
            raise RecipeError(
                f"splits.{wish.split}: asked for {asked:g} samples{each} in group {'/'.join(group) or 'all'}, but only "
                f"{size} are planned{others}; ask for less, or raise the counts of the scenarios"
            )
        left = 0.0 if asked == left else min(left, left - asked + half)
    return left


def _refuse_unmeasured(site: Site, wish: SplitWish) -> None:
    """Refuse a wish for the best by a value that nothing will measure."""
    if not wish.measure:
        return
    where = f"{site.recipe.source}: splits.{wish.split}.measure"
    if wish.measure not in VALUES:
        raise RecipeError(f"{where}: {unknown('value', wish.measure, tuple(VALUES))}")
    refuse_directionless(wish.measure, where)
    measure = VALUES[wish.measure][0]
    plan = workshop(site)[2]
    if measure not in plan.measures:
        why = plan.not_measured.get(measure.name, f"add {measure.name!r} to checks.measures")
        raise RecipeError(f"{where} = {wish.measure!r}: nothing measures it in this build; {why}")


def _speakers(site: Site) -> list[str]:
    """Return everybody who may be heard: the parts of all voices that can play a role of the recipe's scenarios."""
    pools = workshop(site)[1].pools
    return sorted(
        {
            parent
            for of_split in pools.values()
            for entry in site.recipe.entries
            for language in entry.languages
            for role in map(Role, SCENARIOS[entry.scenario].roles)
            for voice in of_split[language][role]
            for parent in voice.parents
        }
    )
