"""JSON that duplexkit wrote, read back: what is damaged is named by file, line and key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ReleaseError
from ..scenarios import text_file
from ..scenarios.fields import is_number
from ..scenarios.reason import reason_of

Form = Any
"""What a value has to be.

``str``, ``bool``, ``int``, ``float`` (any finite number), ``object`` (anything), ``None`` (null); ``[form]``: a
list; ``{"key": form}``: an object with these keys, ``"key?"`` where it may be absent, ``"*"`` for every key;
a tuple of shapes: one of them.
"""

_NAMES: dict[Any, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    object: "anything",
    None: "null",
}


def read_json(path: Path, form: Form, *, cure: str) -> Any:
    """Return what a JSON file holds.

    Parameters
    ----------
    path
    form
        What it has to hold.
    cure
        What a user may do if it does not, as the end of a sentence: "build the folder again".

    Raises
    ------
    ReleaseError
        If it is missing, unreadable, no JSON, or of another form; names the file and the key.
    """
    return _parsed(read_text(path, cure=cure), form, str(path), cure)


def read_json_lines(path: Path, form: Form, *, cure: str) -> Iterator[Any]:
    """Yield what each line of a file of JSON lines holds; empty lines hold nothing.

    Raises
    ------
    ReleaseError
        As `read_json`; names the line too.
    """
    for number, line in text_file.numbered_lines(read_text(path, cure=cure)):
        yield parse_line(line, form, where=f"{path} line {number}", cure=cure)


def parse_line(line: str | bytes, form: Form, *, where: str, cure: str) -> Any:
    """Return what one line of JSON holds; `where` is how an error names it."""
    return _parsed(line, form, where, cure)


def read_text(path: Path, *, cure: str) -> str:
    """Return the text of a file.

    Raises
    ------
    ReleaseError
        If it is missing, unreadable or not UTF-8.
    """
    try:
        return text_file.read_text(path, error=ReleaseError)
    except ReleaseError as error:
        raise ReleaseError(f"{error}; {cure}") from None


def _parsed(text: str | bytes, form: Form, where: str, cure: str) -> Any:
    if not text.strip():
        raise ReleaseError(f"{where}: empty, wanted JSON; {cure}")
    try:
        line = text.decode() if isinstance(text, bytes) else text
        value = text_file.parse_json(line, where, error=ReleaseError)
    except ReleaseError as error:
        raise ReleaseError(f"{error}: cut short or changed; {cure}") from None
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{where}: {reason_of(error)}; {cure}") from None
    wrong = misfit(value, form)
    if wrong:
        raise ReleaseError(f"{where}: {wrong}; {cure}")
    return value


def misfit(value: Any, form: Form, at: str = "") -> str:
    """Return the first thing in a value that is not as its form says; "" if all is.

    Examples
    --------
    >>> misfit({"files": {"a": {"rows": "2"}}}, {"files": {"*": {"rows": int}}})
    'files.a.rows is "2", wanted a whole number'
    >>> misfit({"kappa": None}, {"kappa": (float, None), "mean?": float})
    ''
    """
    if isinstance(form, tuple):
        found = [misfit(value, one, at) for one in form]
        if "" in found:
            return ""
        inner = (wrong for one, wrong in zip(form, found, strict=True) if type(one) is type(value))
        return next(inner, _says(value, " or ".join(_name(one) for one in form), at))
    if isinstance(form, list):
        if not isinstance(value, list):
            return _says(value, "a list", at)
        parts = ((form[0], part, f"{at}[{i}]") for i, part in enumerate(value))
    elif isinstance(form, dict):
        if not isinstance(value, dict):
            return _says(value, "an object", at)
        parts = (
            (form.get(key, form.get(f"{key}?", form.get("*", object))), part, _key(at, key))
            for key, part in value.items()
        )
        for key in form:
            if key != "*" and not key.endswith("?") and key not in value:
                return f"{_key(at, key)} is missing"
    else:
        return "" if _is(value, form) else _says(value, _name(form), at)
    return next((wrong for inner, part, place in parts if (wrong := misfit(part, inner, place))), "")


def _is(value: Any, form: Any) -> bool:
    if form is object:
        return True
    if form is None:
        return value is None
    if form is float:
        return is_number(value)
    if form is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, form)


def _key(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _name(form: Form) -> str:
    if isinstance(form, list | dict):
        return "a list" if isinstance(form, list) else "an object"
    return _NAMES[form]


def _says(value: Any, wanted: str, at: str) -> str:
    return f"{at or 'the content'} is {text_file.shown(value)}, wanted {wanted}"
