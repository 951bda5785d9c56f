"""What a recipe may send to a speech server besides the request itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ... import RecipeError
from .options import WHERE

_TOLD = {
    "model": f"say it as {WHERE}.model",
    "input": "the scripts say what is spoken",
    "voice": f"say it as {WHERE}.voices.NAME.voice",
    "response_format": f"say it as {WHERE}.response_format",
    "speed": "say it as speech.speed",
    "instructions": f"say it as {WHERE}.instructions, or for a voice as {WHERE}.voices.NAME.instructions",
}
"""What a request says itself, and by which the clip is labelled and kept: where else a recipe says it."""


def read_extra_body(table: Any) -> dict[str, Any]:
    """Return the keys that are sent besides those of the request, checked.

    Raises
    ------
    RecipeError
        For a key that the request says itself, or a value that JSON does not have (a date, nan); names it.
    """
    where = f"{WHERE}.extra_body"
    if not isinstance(table, Mapping):
        raise RecipeError(f"{where} = {table!r}: wanted a table")
    for key in table:
        if key in _TOLD:
            raise RecipeError(
                f"{where}.{key}: the request says that itself, and the labels go by it; take it out: {_TOLD[key]}"
            )
    _check(table, where)
    return dict(table)


def _check(value: Any, where: str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check(inner, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for k, inner in enumerate(value):
            _check(inner, f"{where}[{k}]")
    elif not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise RecipeError(
            f"{where} = {value}: JSON has no such value; wanted a text, a finite number, true or false"
        )
