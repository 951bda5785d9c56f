"""Write the numbers of an effect as JSON and read them back."""

import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from .. import AudioError

T = TypeVar("T")


def to_json(params: Any) -> dict[str, Any]:
    """Return the fields of a params dataclass as a JSON object; what is None or empty is left out."""
    plain = {field.name: _plain(getattr(params, field.name)) for field in fields(params)}
    return {key: value for key, value in plain.items() if value is not None and value != []}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return to_json(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def from_json(kind: type[T], data: dict[str, Any]) -> T:
    """Return the params of the given kind that `to_json` wrote, equal to the last bit.

    Raises
    ------
    AudioError
        A key that is not a field, or a field without a value; the message lists the known ones.
    """
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        raise AudioError(f"{kind.__name__} has no {', '.join(unknown)}; known are {', '.join(sorted(hints))}")
    try:
        return kind(**{key: _typed(hints[key], value) for key, value in data.items()})
    except TypeError as error:
        raise AudioError(f"{kind.__name__} cannot be read from {sorted(data)}: {error}") from error


def _typed(hint: Any, value: Any) -> Any:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        hint = next(option for option in typing.get_args(hint) if option is not type(None))
    if is_dataclass(hint) and isinstance(value, dict):
        return from_json(typing.cast(type[Any], hint), value)
    if isinstance(value, list):
        inner = typing.get_args(hint)
        return tuple(_typed(inner[0] if inner else Any, item) for item in value)
    return value
