"""Which voices may speak in which split: nobody in two of them, where there are voices enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..scenarios import SCENARIOS
from ..scenarios.conversation import Role, Voice
from ..scenarios.recipe import Recipe
from .seeds import share

Pools = Mapping[str, Mapping[Role, tuple[Voice, ...]]]
"""Language and role -> the voices that may play it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """The voices of a recipe, by split.

    `disjoint` says of each language with several splits how far apart they are: ``all languages`` (no voice,
    nor a part of a mixed one, is heard in two splits, whatever the language), ``this language``, or ``no``.
    """

    pools: Mapping[str, Pools]
    disjoint: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Need:
    """Roles that are heard together in a language and a split."""

    language: str
    split: str
    roles: tuple[Role, ...]


_Family = tuple[str, ...]
"""Ids of voices that share parts."""


def company_of(recipe: Recipe, pools: Pools) -> Company:
    """Return which voices speak in which split of a recipe.

    Voices that share a part (a style, a reference) stay together. Splits get voices by their share of the
    samples, each language and gender by itself. Languages whose voices do not suffice are left undivided.
    """
    shares = _shares(recipe)
    splits = tuple(shares)
    if len(splits) < 2 or recipe.splits is not None:  # the latter divide measured samples themselves
        return Company(pools=dict.fromkeys(splits or ("test",), pools), disjoint={})
    needs = _needs(recipe)
    divided = [language for language in pools if len({n.split for n in needs if n.language == language}) > 1]
    together = _divide(recipe.seed, pools, [n for n in needs if n.language in divided], shares)
    if together is not None and len(divided) == len(pools):
        return Company(
            pools={split: _only(pools, together[split]) for split in splits},
            disjoint=dict.fromkeys(pools, "all languages"),
        )
    per_split: dict[str, dict[str, Mapping[Role, tuple[Voice, ...]]]] = {s: dict(pools) for s in splits}
    disjoint: dict[str, str] = {}
    for language in divided:
        own = {language: pools[language]}
        parts = _divide(recipe.seed, own, [n for n in needs if n.language == language], shares)
        disjoint[language] = "no" if parts is None else "this language"
        if parts is not None:
            for split in splits:
                if any(n.split == split and n.language == language for n in needs):
                    per_split[split][language] = _only(own, parts[split])[language]
    return Company(pools=per_split, disjoint=disjoint)


def _shares(recipe: Recipe) -> dict[str, float]:
    """Return the mean share of each split, in the splits' order; counts change nothing."""
    total: dict[str, float] = {}
    for entry in recipe.entries:
        for split, part in entry.splits.items():
            if part > 0:
                total[split] = total.get(split, 0.0) + part * len(entry.languages)
    whole = sum(total.values())
    return {split: part / whole for split, part in total.items()}


def _needs(recipe: Recipe) -> list[_Need]:
    return [
        _Need(language=language, split=split, roles=tuple(map(Role, SCENARIOS[entry.scenario].roles)))
        for entry in recipe.entries
        for language in entry.languages
        for split, part in entry.splits.items()
        if part > 0
    ]


def _divide(
    seed: int, pools: Pools, needs: Sequence[_Need], shares: Mapping[str, float]
) -> dict[str, set[str]] | None:
    """Return the voices of each split; None where some roles could not be cast."""
    voices = {v.id: v for roles in pools.values() for pool in roles.values() for v in pool}
    families = _families(voices.values())
    cells: dict[tuple[str, str], int] = {}
    inside = {language: {v.id for pool in roles.values() for v in pool} for language, roles in pools.items()}

    def cells_of(family: _Family) -> dict[tuple[str, str], int]:
        counted: dict[tuple[str, str], int] = {}
        for language, ids in inside.items():
            for name in family:
                if name in ids:
                    cell = (language, voices[name].gender)
                    counted[cell] = counted.get(cell, 0) + 1
        return counted

    for family in families:
        for cell, n in cells_of(family).items():
            cells[cell] = cells.get(cell, 0) + n
    missing = {(split, cell): shares[split] * n for split in shares for cell, n in cells.items()}
    parts: dict[str, list[_Family]] = {split: [] for split in shares}
    drawn = sorted(families, key=lambda family: (-len(family), share(seed, family[0], "disjoint")))
    for family in drawn:  # the largest first: small ones level out what is left
        counted = cells_of(family)
        best = max(shares, key=lambda s: sum(n * missing[s, c] / cells[c] for c, n in counted.items()))
        parts[best].append(family)
        for cell, n in counted.items():
            missing[best, cell] -= n
    return _mended(parts, pools, needs)


def _mended(
    parts: dict[str, list[_Family]], pools: Pools, needs: Sequence[_Need]
) -> dict[str, set[str]] | None:
    """Return the parts after moving families to splits whose roles could not be cast without them."""

    def n_missing(trial: Mapping[str, Sequence[_Family]]) -> int:
        return sum(_lacking(need, trial[need.split], pools) for need in needs)

    lacking = n_missing(parts)
    while lacking:
        best: tuple[int, int, str, str, _Family] | None = None
        for source, families in parts.items():
            for family in families:
                for target in parts:
                    if target == source:
                        continue
                    trial = {
                        **parts,
                        source: [f for f in families if f != family],
                        target: [*parts[target], family],
                    }
                    found = (n_missing(trial), len(family), source, target, family)
                    best = found if best is None or found < best else best
        if best is None or best[0] >= lacking:
            return None
        lacking, _, source, target, family = best
        parts[source].remove(family)
        parts[target].append(family)
    return {split: {name for family in families for name in family} for split, families in parts.items()}


def _lacking(need: _Need, families: Sequence[_Family], pools: Pools) -> int:
    """Return how many of the roles find nobody, if related voices never meet."""
    able = {
        role: [f for f in families if any(v.id in f for v in pools[need.language][role])]
        for role in need.roles
    }
    roles = sorted(need.roles, key=lambda role: len(able[role]))

    def most(i: int, taken: frozenset[_Family]) -> int:
        if i == len(roles):
            return 0
        free = [f for f in able[roles[i]] if f not in taken]
        return max([most(i + 1, taken), *(1 + most(i + 1, taken | {f}) for f in free[: len(roles)])])

    return len(roles) - most(0, frozenset())


def _families(voices: Iterable[Voice]) -> list[_Family]:
    """Return the voices in groups, such that no part is in two groups; in the order of their first ids."""
    groups: list[tuple[set[str], list[str]]] = []
    for voice in voices:
        parts, names = set(voice.parents), [voice.id]
        apart = []
        for known, ids in groups:
            if known & parts:
                parts, names = parts | known, ids + names
            else:
                apart.append((known, ids))
        groups = [*apart, (parts, names)]
    return sorted(tuple(sorted(names)) for _, names in groups)


def _only(pools: Pools, names: set[str]) -> dict[str, dict[Role, tuple[Voice, ...]]]:
    return {
        language: {role: tuple(v for v in pool if v.id in names) for role, pool in roles.items()}
        for language, roles in pools.items()
    }
