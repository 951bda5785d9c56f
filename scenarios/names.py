"""What a dataset, a version, a language and a script may be called; recipes and commands ask here."""

from __future__ import annotations

import re
from typing import Any

from .. import RecipeError

_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")
_SCRIPT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

SCRIPT_ID = "at most 64 of the letters a-z and A-Z, digits, '.', '_' and '-', the first a letter or digit"
"""What a script's id is made of: it becomes part of sample ids, file names and lines of tables."""


def is_name(text: str) -> bool:
    """Return whether a dataset or a recipe can be called so."""
    return _NAME.fullmatch(text) is not None


def is_script_id(text: str) -> bool:
    """Return whether a script can be called so: see `SCRIPT_ID`.

    Examples
    --------
    >>> is_script_id("ui-001"), is_script_id("a/b"), is_script_id("..")
    (True, False, False)
    """
    return _SCRIPT_ID.fullmatch(text) is not None


def name_from(text: str) -> str:
    """Return the name that is nearest to a text, such as a folder's; nothing where no letter or digit is left.

    Examples
    --------
    >>> name_from("Our Calls (2024)")
    'our-calls-2024'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def read_name(value: Any, where: str) -> str:
    """Return a dataset's name, checked; `where` is the key or option that gave it."""
    if not isinstance(value, str) or not is_name(value):
        raise RecipeError(f"{where} = {value!r}: wanted lower-case letters, digits, '.', '-' and '_'")
    return value


def read_version(value: Any, where: str) -> str:
    """Return a semantic version, checked."""
    if not isinstance(value, str) or not _SEMVER.fullmatch(value):
        raise RecipeError(
            f"{where} = {value!r}: no semantic version; wanted MAJOR.MINOR.PATCH, for example 1.0.0"
        )
    return value


def read_language(value: Any, where: str) -> str:
    """Return a language tag, checked."""
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise RecipeError(f"{where} = {value!r}: wanted a language tag, for example en, ja or pt-BR")
    return value


def read_languages(value: Any, where: str) -> tuple[str, ...]:
    """Return a list of language tags, checked, none twice."""
    good = isinstance(value, list) and value and all(isinstance(v, str) for v in value)
    if not good or not all(_LANGUAGE.fullmatch(v) for v in value):
        raise RecipeError(f'{where} = {value!r}: wanted a list of language tags, for example ["en", "ja"]')
    if len(set(value)) != len(value):
        raise RecipeError(f"{where} = {value!r}: a language stands twice")
    return tuple(value)
