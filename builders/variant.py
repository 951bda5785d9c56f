"""A build to the recipe of a variant of it: the same samples, with other voices, words or sound."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .. import RecipeError, ReleaseError
from ..scenarios import SCENARIOS
from ..scenarios.bank import languages_of
from ..scenarios.conversation import Role
from ..scenarios.fields import CALIBRATED_TREATMENTS, unknown
from ..scenarios.names import read_language
from ..scenarios.overrides import keys_of
from ..scenarios.recipe import Recipe, read_recipe
from .built import MANIFEST, open_built
from .said import SAID, Base, ids_of
from .said_speech import read_speech, scripts_of_build


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of a variant; what is empty stays as it was.

    `voices` is a voice set, or several voices with commas between them. `treatments` are presets, each for all
    scenarios that have one, or for one as ``SCENARIO=PRESET``. `overrides` are ``KEY=VALUE`` of the recipe.
    `scripts` is a folder in the bank's layout, `folder` where relative paths in the recipe start.
    """

    voices: str = ""
    engine: str = ""
    language: str = ""
    treatments: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    name: str = ""
    scripts: Path | None = None
    folder: Path = Path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A variant that can be built: its recipe, what it starts from, and the keys that changed."""

    recipe: Recipe
    base: Base
    changed: Mapping[str, tuple[Any, Any]]


def variant_of(folder: Path, asked: Asked) -> Variant:
    """Return the variant of a build folder; the whole of it is checked for damage first.

    Raises
    ------
    ReleaseError
        If the folder is no finished build, is damaged, or does not say how it was made.
    RecipeError
        If nothing is asked, or it cannot be built; scripts that are missing are named, file by file.
    """
    manifest = _manifest(folder)
    data = recipe_table(manifest["recipe"])
    own = data["languages"]
    if not (asked.voices or asked.engine or asked.language or asked.treatments or asked.overrides):
        raise RecipeError(
            "variant: nothing is asked; give --voices, --engine, --language, --treatment or --set"
        )
    if asked.language:
        read_language(asked.language, "--language")
    if asked.language in own:
        raise RecipeError(f"--language {asked.language}: {folder} has that language already")
    languages = [asked.language] if asked.language else own
    data["scripts"] = str((asked.scripts or scripts_of_build(folder, languages)).resolve())
    at = asked.folder.resolve() / f"variant of {folder.name}"
    before = read_recipe(_copied(data, scripts=str(scripts_of_build(folder, own).resolve())), at)
    for override in asked.overrides:
        _refuse_unknown_scenario(override, tuple(data["scenarios"]))
    _apply(data, asked, before)
    try:
        recipe = read_recipe(data, at, asked.overrides)
    except RecipeError as error:
        raise RecipeError(str(error).replace(str(at), f"variant of {folder}")) from None
    if not asked.language:
        _refuse_more(before, recipe)
    same_speech = not asked.voices and not asked.engine and recipe.speech == before.speech
    changed = _changed(before, recipe)
    base = Base(
        folder=folder,
        digest=hashlib.sha256((folder / SAID).read_bytes()).hexdigest(),
        same_ids=not asked.language,
        same_speech=same_speech and not asked.language,
        other_voices=bool(asked.voices),
        variant_of=_variant_of(manifest, asked, changed),
    )
    return Variant(recipe=recipe, base=base, changed=changed)


def _refuse_unknown_scenario(override: str, there: tuple[str, ...]) -> None:
    table, *names = keys_of(override)
    if table == "scenarios" and names and names[0] not in there:
        raise RecipeError(f"--set {override}: {unknown('scenario of the build', names[0], there)}")


def _refuse_more(before: Recipe, after: Recipe) -> None:
    """Refuse a recipe that asks for samples which the build does not have."""
    counts = {entry.scenario: entry.count for entry in before.entries}
    for entry in after.entries:
        if entry.count > counts[entry.scenario]:
            raise RecipeError(
                f"scenarios.{entry.scenario}.count = {entry.count}: a variant has the samples of its build, at most "
                f"{counts[entry.scenario]} per language; for more, build the recipe itself with that count"
            )


def _variant_of(
    manifest: Mapping[str, Any], asked: Asked, changed: Mapping[str, tuple[Any, Any]]
) -> dict[str, Any]:
    """Return what the variant's manifest says of the build, which may be a variant itself."""
    words = [
        *(f"--{key} {value}" for key in ("voices", "engine", "language") if (value := getattr(asked, key))),
        *(f"--treatment {treatment}" for treatment in asked.treatments),
        *(f"--set {override}" for override in asked.overrides),
    ]
    if asked.scripts is not None:
        words.append(f"--scripts {asked.scripts.resolve().name}")  # where it lies is nobody's business
    facts = {
        "name": manifest["recipe"]["name"],
        "version": manifest["recipe"]["version"],
        "recipe_digest": manifest["recipe_digest"],
        "asked": words,
        "changed": {key: {"was": was, "is": now} for key, (was, now) in changed.items()},
    }
    return {**facts, **{key: manifest[key] for key in ("variant_of",) if key in manifest}}


