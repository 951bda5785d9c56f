"""What [checks] says of quality: which measures run, and the limits that change the default gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import RecipeError
from .fields import is_number, unknown

CORE_MEASURES = ("active_level", "silences", "clipping", "truncation", "speaking_rate", "pitch")
"""What every build measures: these need no model and cost some 2 % of the speech's length on one core."""

_KEYS = ("at_least", "at_most", "try_for", "scope")
_SCOPES = ("utterance", "sample")


def read_measures(value: Any, where: str) -> tuple[str, ...]:
    """Return the measures beside the core ones, checked for form; their names are checked by builders/quality."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RecipeError(
            f'{where} = {value!r}: wanted a list of measures, for example ["dnsmos", "wer"]; '
            "see `duplexkit list measures`"
        )
    return tuple(dict.fromkeys((*CORE_MEASURES, *value)))


def read_gates(table: Any, where: str) -> dict[str, dict[str, Any]]:
    """Return value -> {at_least, at_most, try_for, scope} or {off: True}, checked for form.

    Raises
    ------
    RecipeError
        For what is no table of limits; names the key and shows an example.
    """
    if not isinstance(table, Mapping):
        raise RecipeError(f"{where} = {table!r}: wanted a table, for example wer = {{ at_most = 0.2 }}")
    return {name: _limits(value, f"{where}.{name}") for name, value in table.items()}


def _limits(value: Any, where: str) -> dict[str, Any]:
    if value == "off":
        return {"off": True}
    if not isinstance(value, Mapping) or not value:
        raise RecipeError(
            f"{where} = {value!r}: wanted {{ at_most = NUMBER }}, {{ at_least = NUMBER }} or 'off'"
        )
    for key, limit in value.items():
        if key not in _KEYS:
            raise RecipeError(f"{where}.{key}: {unknown('key', key, _KEYS)}")
        if key == "scope" and limit not in _SCOPES:
            raise RecipeError(f"{where}.scope = {limit!r}: wanted 'utterance' or 'sample'")
        if key != "scope" and not is_number(limit):
            raise RecipeError(f"{where}.{key} = {limit!r}: wanted one number")
    if not {"at_least", "at_most", "try_for"} & set(value):
        raise RecipeError(f"{where}: no limit; wanted at_least, at_most or both, or try_for")
    low, high = value.get("at_least"), value.get("at_most")
    if low is not None and high is not None and low > high:
        raise RecipeError(f"{where}: at_least = {low:g} is above at_most = {high:g}: nothing would pass")
    return dict(value)
