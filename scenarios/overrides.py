"""``KEY=VALUE`` of the command line, set in the table that a recipe was read from."""

from __future__ import annotations

import tomllib
from typing import Any

from .. import RecipeError


def keys_of(override: str) -> tuple[str, ...]:
    """Return the keys of an override, from the outermost table to the value.

    Raises
    ------
    RecipeError
        If it is no ``KEY=VALUE``.

    Examples
    --------
    >>> keys_of("scenarios.mt_qa.count=8")
    ('scenarios', 'mt_qa', 'count')
    """
    key, equals, _ = override.partition("=")
    keys = tuple(part.strip() for part in key.split("."))
    if not equals or not all(keys):
        raise RecipeError(f"--set {override}: wanted KEY=VALUE, for example --set seed=7")
    return keys


def apply_override(data: dict[str, Any], override: str) -> None:
    """Set a value in a recipe's table; what is no TOML value is a text.

    Raises
    ------
    RecipeError
        If it is no ``KEY=VALUE``, or a key on the way holds a value.
    """
    *parents, last = keys_of(override)
    table: Any = data
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise RecipeError(f"--set {override}: {parent!r} is a value, not a table of keys")
    table[last] = _value(override.partition("=")[2])


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"x = {text}")
    except tomllib.TOMLDecodeError:
        return text  # a bare word
    return parsed["x"] if set(parsed) == {"x"} else text
