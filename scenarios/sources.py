"""Where an entry's scripts come from: the script bank, or a file that the user has."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from .. import RecipeError
from .bank import load_scripts
from .conversation import Script
from .scenario import Entry
from .topiocqa import read_topiocqa

_TOPIOCQA = "topiocqa:"


def entry_scripts(entry: Entry, language: str, folder: Path, base: Path) -> tuple[Script, ...]:
    """Return the scripts an entry draws from in a language, before its tags.

    Parameters
    ----------
    entry
        Its `source` is ``bank`` (also where it has none), or ``topiocqa:FILE``.
    language
    folder
        The bank.
    base
        The folder a relative FILE is seen from: the recipe's.

    Raises
    ------
    RecipeError
        For an unknown source, or a language the source does not have.
    ScriptError
        If the scripts cannot be read; names file and line.
    """
    source = str(entry.values.get("source", "bank"))
    if source == "bank":
        return load_scripts(entry.scenario, language, folder)
    if not source.startswith(_TOPIOCQA) or len(source) == len(_TOPIOCQA):
        raise RecipeError(
            f"scenarios.{entry.scenario}.source = {source!r}: wanted 'bank' or 'topiocqa:FILE', "
            f"for example topiocqa:data/topiocqa_valid.jsonl"
        )
    if language.partition("-")[0] != "en":
        raise RecipeError(
            f"scenarios.{entry.scenario}.source = {source!r}: TopiOCQA is English, it has no {language!r}; "
            f'limit the entry with languages = ["en"], or translate its scripts into a bank of yours'
        )
    return _topiocqa(base / source.removeprefix(_TOPIOCQA), entry.scenario)


@lru_cache(maxsize=8)
def _topiocqa(path: Path, scenario: str) -> tuple[Script, ...]:
    return read_topiocqa(path, scenario=scenario)
