"""The recipe: one TOML file to one frozen, checked value."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import RecipeError
from . import SCENARIOS
from .bank import SHIPPED as SHIPPED_SCRIPTS
from .bank import languages_of
from .conversation import Role
from .fields import IntRangeField, NameField, NumberField, Range, RangeField, by_name, read_table, unknown
from .gate_limits import CORE_MEASURES, read_gates, read_measures
from .names import is_name, read_languages, read_name, read_version
from .overrides import apply_override
from .scenario import Entry
from .text_file import numbered_lines, read_text
from .wanted_splits import WantedSplits, read_wanted_splits

SHIPPED = Path(str(files(__package__))) / "recipes"

MOST = 1_000_000
"""Samples of a scenario in a language, at most: a build keeps a list of them."""

_SPLITS = ("train", "validation", "test")
_RATES_HZ = (16000, 24000, 48000)

_TOP = by_name(
    NameField(name="name", meaning="the dataset's name"),
    NameField(name="version", meaning="semantic version of the dataset, the release's tag without the v"),
    NameField(name="description", meaning="one sentence for the card"),
    NameField(name="licence", meaning="SPDX id under which the dataset goes out"),
    NameField(
        name="scripts", meaning="folder with scripts in the bank's layout, instead of the shipped bank"
    ),
)
_TOP_ALSO = ("seed", "languages", "sample_rate_hz", "speech", "checks", "splits", "scenarios")

_SPEED = RangeField(
    name="speed", unit="times normal", low=0.5, high=2.0, meaning="speaking rate asked of the engine"
)
_CHECKS = by_name(
    NumberField(
        name="level_tolerance_db", unit="dB", low=0.0, high=3.0, meaning="event level against target"
    ),
    NumberField(
        name="edge_tolerance_s", unit="seconds", low=0.0, high=1.0, meaning="event times against a detector"
    ),
    NumberField(
        name="max_rejected_fraction",
        unit="share",
        low=0.0,
        high=1.0,
        meaning="a build that loses more than this stops",
    ),
    IntRangeField(name="attempts", unit="attempts", low=1, high=20, meaning="times a bad sample is tried"),
    NameField(name="recogniser", meaning="folder or Hub id of a Whisper model for languages beside English"),
)
_CHECKS_ALSO = ("measures", "gates")
_ENTRY_ALSO = ("count", "preset", "languages", "splits", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Who speaks: the engine, and per language and role the name of a voice set or a list of voices.

    `options` are the engine's affair (URL, model folder, reference voices); it checks them itself.
    """

    engine: str
    options: Mapping[str, Any]
    speed: Range
    voices: Mapping[str, Mapping[str, str | tuple[str, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """The limits of a good sample; what `measures` and `gates` name is checked in builders/gates.py."""

    level_tolerance_db: float = 0.1
    edge_tolerance_s: float = 0.03
    max_rejected_fraction: float = 0.05
    attempts: int = 3
    measures: tuple[str, ...] = CORE_MEASURES
    gates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    recogniser: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides a dataset. `source` is where it was read from (for messages only)."""

    source: str
    name: str
    version: str
    description: str
    seed: int
    languages: tuple[str, ...]
    sample_rate_hz: int
    licence: str
    scripts: Path
    speech: Speech
    checks: Checks
    entries: tuple[Entry, ...]
    splits: WantedSplits | None = None
    """Splits by what was measured; they replace those of the entries."""


def shipped_recipes() -> tuple[str, ...]:
    """Return the names of the recipes that come with the package."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load_recipe(name_or_path: str, overrides: tuple[str, ...] = ()) -> Recipe:
    """Return a shipped recipe by name, or the one in a TOML file, with ``key=value`` overrides applied.

    Raises
    ------
    RecipeError
        If there is no such recipe, or it cannot be built as written; names file and key.
    """
    path = _find(name_or_path)
    text = read_text(path, error=RecipeError)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: {_syntax(str(error), text)}") from None
    return read_recipe(data, path, overrides)


def read_recipe(data: dict[str, Any], path: Path, overrides: tuple[str, ...] = ()) -> Recipe:
    """Return the recipe that a TOML table says, with ``key=value`` overrides applied to it.

    Parameters
    ----------
    path
        Where it was read: relative paths start in its folder, and messages name it.

    Raises
    ------
    RecipeError
        If it cannot be built as written; names the path and the key.
    """
    for override in overrides:
        apply_override(data, override)
    try:
        return _recipe(data, path)
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from None


def _find(name_or_path: str) -> Path:
    shipped = SHIPPED / f"{name_or_path}.toml"
    if is_name(name_or_path) and shipped.is_file():
        return shipped
    path = Path(name_or_path)
    if path.is_file():
        return path
    raise RecipeError(
        f"{name_or_path}: no such file, and no shipped recipe of that name; "
        f"{unknown('recipe', name_or_path, shipped_recipes())}"
    )


def _syntax(message: str, text: str) -> str:
    """Return what is wrong with the TOML; a scenario that stands twice is said in our words."""
    found = re.search(r"Cannot declare \('scenarios', '(\w+)'\) twice", message)
    if found:
        lines = [
            str(number)
            for number, line in numbered_lines(text)
            if re.match(rf"\s*\[\s*scenarios\s*\.\s*{found.group(1)}\s*\]", line)
        ]
        return (
            f"scenarios.{found.group(1)} stands twice (lines {' and '.join(lines)}); a scenario has one "
            f"entry: join them, or build two datasets"
        )
    return f"no valid TOML: {message}"


def _recipe(data: dict[str, Any], path: Path) -> Recipe:
    for key in sorted(set(data) - set(_TOP) - set(_TOP_ALSO)):
        raise RecipeError(f"{key}: {unknown('key', key, (*_TOP, *_TOP_ALSO))}")
    for key in ("name", "version", "seed", "languages", "licence", "speech", "scenarios"):
        if key not in data:
            raise RecipeError(f"the key '{key}' is missing")
    top = {key: str(_TOP[key].read(data[key], key)) for key in _TOP if key in data}
    read_name(top["name"], "name")
    read_version(top["version"], "version")
    seed = data["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise RecipeError(f"seed = {seed!r}: wanted a whole number from 0 to 2^63 - 1")
    rate = data.get("sample_rate_hz", 24000)
    if not isinstance(rate, int) or rate not in _RATES_HZ:
        raise RecipeError(
            f"sample_rate_hz = {rate!r}: wanted one of {', '.join(map(str, _RATES_HZ))} (hertz)"
        )
    languages = read_languages(data["languages"], "languages")
    scripts = SHIPPED_SCRIPTS
    if "scripts" in top:
        scripts = (path.parent / top["scripts"]).resolve()
        if not scripts.is_dir():
            raise RecipeError(f"scripts = {top['scripts']!r}: there is no folder {scripts}")
    checks = read_table(data.get("checks", {}), fields=_CHECKS, where="checks", also=_CHECKS_ALSO)
    if "attempts" in checks:
        low, high = checks["attempts"]
        if low != high:
            raise RecipeError(f"checks.attempts = [{low}, {high}]: wanted one whole number")
        checks["attempts"] = low
    if "measures" in data.get("checks", {}):
        checks["measures"] = read_measures(data["checks"]["measures"], "checks.measures")
    if "gates" in data.get("checks", {}):
        checks["gates"] = read_gates(data["checks"]["gates"], "checks.gates")
    return Recipe(
        source=str(path),
        name=top["name"],
        version=top["version"],
        description=top.get("description", ""),
        seed=seed,
        languages=languages,
        sample_rate_hz=rate,
        licence=top["licence"],
        scripts=scripts,
        speech=_speech(data["speech"], languages),
        checks=Checks(**checks),
        entries=_entries(data["scenarios"], languages, scripts),
        splits=read_wanted_splits(data["splits"]) if "splits" in data else None,
    )


def _speech(table: Any, languages: tuple[str, ...]) -> Speech:
    values = read_table(
        table,
        fields=by_name(NameField(name="engine", meaning="speech engine"), _SPEED),
        where="speech",
        also=("voices", "options"),
    )
    options = table.get("options", {})
    if not isinstance(options, Mapping):
        raise RecipeError(f"speech.options = {options!r}: wanted a table of the engine's options")
    voices = table.get("voices", {})
    if not isinstance(voices, Mapping):
        raise RecipeError(f"speech.voices = {voices!r}: wanted a table per language")
    chosen: dict[str, dict[str, str | tuple[str, ...]]] = {}
    for language, roles in voices.items():
        if language not in languages:
            raise RecipeError(f"speech.voices.{language}: {unknown('language', language, languages)}")
        if not isinstance(roles, Mapping):
            raise RecipeError(f"speech.voices.{language} = {roles!r}: wanted a table per role")
        chosen[language] = {}
        for role, value in roles.items():
            where = f"speech.voices.{language}.{role}"
            if role not in tuple(Role):
                raise RecipeError(f"{where}: {unknown('role', role, tuple(Role))}")
            if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
                chosen[language][role] = tuple(value)
            elif isinstance(value, str):
                chosen[language][role] = value
            else:
                raise RecipeError(f"{where} = {value!r}: wanted the name of a voice set, or a list of voices")
    return Speech(
        engine=values.get("engine", "kokoro"),
        options=options,
        speed=values.get("speed", (1.0, 1.0)),
        voices=chosen,
    )


def _entries(table: Any, languages: tuple[str, ...], scripts: Path) -> tuple[Entry, ...]:
    if not isinstance(table, Mapping) or not table:
        raise RecipeError(
            f"scenarios = {table!r}: wanted a table per scenario, for example [scenarios.mt_qa]"
        )
    return tuple(_entry(name, value, languages, scripts) for name, value in table.items())


def _entry(name: str, table: Any, languages: tuple[str, ...], scripts: Path) -> Entry:
    where = f"scenarios.{name}"
    if name not in SCENARIOS:
        raise RecipeError(f"{where}: {unknown('scenario', name, tuple(SCENARIOS))}")
    scenario = SCENARIOS[name]
    given = read_table(table, fields=scenario.fields, where=where, also=_ENTRY_ALSO)
    preset_name = table.get("preset", next(iter(scenario.presets)))
    if not isinstance(preset_name, str) or preset_name not in scenario.presets:
        raise RecipeError(
            f"{where}.preset = {preset_name!r}: "
            f"{unknown('preset', str(preset_name), tuple(scenario.presets))}"
        )
    preset = scenario.presets[preset_name]
    count = table.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST:
        more = (
            "; more go into several builds, each with its own seed"
            if isinstance(count, int) and count > 1
            else ""
        )
        raise RecipeError(
            f"{where}.count = {count!r}: wanted a whole number of samples per language, from 1 to {MOST}{more}"
        )
    own = read_languages(table["languages"], f"{where}.languages") if "languages" in table else languages
    for language in own:
        if language not in languages:
            raise RecipeError(f"{where}.languages: {language!r} is not among the recipe's languages")
        there = languages_of(name, scripts)
        if language not in there:
            raise RecipeError(
                f"{where}: no scripts in language {language!r}: {scripts / language / f'{name}.jsonl'} is not "
                f"there; languages with scripts: {', '.join(there) or 'none'}. Write that file "
                f"(keys in scripts/README.md), or limit the entry with languages = [...]"
            )
    tags = table.get("tags", list(preset.tags))
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise RecipeError(f"{where}.tags = {tags!r}: wanted a list of words")
    values = {
        key: scenario.fields[key].read(value, f"preset {preset_name}, {key}")
        for key, value in preset.values.items()
    }
    changed = any(values.get(key) != value for key, value in given.items())
    return Entry(
        scenario=name,
        preset=f"{preset_name}+" if changed else preset_name,
        fdb_relation="own" if changed and preset.fdb_relation == "same-rule" else preset.fdb_relation,
        count=count,
        languages=own,
        splits=_splits(table.get("splits", {"test": 1.0}), where),
        tags=tuple(tags),
        values={**values, **given},
    )


def _splits(table: Any, where: str) -> dict[str, float]:
    fields = by_name(
        *(NumberField(name=s, unit="share", low=0.0, high=1.0, meaning="share of scripts") for s in _SPLITS)
    )
    splits: dict[str, float] = read_table(table, fields=fields, where=f"{where}.splits")
    if abs(sum(splits.values()) - 1.0) > 1e-9:
        raise RecipeError(
            f"{where}.splits = {dict(table)}: the shares must add up to 1, not {sum(splits.values()):g}"
        )
    return splits


def recipe_digest(recipe: Recipe) -> str:
    """Return the SHA-256 of everything that decides the dataset, the scripts among it (not where they lie)."""
    parts = asdict(replace(recipe, source="", scripts=Path()))
    return _digest({**parts, "scripts": _scripts_digest(recipe)})


def _scripts_digest(recipe: Recipe) -> dict[str, str]:
    """Return the SHA-256 of each script file that the recipe draws from."""
    names = [f"{language}/{entry.scenario}.jsonl" for entry in recipe.entries for language in entry.languages]
    found = [(name, recipe.scripts / name) for name in names if (recipe.scripts / name).is_file()]
    return {name: _file_digest(path, path.stat().st_mtime_ns) for name, path in found}


@lru_cache(maxsize=256)
def _file_digest(path: Path, changed_ns: int) -> str:
    """Return the SHA-256 of a file as it was when it last changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def row_digest(recipe: Recipe, entry: Entry) -> str:
    """Return the SHA-256 of the parts of the recipe that decide one row of `entry`.

    Not among them: name, version, counts, the other scenarios, the list of languages, and the limits that
    say how often a sample is tried and how many may be lost.
    """
    checks = asdict(recipe.checks)
    for limit in ("attempts", "max_rejected_fraction"):
        checks.pop(limit)
    parts = {
        "seed": recipe.seed,
        "sample_rate_hz": recipe.sample_rate_hz,
        "speech": asdict(recipe.speech),
        "checks": checks,
        "entry": {**asdict(entry), "count": None, "languages": None},
    }
    return _digest(parts)


def _digest(parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
