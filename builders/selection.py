"""Measured samples to splits: the best, a number or a share of them, with scripts and speakers kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import floor
from typing import Any

from .. import RecipeError
from ..scenarios import SCENARIOS
from ..scenarios.fields import unknown
from ..scenarios.wanted_splits import SplitWish, WantedSplits
from .candidates import Candidate, Selection
from .quality import VALUES
from .seeds import share
from .selected_speakers import speakers_of_splits


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """All samples of one script: they go into one split together."""

    key: str
    group: tuple[str, ...]
    stratum: str
    samples: tuple[Candidate, ...]


def select(candidates: Sequence[Candidate], wanted: WantedSplits, *, seed: int) -> Selection:
    """Return which sample goes into which split.

    Scripts never straddle splits. Wishes are filled in their order; within each group the best scripts by the
    mean of their samples' values, or the lowest by a hash of seed and script. Ties and missing values come last
    by the same hash, so the order of `candidates` changes nothing.

    Raises
    ------
    RecipeError
        If a wish cannot be met; says what is there and what was asked for.
    """
    if not candidates:
        raise RecipeError("splits: there is no sample to select from")
    speakers = speakers_of_splits(candidates, wanted, seed) if wanted.speaker_disjoint else {}
    bundles = bundles_of(candidates, wanted)
    taken: dict[str, str] = {}
    for wish in wanted.wishes:
        if wish.measure and wish.measure not in VALUES:
            raise RecipeError(f"splits.{wish.split}.measure: {unknown('value', wish.measure, tuple(VALUES))}")
        if wish.measure:
            refuse_directionless(wish.measure, f"splits.{wish.split}.measure")
        if wish.measure and all(sample.values.get(wish.measure) is None for sample in candidates):
            raise RecipeError(
                f"splits.{wish.split}.measure = {wish.measure!r}: no sample was measured; add "
                f"{VALUES[wish.measure][0].name!r} to checks.measures, or run check FOLDER --measure first"
            )
        own = speakers.get(wish.split)
        groups: dict[tuple[str, ...], list[Bundle]] = {}
        for bundle in bundles:
            if bundle.key not in taken:
                groups.setdefault(bundle.group, []).append(bundle)
        sizes = group_sizes(bundles)
        for group, there in sorted(groups.items()):
            usable = [bundle for bundle in there if _usable(bundle, own)]
            asked = asked_of(wish, sizes[group], n_languages(group, wanted))
            for bundle in _best(usable, wish, own, asked, group, seed):
                taken[bundle.key] = wish.split
    splits: dict[str, str] = {}
    left_out: list[str] = []
    for bundle in bundles:
        split = taken.get(bundle.key, wanted.rest)
        for sample in bundle.samples:
            if split in speakers and not sample.speakers <= speakers[split]:
                left_out.append(sample.id)
            else:
                splits[sample.id] = split
    for split in (*(wish.split for wish in wanted.wishes), wanted.rest):
        if split not in splits.values():
            raise RecipeError(
                f"splits.{split}: nothing is left for it: {len(candidates)} samples, {len(left_out)} of them with "
                f"speakers of two splits; ask for less, or build with more voices and scripts"
            )
    return Selection(splits=splits, left_out=tuple(left_out), speakers=speakers)


def refuse_directionless(name: str, where: str) -> None:
    """Refuse a value of which neither end is the better one: there is no best by it.

    Raises
    ------
    RecipeError
        If so; names those that have one.
    """
    if not VALUES[name][1].better:
        directed = ", ".join(name for name, (_, value) in VALUES.items() if value.better)
        raise RecipeError(
            f"{where} = {name!r}: neither end of it is the better one; wanted one of {directed}"
        )


def bundles_of(candidates: Sequence[Candidate], wanted: WantedSplits) -> list[Bundle]:
    """Return the samples by script, as they go into a split together."""
    found: dict[str, list[Candidate]] = {}
    for sample in candidates:
        language = "" if _stays_together(sample, wanted) else sample.language
        found.setdefault(f"{sample.scenario}/{language}/{sample.script}", []).append(sample)
    spoken: dict[str, set[str]] = {}
    for sample in candidates:
        if _stays_together(sample, wanted):
            spoken.setdefault(sample.scenario, set()).add(sample.language)
    bundles = []
    for key, samples in sorted(found.items()):
        samples.sort(key=lambda sample: sample.id)
        languages = spoken.get(samples[0].scenario, {samples[0].language})
        group = tuple(
            "+".join(sorted(languages if name == "language" else {str(getattr(s, name)) for s in samples}))
            for name in wanted.within
        )
        stratum = samples[0].intent if wanted.stratify == "intent" else ""
        bundles.append(Bundle(key=key, group=group, stratum=stratum, samples=tuple(samples)))
    return bundles


def _stays_together(sample: Candidate, wanted: WantedSplits) -> bool:
    """Return whether a script's samples of all languages go into one split: they say the same, and it is wanted."""
    scenario = SCENARIOS.get(sample.scenario)
    return wanted.keep_parallel and scenario is not None and scenario.parallel


def n_languages(group: tuple[str, ...], wanted: WantedSplits) -> int:
    """Return how many languages a group holds that each count for themselves: parallel scripts share a group."""
    return group[wanted.within.index("language")].count("+") + 1 if "language" in wanted.within else 1


def _usable(bundle: Bundle, own: frozenset[str] | None) -> tuple[Candidate, ...]:
    """Return the samples of a bundle that a split may hold: those of its speakers alone."""
    return tuple(s for s in bundle.samples if own is None or s.speakers <= own)


