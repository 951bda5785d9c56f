"""How far an endpoint follows OpenAI: its JSON mode, and the names of two parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

JsonMode = Literal["json_schema", "json_object", "text"]

_PLAINER: dict[JsonMode, JsonMode] = {"json_schema": "json_object", "json_object": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What an endpoint understands. `is_known` says that an answer came back in it.

    `json_mode` is ``json_schema`` (answers follow the schema), ``json_object`` (answers are JSON) or
    ``text`` (the schema stands in the prompt only).
    """

    json_mode: JsonMode = "json_schema"
    token_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    has_temperature: bool = True
    is_known: bool = False


def plainer(dialect: Dialect, message: str) -> Dialect | None:
    """Return what to try after a refusal with that message, or None when nothing is left to leave out.

    Examples
    --------
    >>> plainer(Dialect(), "response_format is not supported").json_mode
    'json_object'
    >>> plainer(Dialect(), "Unsupported parameter: use 'max_completion_tokens'").token_key
    'max_completion_tokens'
    """
    said = message.lower()
    if "max_completion_tokens" in said and dialect.token_key == "max_tokens":
        return replace(dialect, token_key="max_completion_tokens")
    if "temperature" in said and dialect.has_temperature:
        return replace(dialect, has_temperature=False)
    other = any(word in said for word in ("context length", "does not exist", "not found", "no such model"))
    if other and not names_format(message):
        return None
    if dialect.json_mode in _PLAINER and not dialect.is_known:
        return replace(dialect, json_mode=_PLAINER[dialect.json_mode])
    return None


def names_format(message: str) -> bool:
    """Return whether a message speaks of the answer's format."""
    said = message.lower()
    return any(
        word in said for word in ("response_format", "json_schema", "json_object", "grammar", "schema")
    )
