"""What the linter knows of a language: word lists and patterns, one TOML file each in ``languages/``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from ... import ScriptError
from ..fields import unknown

_FOLDER = files(__package__) / "languages"

Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRules:
    """The rules of one language; every pattern is tried anywhere in the shown text.

    `unit` is what lengths are counted in: words between spaces, or beats (morae) of the reading. `tokens`
    is what near duplicates are compared by. `lengths` maps scenario and part of a script to its bounds.
    """

    language: str
    name: str
    unit: Literal["words", "morae"]
    tokens: Literal["words", "bigrams"]
    letters: re.Pattern[str]
    characters: re.Pattern[str]
    unspeakable: tuple[tuple[str, re.Pattern[str]], ...]
    function_words: re.Pattern[str]
    min_function_share: float
    question: re.Pattern[str]
    fillers: re.Pattern[str]
    turn_end: re.Pattern[str]
    not_content: re.Pattern[str]
    digits: re.Pattern[str]
    list_before: re.Pattern[str]
    list_after: re.Pattern[str]
    long_request: re.Pattern[str]
    obeyable: re.Pattern[str]
    imperative: re.Pattern[str]
    newsmark: re.Pattern[str]
    banned: re.Pattern[str]
    brands: re.Pattern[str]
    referring: tuple[tuple[str, re.Pattern[str]], ...]
    antecedents: Mapping[str, re.Pattern[str]]
    not_referring: re.Pattern[str]
    written_only: re.Pattern[str]
    max_token_beats: int
    beats_per_s: float
    lengths: Mapping[str, Mapping[str, Bounds]]


def known_languages() -> tuple[str, ...]:
    """Return the languages that have a rule file."""
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir()))


def has_rules(language: str) -> bool:
    """Return whether there are rules for a language (BCP-47; its first part decides)."""
    return _file(_primary(language)).is_file()


def _primary(language: str) -> str:
    return language.split("-")[0].lower()


def _file(primary: str) -> Traversable:
    return _FOLDER / f"{primary}.toml"


@cache
def load_rules(language: str) -> LanguageRules:
    """Return the rules of a language (BCP-47; its first part decides).

    Raises
    ------
    ScriptError
        If there are none.
    """
    primary = _primary(language)
    path = _file(primary)
    if not path.is_file():
        raise ScriptError(
            f"the linter has no rules for language {language!r}: {unknown('language', primary, known_languages())}; "
            f"a language is added by a file scenarios/lint/languages/{primary}.toml"
        )
    return _rules(primary, tomllib.loads(path.read_text(encoding="utf-8")))


def _rules(language: str, data: dict[str, Any]) -> LanguageRules:
    return LanguageRules(
        language=language,
        name=data["name"],
        unit=data["unit"],
        tokens=data["tokens"],
        letters=re.compile(data["letters"]),
        characters=re.compile(data["characters"]),
        unspeakable=tuple((name, re.compile(pattern)) for name, pattern in data["unspeakable"].items()),
        function_words=_any(data["function_words"]),
        min_function_share=data["min_function_share"],
        question=_any(data["question"]),
        fillers=_any(data["fillers"]),
        turn_end=_any(data["turn_end"]),
        not_content=_any(data["not_content"]),
        digits=_any(data["digits"]),
        list_before=_any(data["list_before"]),
        list_after=_any(data["list_after"]),
        long_request=_any(data["long_request"]),
        obeyable=_any(data["obeyable"]),
        imperative=_any(data["imperative"]),
        newsmark=_any(data["newsmark"]),
        banned=_any(data["banned"]),
        brands=_any(data["brands"], ignore_case=False),
        referring=tuple((name, _any(patterns)) for name, patterns in data["referring"].items()),
        antecedents={name: _any(patterns) for name, patterns in data["antecedents"].items()},
        not_referring=_any(data["not_referring"]),
        written_only=_any(data["written_only"]),
        max_token_beats=data["max_token_beats"],
        beats_per_s=data["beats_per_s"],
        lengths={
            scenario: {part: (low, high) for part, (low, high) in parts.items()}
            for scenario, parts in data["lengths"].items()
        },
    )


def _any(patterns: list[str], *, ignore_case: bool = True) -> re.Pattern[str]:
    """Return one pattern for any of several (none: never matches)."""
    joined = "|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)"
    return re.compile(joined, re.IGNORECASE if ignore_case else 0)
