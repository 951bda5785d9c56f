"""Files that people wrote, read as text or JSON: what cannot be read is said by file, line and place."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
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


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield number and text of each line that is not blank.

    A line ends at a line feed only (`read_text` makes every system's line ends that): characters that
    `str.splitlines` takes for ends too, such as U+2028, may stand inside a JSON text as they are.

    Examples
    --------
    >>> list(numbered_lines('{"text": "a\u2028b"}\n\n{}\n'))
    [(1, '{"text": "a\u2028b"}'), (3, '{}')]
    """
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def unprintable(text: str, *, one_line: bool = False) -> str:
    r"""Return the code of the first control character in a text, as U+0000; "" if there is none.

    Parameters
    ----------
    text
    one_line
        Tabs and line ends count too.

    Examples
    --------
    >>> unprintable("a\x00b"), unprintable("a\nb"), unprintable("a\nb", one_line=True)
    ('U+0000', '', 'U+000A')
    """
    for char in text:
        kind = unicodedata.category(char)
        if kind in ("Cc", "Zl", "Zp") and (one_line or not char.isspace()):
            return f"U+{ord(char):04X}"
    return ""


def parse_json(text: str, where: str, *, error: type[DuplexkitError] = ScriptError) -> Any:
    """Return what a text says in JSON; `where` names the file, and the line where it is one of many.

    Raises
    ------
    DuplexkitError
        An `error`, if it is none, gives a key of an object twice, or holds half of a surrogate pair, which no
        file can hold as text.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as found:
        line = f"line {found.lineno}, " if "\n" in text.strip() else ""
        raise error(
            f"{where}: no JSON ({found.msg.removesuffix(' at')} at {line}column {found.colno})"
        ) from None
    except RecursionError:
        raise error(f"{where}: no JSON that can be read (brackets within brackets without end)") from None
    except _GivenTwice as found:
        raise error(
            f"{where}: {shown(found.key)} stands twice in the object that begins with {shown(found.begins)}; keep "
            "one of them"
        ) from None
    except ValueError:  # Python's limit, some thousands of digits
        raise error(f"{where}: no JSON that can be read (a number with thousands of digits)") from None
    half = _HALF.search(text) and _half_in(value)
    if half:
        raise error(
            f"{where}: \\u{half} is half of a character; write both halves of the pair, or the character itself"
        )
    return value


class _GivenTwice(ValueError):
    """A key that an object has twice: one of its values would be lost."""

    def __init__(self, key: str, begins: dict[str, Any]) -> None:
        super().__init__(key)
        self.key, self.begins = key, begins


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, of_key in pairs:
        if key in value:
            raise _GivenTwice(key, dict(pairs[:1]))
        value[key] = of_key
    return value


_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _half_in(value: Any) -> str:
    """Return the first surrogate without its other half, as four hexadecimal digits; "" if there is none."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as found:
        return f"{ord(found.object[found.start]):04x}"
    return ""


def parse_rows(text: str, where: str, *, error: type[DuplexkitError] = ScriptError) -> list[Any]:
    """Return the values of a JSON list, or of JSON lines; errors as `parse_json`."""
    if text.lstrip().startswith("["):
        return list(parse_json(text, where, error=error))
    return [parse_json(line, f"{where} line {number}", error=error) for number, line in numbered_lines(text)]


def numbered_rows(
    path: Path, *, delimiter: str, error: type[DuplexkitError] = ScriptError
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a table with a line of column names, each with the number of the line at which it ends.

    Raises
    ------
    DuplexkitError
        An `error`, if the file cannot be read, or is no such table; names the line.
    """
    text = read_text(path, error=error, encoding="utf-8-sig")
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if None in row:
                raise error(
                    f"{path} line {reader.line_num}: more fields than columns ({', '.join(reader.fieldnames or ())}); "
                    f"put a text with a {'tab' if delimiter == chr(9) else repr(delimiter)} in it in double quotes"
                )
            yield reader.line_num, row
    except csv.Error as found:
        line = reader.line_num + 1  # it counts the lines that are read to the end
        raise error(f"{path} line {line}: no row of a table ({reason_of(found)})") from None


def shown(value: object) -> str:
    """Return a value as a message shows it: as JSON, cut where it is long, on one line that every screen shows."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return text if len(text) <= 60 else f"{text[:57]}..."
