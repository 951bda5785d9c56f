"""Which voice plays which role: balanced over the pool, related voices never against each other."""

from __future__ import annotations

from collections.abc import Mapping

from .. import RecipeError
from ..scenarios.conversation import Cast, Role, Voice
from ..scenarios.fields import unknown
from ..scenarios.recipe import Recipe
from .seeds import rng_for
from .speakers import Speaker

Pools = Mapping[str, Mapping[Role, tuple[Voice, ...]]]
"""Language and role -> the voices that may play it."""


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
) -> Cast:
    """Return the voices of one sample.

    Each pool is gone through in shuffled blocks, so that voices are balanced in every stretch of samples and
    a bank or count that grows changes no earlier choice.

    Parameters
    ----------
    group
        What shares the blocks: scenario and language.
    position, take
        The script's place in the bank, and which draw of it this is.
    """
    chosen: dict[Role, str] = {}
    related: set[str] = set()
    for role in map(Role, roles):
        pool = pools[role]
        block, at = divmod(position, len(pool))
        order = rng_for(seed, f"{group}/{role.value}", f"cast/{take}/{block}").permutation(len(pool))
        ranked = [pool[int(order[(at + k) % len(pool)])] for k in range(len(pool))]
        apart = [voice for voice in ranked if not related & set(voice.parents)]
        if not apart:
            raise RecipeError(
                f"speech.voices: no voice for role {role.value!r} of {group} that is unrelated to "
                f"{', '.join(chosen.values())}; the pool is {', '.join(v.id for v in pool)}: add voices"
            )
        chosen[role] = apart[0].id
        related |= set(apart[0].parents)
    return Cast(voices=chosen)