def _manifest(folder: Path) -> dict[str, Any]:
    manifest = open_built(folder).manifest
    if not (folder / SAID).exists():
        raise ReleaseError(
            f"{folder}: there is no {SAID}: its stems were taken away, or it was not built but imported; a variant "
            f"needs what was said: build it again"
        )
    try:
        recipe_table(manifest["recipe"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReleaseError(
            f"{folder / MANIFEST}: its recipe cannot be built ({type(error).__name__}: {error}); build the folder "
            f"again from its recipe"
        ) from None
    ids_of(folder)
    read_speech(folder)
    return manifest


def recipe_table(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe of a manifest as the TOML table that says the same."""
    kept = ("name", "version", "description", "seed", "languages", "sample_rate_hz", "licence")
    table: dict[str, Any] = {key: recipe[key] for key in kept}
    table["speech"] = dict(recipe["speech"])
    gates = {
        name: "off" if limits.get("off") else {k: v for k, v in limits.items() if v is not None}
        for name, limits in recipe["checks"].get("gates", {}).items()
    }
    table["checks"] = {**recipe["checks"], "gates": gates}
    if recipe.get("splits"):
        table["splits"] = _splits_table(recipe["splits"])
    table["scenarios"] = {
        entry["scenario"]: {
            **entry["values"],
            **{key: entry[key] for key in ("count", "languages", "splits", "tags")},
            "preset": entry["preset"].removesuffix("+"),
        }
        for entry in recipe["entries"]
    }
    return table


def _splits_table(splits: Mapping[str, Any]) -> dict[str, Any]:
    wishes = {
        wish["split"]: {
            key: value for key, value in wish.items() if key != "split" and value not in (None, "")
        }
        for wish in splits["wishes"]
    }
    return {**{key: value for key, value in splits.items() if key != "wishes"}, **wishes}


def _copied(data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps({**data, **more}))
    return copied


def _apply(data: dict[str, Any], asked: Asked, before: Recipe) -> None:
    """Change the table to what is asked."""
    if asked.language:
        data["languages"] = [asked.language]
        data["speech"]["voices"] = {}
        for entry in data["scenarios"].values():
            entry.pop("languages")
        _need_scripts(data, asked.language)
    if asked.engine and asked.engine != before.speech.engine:
        data["speech"] = {"engine": asked.engine, "speed": data["speech"]["speed"]}
    if asked.voices:
        voices = asked.voices.split(",") if "," in asked.voices else asked.voices
        data["speech"]["voices"] = {
            language: {role.value: voices for role in Role} for language in data["languages"]
        }
    for treatment in asked.treatments:
        _treat(data["scenarios"], treatment)
    words = [asked.voices, asked.engine, asked.language, *asked.treatments]
    suffix = re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, words)).lower()).strip("-") or "variant"
    data["name"] = asked.name or f"{data['name']}-{suffix}"


def _need_scripts(data: Mapping[str, Any], language: str) -> None:
    bank = Path(data["scripts"])
    missing = [name for name in data["scenarios"] if language not in languages_of(name, bank)]
    if missing:
        files = "\n".join(f"  {bank / language / f'{name}.jsonl'}" for name in missing)
        raise RecipeError(
            f"--language {language}: there are no scripts for it; write these files (keys in scripts/README.md, "
            f"the ids of the other languages, so that samples are parallel), or name your folder with "
            f"--scripts:\n{files}"
        )


def _treat(scenarios: dict[str, Any], asked: str) -> None:
    """Set a treatment; a target level that the new one cannot have goes."""
    name, equals, preset = asked.rpartition("=")
    able = [scenario for scenario in scenarios if "treatment" in SCENARIOS[scenario].fields]
    if equals and name not in able:
        raise RecipeError(f"--treatment {asked}: {unknown('scenario with a treatment', name, tuple(able))}")
    if not able:
        raise RecipeError(
            f"--treatment {asked}: none of {', '.join(scenarios)} has a treatment; "
            f"{', '.join(n for n, s in SCENARIOS.items() if 'treatment' in s.fields)} have one"
        )
    for scenario in [name] if equals else able:
        scenarios[scenario]["treatment"] = preset
        if preset not in CALIBRATED_TREATMENTS:
            scenarios[scenario].pop("target_db", None)


def _changed(before: Recipe, after: Recipe) -> dict[str, tuple[Any, Any]]:
    """Return the keys whose values differ, with both values."""
    old, new = (_flat(_scenario_table(r)) for r in (before, after))
    return {key: (old.get(key), new.get(key)) for key in sorted({*old, *new}) if old.get(key) != new.get(key)}


def _scenario_table(recipe: Recipe) -> dict[str, Any]:
    """Return the recipe with its entries by scenario, without where it lies."""
    table = json.loads(json.dumps(asdict(replace(recipe, source="", scripts=Path())), default=str))
    entries = {entry.pop("scenario"): {**entry.pop("values"), **entry} for entry in table.pop("entries")}
    return {**table, "scenarios": entries}


def _flat(table: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(table, dict):
        return {prefix: table}
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else str(key))
    return flat