def group_sizes(bundles: Iterable[Bundle]) -> dict[tuple[str, ...], int]:
    """Return how many samples each group has."""
    sizes: dict[tuple[str, ...], int] = {}
    for bundle in bundles:
        sizes[bundle.group] = sizes.get(bundle.group, 0) + len(bundle.samples)
    return sizes


def _best(
    bundles: list[Bundle],
    wish: SplitWish,
    own: frozenset[str] | None,
    asked: float,
    group: tuple[str, ...],
    seed: int,
) -> list[Bundle]:
    """Return the bundles of one group that a wish takes."""
    strata: dict[str, list[Bundle]] = {}
    for bundle in sorted(bundles, key=lambda b: _rank(b, wish, own, seed)):
        strata.setdefault(bundle.stratum, []).append(bundle)
    amounts = {
        stratum: sum(_amount(bundle, wish, own) for bundle in there) for stratum, there in strata.items()
    }
    available = sum(amounts.values())
    if asked > available * (1 + 1e-9):
        unit = "h" if wish.hours is not None else "samples"
        there = f"{available:.3f}" if unit == "h" else f"{available:.0f}"
        only = "" if own is None else f" of its {len(own)} speakers ({', '.join(sorted(own))})"
        raise RecipeError(
            f"splits.{wish.split}: asked for {asked:.3g} {unit} in group {'/'.join(group) or 'all'}, "
            f"but only {there} {unit}{only} are there; ask for less, or build more"
        )
    shares = (
        largest_remainders({s: asked * amount / available for s, amount in amounts.items()})
        if wish.hours is None
        else {s: asked * amount / available for s, amount in amounts.items()}
    )
    chosen: list[Bundle] = []
    for stratum, ranked in sorted(strata.items()):
        chosen += _up_to(ranked, shares[stratum], wish, own)
    reached = sum(_amount(bundle, wish, own) for bundle in chosen)
    left = [bundle for ranked in strata.values() for bundle in ranked if bundle not in chosen]
    left.sort(key=lambda b: _rank(b, wish, own, seed))
    return chosen + _up_to(left, asked - reached, wish, own)  # what strata of few scripts did not fill


def _up_to(
    ranked: Sequence[Bundle], asked: float, wish: SplitWish, own: frozenset[str] | None
) -> list[Bundle]:
    """Return the first bundles that come as near to an amount as whole scripts can."""
    taken: list[Bundle] = []
    reached = 0.0
    for bundle in ranked:
        amount = _amount(bundle, wish, own)
        if reached + amount / 2 > asked + 1e-9:
            break
        taken.append(bundle)
        reached += amount
    return taken


def _rank(bundle: Bundle, wish: SplitWish, own: frozenset[str] | None, seed: int) -> tuple[float, float, str]:
    chance = share(seed, bundle.key, f"select/{wish.split}")
    if not wish.measure:
        return (0.0, chance, bundle.key)
    values = [v for s in _usable(bundle, own) if (v := s.values.get(wish.measure)) is not None]
    if not values:
        return (float("inf"), chance, bundle.key)
    mean = sum(values) / len(values)
    return (mean if VALUES[wish.measure][1].better == "low" else -mean, chance, bundle.key)


def _amount(bundle: Bundle, wish: SplitWish, own: frozenset[str] | None) -> float:
    there = _usable(bundle, own)
    return sum(s.length_s for s in there) / 3600 if wish.hours is not None else float(len(there))


def asked_of(wish: SplitWish, group_size: int, n_languages: int) -> float:
    """Return what a wish asks of a group: samples, or hours where it counts these; as much of each language."""
    if wish.count is not None:
        return float(wish.count * n_languages)
    if wish.fraction is not None:
        return float(max(1, round(wish.fraction * group_size)))
    return (wish.hours or 0.0) * n_languages


def largest_remainders(shares: Mapping[str, float]) -> dict[str, float]:
    """Return whole numbers with the same sum that are nearest to the shares.

    Examples
    --------
    >>> largest_remainders({"a": 1.5, "b": 1.2, "c": 0.3})
    {'a': 2.0, 'b': 1.0, 'c': 0.0}
    """
    whole = {name: float(floor(value + 1e-9)) for name, value in shares.items()}
    missing = round(sum(shares.values()) - sum(whole.values()))
    for name in sorted(shares, key=lambda n: (-(shares[n] - whole[n]), n))[:missing]:
        whole[name] += 1
    return whole


def selection_facts(
    candidates: Sequence[Candidate], selection: Selection, wanted: WantedSplits
) -> dict[str, Any]:
    """Return what a card has to say: the wishes, and per split its samples, hours, speakers and mean values.

    The means of values that were not selected by stand beside those that were: they show what the selection
    bought.
    """
    names = [name for name in VALUES if any(c.values.get(name) is not None for c in candidates)]
    by_id = {candidate.id: candidate for candidate in candidates}
    facts: dict[str, Any] = {}
    for split in (*(wish.split for wish in wanted.wishes), wanted.rest):
        there = [by_id[id_] for id_, name in selection.splits.items() if name == split]
        means = {}
        for name in names:
            values = [v for c in there if (v := c.values.get(name)) is not None]
            if values:
                means[name] = sum(values) / len(values)
        facts[split] = {
            "samples": len(there),
            "hours": sum(c.length_s for c in there) / 3600,
            "speakers": sorted({speaker for c in there for speaker in c.speakers}),
            "means": means,
        }
    return {
        "wishes": [asdict(wish) for wish in wanted.wishes],
        "selected_by": sorted({wish.measure for wish in wanted.wishes if wish.measure}),
        "left_out": list(selection.left_out),
        "splits": facts,
    }
