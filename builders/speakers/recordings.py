"""Recorded clips that a user brings: read from a folder with a table, or from a Hugging Face dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ... import EngineError, RecipeError
from ...scenarios.reason import reason_of
from ...scenarios.text_file import numbered_lines, numbered_rows, parse_json, read_text, shown
from .options import WHERE, needed
from .words import is_mark

TABLES = ("metadata.jsonl", "metadata.csv")
"""Names of a folder's table, as Hugging Face's audio folders have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One clip: who says what, the file's bytes by hash, and word times if they were given.

    `read` gives the bytes of the sound file; they are not kept. `where` names the row it comes from.
    """

    text: str
    speaker: str
    language: str
    gender: str
    age: str
    accent: str
    words: tuple[tuple[str, float, float], ...] | None
    sha256: str
    read: Callable[[], bytes]
    where: str


def from_folder(folder: Path, columns: Mapping[str, str], language: str) -> list[Recording]:
    """Return the recordings of a folder that has ``metadata.jsonl`` or ``metadata.csv``.

    Parameters
    ----------
    folder : Path
    columns : mapping
        What the columns ``text``, ``audio`` and ``speaker`` are called.
    language : str
        Of rows that do not say it.

    Raises
    ------
    RecipeError
        If there is no table, or a row is wrong; names file and line.
    """
    table = next((folder / name for name in TABLES if (folder / name).is_file()), None)
    if table is None:
        raise RecipeError(f"{WHERE}.clips_dir: {folder} has no {' and no '.join(TABLES)}")
    recordings = []
    for number, row in _rows(table):
        where = f"{table} line {number}"
        name = _text(row, columns["audio"], where)
        path = _inside(folder, name)
        if path is None:
            raise RecipeError(f"{where}: {columns['audio']} = {name!r}: there is no such file in {folder}")
        recordings.append(_recording(row, columns, language, where, read=path.read_bytes))
    return recordings


def _inside(folder: Path, name: str) -> Path | None:
    """Return the file of that name in a folder; None where there is none, or it lies elsewhere."""
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, RuntimeError, ValueError):  # too long, links in a circle, a character no name can have
        return None


def from_dataset(
    name: str,
    *,
    config: str | None,
    split: str,
    revision: str | None,
    columns: Mapping[str, str],
    language: str,
) -> list[Recording]:
    """Return the recordings of a Hugging Face dataset: a name on the hub, or a local folder.

    Raises
    ------
    EngineError
        If it cannot be loaded.
    RecipeError
        If it lacks a column, or a row is wrong.
    """
    datasets = needed("datasets", engine="recorded", install="pip install duplexkit")
    try:
        rows = datasets.load_dataset(name, config, split=split, revision=revision)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise EngineError(f"{WHERE}.dataset = {name!r} cannot be loaded: {reason_of(error)}") from error
    lost = [column for column in columns.values() if column not in rows.column_names]
    if lost:
        raise RecipeError(
            f"{WHERE}.dataset: {name!r} has no column {lost[0]!r}; {', '.join(rows.column_names)}"
        )
    try:
        rows = rows.cast_column(columns["audio"], datasets.Audio(decode=False))
    except (TypeError, ValueError, RuntimeError) as error:
        raise RecipeError(
            f"{WHERE}.dataset: the column {columns['audio']!r} of {name!r} holds no sound: {reason_of(error)}"
        ) from error
    recordings = []
    for number, row in enumerate(rows.remove_columns(columns["audio"])):
        where = f"dataset {name}, row {number}"
        read = partial(_sound_of, rows, number, columns["audio"])
        recordings.append(_recording(row, columns, language, where, read=read))
    return recordings


def _sound_of(rows: Any, number: int, column: str) -> bytes:
    """Return the bytes of a dataset's sound; the dataset lies on disk."""
    audio = rows[number][column]
    data: bytes = audio["bytes"] if audio["bytes"] is not None else Path(audio["path"]).read_bytes()
    return data


def _rows(table: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a table with the number of the line at which each ends."""
    if table.suffix == ".csv":
        yield from numbered_rows(table, delimiter=",", error=RecipeError)
        return
    for number, line in numbered_lines(read_text(table, error=RecipeError, encoding="utf-8-sig")):
        where = f"{table} line {number}"
        row = parse_json(line, where, error=RecipeError)
        if not isinstance(row, dict):
            raise RecipeError(f"{where}: wanted an object, not {line[:40]!r}")
        yield number, row


def _recording(
    row: Mapping[str, Any],
    columns: Mapping[str, str],
    language: str,
    where: str,
    *,
    read: Callable[[], bytes],
) -> Recording:
    return Recording(
        text=_text(row, columns["text"], where),
        speaker=_speaker(_text(row, columns["speaker"], where), where),
        language=str(row.get("language") or language),
        gender=str(row.get("gender") or "unknown"),
        age=str(row.get("age") or "unknown"),
        accent=str(row.get("accent") or ""),
        words=_given_words(row.get("words"), where),
        sha256=hashlib.sha256(_bytes(read, where)).hexdigest(),
        read=read,
        where=where,
    )


def _bytes(read: Callable[[], bytes], where: str) -> bytes:
    try:
        return read()
    except (OSError, RuntimeError, TypeError, KeyError, ValueError) as error:
        raise RecipeError(f"{where}: its sound cannot be read: {reason_of(error)}") from error


def _text(row: Mapping[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if not isinstance(value, str | int) or not str(value).strip():
        raise RecipeError(
            f"{where}: {column} = {value!r}: wanted a text; columns: {', '.join(map(str, row))}"
        )
    return str(value).strip()


def _speaker(name: str, where: str) -> str:
    if not all(char.isalnum() or is_mark(char) or char in "._-" for char in name):
        raise RecipeError(f"{where}: speaker {name!r}: wanted letters, digits, '.', '-' and '_'")
    return name


def _given_words(words: Any, where: str) -> tuple[tuple[str, float, float], ...] | None:
    """Return the times a table gives: a list of {text, onset_s, offset_s}."""
    if not words:
        return None
    if isinstance(words, str):
        words = parse_json(words, f"{where}: words", error=RecipeError)
    try:
        return tuple((str(w["text"]), float(w["onset_s"]), float(w["offset_s"])) for w in words)
    except (KeyError, TypeError, ValueError):
        raise RecipeError(
            f'{where}: words: {shown(words)}; wanted a list of {{"text", "onset_s", "offset_s"}}'
        ) from None
