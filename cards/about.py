"""release.toml of a folder: what only its makers know, such as authors and consent."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import ReleaseError
from ..builders.json_file import read_text

FILE = "release.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Somebody who made the dataset."""

    name: str
    affiliation: str = ""
    orcid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the makers say of a release.

    `consent` maps a voice (or ``*``) to the basis on which it was cloned or recorded; `llm_terms` maps a
    language model to what its terms say of its output. `version` overrides the recipe's (a card-only release
    needs no rebuild); `notes` is Markdown of their own for the card.
    """

    repository: str = ""
    version: str = ""
    title: str = ""
    authors: tuple[Author, ...] = ()
    date: str = ""
    doi: str = ""
    contact: str = ""
    notes: str = ""
    consent: Mapping[str, str] = field(default_factory=dict)
    llm_terms: Mapping[str, str] = field(default_factory=dict)


_TEXTS = ("repository", "version", "title", "date", "doi", "contact", "notes")


def read_about(folder: Path) -> About:
    """Return what release.toml says; nothing where there is none.

    Raises
    ------
    ReleaseError
        If it cannot be read, or holds a key or value that means nothing here; names the key.
    """
    path = folder / FILE
    if not path.exists():
        return About()
    try:
        data = tomllib.loads(read_text(path, cure="write it again, or take it away"))
    except tomllib.TOMLDecodeError as error:
        raise ReleaseError(f"{path}: no TOML ({error})") from None
    known = {*_TEXTS, "authors", "consent", "llm_terms"}
    for key in data:
        if key not in known:
            raise ReleaseError(f"{path}: unknown key {key!r}; wanted {', '.join(sorted(known))}")
    texts = {key: _text(data, key, path) for key in _TEXTS}
    return About(
        **texts,
        authors=_authors(data.get("authors", []), path),
        consent=_texts(data.get("consent", {}), "consent", path),
        llm_terms=_texts(data.get("llm_terms", {}), "llm_terms", path),
    )


def _text(data: Mapping[str, Any], key: str, path: Path) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise ReleaseError(f"{path}: {key} = {value!r}; wanted a text in quotes")
    return value


def _texts(data: Any, key: str, path: Path) -> dict[str, str]:
    if not isinstance(data, dict):
        raise ReleaseError(f"{path}: {key} = {data!r}; wanted a table of texts, one per name")
    return {name: _text(data, name, path) for name in data}


def _authors(entries: Any, path: Path) -> tuple[Author, ...]:
    try:
        return tuple(Author(**{key: str(value) for key, value in entry.items()}) for entry in entries)
    except (AttributeError, TypeError):
        raise ReleaseError(
            f"{path}: authors = {entries!r}; wanted a list of {{ name, affiliation (optional), orcid (optional) }}"
        ) from None
