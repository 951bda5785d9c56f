"""Files that people wrote, read as text or JSON: what cannot be read is said by file, line and place."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from .. import DuplexkitError, ScriptError
from .reason import reason_of


def read_text(path: Path, *, error: type[DuplexkitError] = ScriptError, encoding: str = "utf-8") -> str:
    """Return the text of a file.

    Parameters
    ----------
    path
    error
        What is raised, by what the file is for.
    encoding
        ``utf-8``, or ``utf-8-sig`` where programs that write tables put a mark first.

    Raises
    ------
    DuplexkitError
        An `error`, if the file is missing, unreadable or not UTF-8.
    """
    try:
        return path.read_text(encoding=encoding)
    except UnicodeDecodeError as found:
        raise error(f"{path}: {reason_of(found)}; save it as UTF-8") from None
    except OSError as found:
        raise error(f"{path}: cannot be read ({reason_of(found)})") from None


def parse_json(text: str, where: str, *, error: type[DuplexkitError] = ScriptError) -> Any:
    """Return what a text says in JSON; `where` names the file, and the line where it is one of many.

    Raises
    ------
    DuplexkitError
        An `error`, if it is none.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as found:
        line = f"line {found.lineno}, " if "\n" in text.strip() else ""
        raise error(
            f"{where}: no JSON ({found.msg.removesuffix(' at')} at {line}column {found.colno})"
        ) from None
    except RecursionError:
        raise error(f"{where}: no JSON that can be read (brackets within brackets without end)") from None


def parse_rows(text: str, where: str, *, error: type[DuplexkitError] = ScriptError) -> list[Any]:
    """Return the values of a JSON list, or of JSON lines; errors as `parse_json`."""
    if text.lstrip().startswith("["):
        return list(parse_json(text, where, error=error))
    return [
        parse_json(line, f"{where} line {number}", error=error)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    ]


def table_rows(
    path: Path, *, delimiter: str, error: type[DuplexkitError] = ScriptError
) -> list[dict[str, Any]]:
    """Return the rows of a table with a line of column names.

    Raises
    ------
    DuplexkitError
        An `error`, if the file cannot be read, or is no such table; names the line.
    """
    reader = csv.DictReader(
        io.StringIO(read_text(path, error=error, encoding="utf-8-sig")), delimiter=delimiter
    )
    try:
        return list(reader)
    except csv.Error as found:
        raise error(f"{path} line {reader.line_num}: no row of a table ({found})") from None


def shown(value: object) -> str:
    """Return a value as a message shows it: as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
