"""What engines have in common in reading ``[speech.options]`` and finding their packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ... import EngineError, RecipeError
from ...scenarios.conversation import Voice
from ...scenarios.fields import Field, IntRangeField, NameField, by_name, read_table

WHERE = "speech.options"

_VOICE_FIELDS = by_name(
    NameField(name="gender", meaning="of the voice", known=("female", "male", "other", "unknown")),
    NameField(name="accent", meaning="language tag of the accent, for example en-GB"),
    NameField(name="age", meaning="of the voice", known=("child", "young", "adult", "old", "unknown")),
    NameField(name="licence", meaning="SPDX id under which this voice may be used"),
    NameField(name="attribution", meaning="who is to be named for this voice"),
)


def needed(module: str, *, engine: str, install: str) -> Any:
    """Return the module, imported now.

    Raises
    ------
    EngineError
        If its package is missing, or does not load; says what to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        raise EngineError(
            f"the speech engine {engine!r} needs the package {missing!r}, which is not installed: {install}"
        ) from error
    except (ImportError, OSError) as error:
        raise EngineError(
            f"the speech engine {engine!r} cannot load {module!r}: {error}. See docs/engines.md for versions "
            f"that work together ({install})"
        ) from error


def read_options(
    options: Mapping[str, Any],
    *,
    fields: Mapping[str, Field],
    engine: str,
    required: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the engine's options, checked; what is drawn elsewhere in a recipe is one whole number here.

    Raises
    ------
    RecipeError
        For an unknown key, a value its field refuses, a range, or a required key that is missing.
    """
    values = read_table(options, fields=fields, where=WHERE, also=also)
    for key, value in values.items():
        if isinstance(fields[key], IntRangeField):
            if value[0] != value[1]:
                raise RecipeError(f"{WHERE}.{key} = {list(value)}: wanted one whole number")
            values[key] = value[0]
    for key in required:
        if key not in options:
            meaning = f" ({fields[key].meaning})" if key in fields else ""
            raise RecipeError(f"{WHERE}.{key} is missing{meaning}: engine {engine!r} needs it")
    return values


def read_texts(value: Any, where: str) -> tuple[str, ...]:
    """Return a list of texts, checked."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(v, str) and v for v in value):
        raise RecipeError(f"{where} = {value!r}: wanted a list of texts, not empty")
    return tuple(value)


def read_voices(
    table: Any,
    *,
    engine: str,
    languages: tuple[str, ...],
    licence: str,
    fields: Mapping[str, Field],
) -> dict[str, tuple[Voice, dict[str, Any]]]:
    """Return the voices of ``[speech.options.voices.NAME]``, and the engine's own values of each.

    Parameters
    ----------
    table : mapping of name to table
    engine : str
    languages : tuple of str
        What a voice speaks whose table does not say it; empty: it must say it.
    licence : str
        Of a voice whose table does not say it; empty: it must say it.
    fields : mapping of str to Field
        The engine's own keys of a voice.

    Raises
    ------
    RecipeError
        For a table that is missing or is not of this form; names the key.
    """
    where = f"{WHERE}.voices"
    if not isinstance(table, Mapping) or not table:
        raise RecipeError(f"{where} = {table!r}: engine {engine!r} wants a table per voice, [{where}.NAME]")
    voices: dict[str, tuple[Voice, dict[str, Any]]] = {}
    for name, row in table.items():
        here = f"{where}.{name}"
        values = read_table(row, fields={**_VOICE_FIELDS, **fields}, where=here, also=("languages",))
        spoken = read_texts(row["languages"], f"{here}.languages") if "languages" in row else languages
        allowed = values.get("licence", licence)
        if not spoken:
            raise RecipeError(f'{here}.languages is missing: wanted a list of language tags, like ["en"]')
        if not allowed:
            raise RecipeError(f"{here}.licence is missing: the SPDX id under which the voice may be used")
        voice = Voice(
            id=name,
            engine=engine,
            languages=spoken,
            gender=values.get("gender", "unknown"),
            accent=values.get("accent", ""),
            licence=allowed,
            attribution=values.get("attribution", ""),
            mix=((f"{engine}:{name}", 1.0),),
            age=values.get("age", "unknown"),
        )
        voices[name] = (voice, {key: values[key] for key in fields if key in values})
    return voices


def sets_of(voices: Mapping[str, Voice]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the sets of voices of each language: all of them (``default``), and those of each gender."""
    sets: dict[str, dict[str, tuple[str, ...]]] = {}
    for voice in voices.values():
        for language in voice.languages:
            named = sets.setdefault(language, {})
            for name in ("default", voice.gender):
                named[name] = (*named.get(name, ()), voice.id)
    return sets


def speaks(languages: tuple[str, ...], language: str) -> bool:
    """Return whether `language` (BCP-47) is one of `languages`, by first parts."""
    return language.split("-")[0].lower() in {known.split("-")[0].lower() for known in languages}
