"""What every process of a build has at hand: the recipe, its engine and voices, and what is measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import EngineError, RecipeError, SpeechError
from ..scenarios.recipe import Recipe, recipe_digest
from .cast import voice_pools
from .disjoint import Company, company_of
from .judged import QualityPlan, quality_plan
from .said import Base
from .said_speaker import SaidSpeaker
from .speakers import Speaker, make_speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What every process needs to know: the recipe, and where things lie."""

    recipe: Recipe
    cache_dir: Path
    partial: Path
    base: Base | None = None


_workshops: dict[str, tuple[Speaker, Company, QualityPlan]] = {}


def workshop(site: Site) -> tuple[Speaker, Company, QualityPlan]:
    """Return this process's speaker, its voices and what is measured; an engine is opened once in a process."""
    key = f"{recipe_digest(site.recipe)} {site.cache_dir} {site.base}"
    if key not in _workshops:
        speaker: Speaker
        if site.base is not None and site.base.same_speech:
            speaker = SaidSpeaker(site.base.folder, partial(speaker_of, site.recipe, site.cache_dir))
        else:
            speaker = speaker_of(site.recipe, site.cache_dir)
        company = company_of(site.recipe, voice_pools(site.recipe, speaker))
        _workshops[key] = speaker, company, quality_plan(site.recipe, site.cache_dir)
    return _workshops[key]


def speaker_of(recipe: Recipe, cache_dir: Path) -> Speaker:
    """Return the engine of a recipe, ready to speak.

    Raises
    ------
    RecipeError
        If there is no such engine, or its options are wrong; names the recipe.
    EngineError
        If it is not to be had.
    """
    speech = recipe.speech
    try:
        return make_speaker(speech.engine, cache_dir, speech.options, Path(recipe.source).parent)
    except EngineError:
        raise
    except (RecipeError, SpeechError) as error:
        raise RecipeError(f"{recipe.source}: {error}") from None
