"""Which voice plays which role: balanced over the pool, related voices never against each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .. import RecipeError
from ..scenarios.conversation import Cast, Role, Voice
from ..scenarios.fields import unknown
from ..scenarios.recipe import Recipe
from .disjoint import Pools
from .seeds import rng_for
from .speakers import Speaker

__all__ = ["Pools", "cast", "voice_pools"]


def voice_pools(recipe: Recipe, speaker: Speaker) -> Pools:
    """Return the voices of each language and role, checked.

    Raises
    ------
    RecipeError
        For a language the engine has no voices for, or a voice or set that does not exist or does not speak
        the language; names recipe file and key.
    """
    voices, sets = speaker.voices(), speaker.voice_sets()
    pools: dict[str, dict[Role, tuple[Voice, ...]]] = {}
    for language in recipe.languages:
        if language not in sets:
            raise RecipeError(
                f"{recipe.source}: languages: engine {speaker.engine!r} has no voices for {language!r}; "
                f"it has {', '.join(sorted(sets))}. Name an engine that speaks it under [speech]"
            )
        chosen = recipe.speech.voices.get(language, {})
        pools[language] = {}
        for role in Role:
            where = f"{recipe.source}: speech.voices.{language}.{role.value}"
            asked = chosen.get(role.value, "default")
            if isinstance(asked, str):
                if asked not in sets[language]:
                    raise RecipeError(
                        f"{where} = {asked!r}: {unknown('voice set', asked, tuple(sets[language]))}"
                    )
                asked = sets[language][asked]
            for name in asked:
                if name not in voices:
                    speaks = tuple(v.id for v in voices.values() if language in v.languages)
                    raise RecipeError(f"{where}: {name!r}: {unknown('voice', name, speaks)}")
                if language not in voices[name].languages:
                    raise RecipeError(
                        f"{where}: voice {name!r} does not speak {language!r}, "
                        f"only {', '.join(voices[name].languages)}"
                    )
            pools[language][role] = tuple(voices[name] for name in dict.fromkeys(asked))
    return pools


def cast(
    pools: Mapping[Role, tuple[Voice, ...]],
    *,
    roles: tuple[str, ...],
    seed: int,
    group: str,
    position: int,
    take: int,
    other_than: Mapping[Role, Voice] | None = None,
) -> Cast:
    """Return the voices of one sample.

    Each pool is gone through in shuffled blocks with its genders spread evenly, so that voices and genders
    are balanced in every stretch of samples and a bank or count that grows changes no earlier choice.

    Parameters
    ----------
    group
        What shares the blocks: scenario and language.
    position, take
        The script's place in the bank (among those of its split), and which draw of it this is.
    other_than
        Who must not play the role again (`variant`). Nor does anybody of their styles, except in as few roles as
        the pools leave no other choice.

    Raises
    ------
    RecipeError
        If the pools hold no unrelated voices for all roles.
    """
    before = other_than or {}
    ranked: list[tuple[Role, list[Voice], frozenset[str]]] = []
    for role in map(Role, roles):
        pool = pools[role]
        block, at = divmod(position, max(len(pool), 1))
        order = _order(pool, rng_for(seed, f"{group}/{role.value}", f"cast/{take}/{block}"))
        voices = order[at:] + order[:at]
        styles: frozenset[str] = frozenset()
        if role in before:
            voices = [voice for voice in voices if voice.id != before[role].id]
            styles = frozenset(before[role].parents)
        ranked.append((role, voices, styles))
    tried = (_unrelated(ranked, frozenset(), n_alike=n) for n in range(len(before) + 1))
    chosen = next((found for found in tried if found is not None), None)
    if chosen is None:
        pool_names = "; ".join(
            f"{role.value}: {', '.join(v.id for v in voices) or 'nobody'}" for role, voices, _ in ranked
        )
        raise RecipeError(
            f"speech.voices: {group} needs an unrelated voice for each of {', '.join(roles)}"
            f"{'' if other_than is None else ', other than before'}; there are ({pool_names}): add voices"
        )
    return Cast(voices=chosen)


def _order(pool: tuple[Voice, ...], rng: np.random.Generator) -> list[Voice]:
    """Return the pool shuffled, each gender spread evenly over it."""
    shuffled = [pool[int(i)] for i in rng.permutation(len(pool))]
    genders = sorted({voice.gender for voice in pool})
    if len(genders) < 2:
        return shuffled
    placed: list[tuple[float, int, Voice]] = []
    for i, gender in enumerate(genders):
        same = [voice for voice in shuffled if voice.gender == gender]
        first = rng.uniform()
        placed += [((k + first) / len(same), i, voice) for k, voice in enumerate(same)]
    return [voice for _, _, voice in sorted(placed, key=lambda place: place[:2])]


def _unrelated(
    ranked: list[tuple[Role, list[Voice], frozenset[str]]], related: frozenset[str], *, n_alike: int
) -> dict[Role, str] | None:
    """Return the first choice, in the order of the ranks, in which no two voices share a part.

    At most `n_alike` of them share one with the parts that were heard in their role before.
    """
    if not ranked:
        return {}
    (role, voices, styles), *others = ranked
    for voice in voices:
        n_left = n_alike - bool(styles & set(voice.parents))
        if n_left >= 0 and not related & set(voice.parents):
            rest = _unrelated(others, related | set(voice.parents), n_alike=n_left)
            if rest is not None:
                return {role: voice.id, **rest}
    return None
