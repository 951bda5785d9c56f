"""The JSON schema of what a model is to write, made from the dataclasses of a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from ...scenarios.conversation import Role, Script, ScriptTurn
from ...scenarios.lint.forms import FORMS, REGISTERS
from ...scenarios.script_form import ScriptForm

_OURS = ("id", "scenario", "language", "source", "licence", "provenance")
"""Keys of a script that we fill in, not the model."""


def scripts_schema(scenario: str, domains: Sequence[str]) -> dict[str, Any]:
    """Return the schema of ``{"scripts": [...]}`` for a scenario.

    Every key is required and nothing else is allowed, as OpenAI's strict mode asks; a key that has no
    meaning in a turn is an empty text there.
    """
    form = FORMS[scenario]
    properties: dict[str, Any] = {}
    hints = get_type_hints(Script)
    for field in fields(Script):
        if field.name in _OURS or not _has_place(field.name, form):
            continue
        if field.name == "turns":
            properties["turns"] = {"type": "array", "items": turn_schema(form)}
        elif field.name == "domain":
            properties["domain"] = {"type": "string", "enum": list(domains)}
        elif field.name == "register":
            properties["register"] = {"type": "string", "enum": list(REGISTERS)}
        elif field.name == "tags":
            properties["tags"] = {"type": "array", "items": {"type": "string", "enum": list(form.tags)}}
        else:
            properties[field.name] = _json_type(hints[field.name])
    return _object({"scripts": {"type": "array", "items": _object(properties)}})


def _has_place(name: str, form: ScriptForm) -> bool:
    if name in ("addressee", "why"):
        return name in form.needed
    return name != "tags" or bool(form.tags)


def turn_schema(form: ScriptForm) -> dict[str, Any]:
    """Return the schema of one turn: role, text and the keys that any turn of the form may have."""
    keys: dict[str, list[str]] = {}
    for turn in form.turns:
        for key, values in turn.keys.items():
            keys[key] = sorted({*keys.get(key, []), *values})
    hints = get_type_hints(ScriptTurn)
    properties: dict[str, Any] = {
        "role": {"type": "string", "enum": [role.value for role in Role if _plays(role, form)]},
        "text": {"type": "string"},
    }
    for field in fields(ScriptTurn):
        if field.name in keys:
            properties[field.name] = _json_type(hints[field.name])
            if keys[field.name]:
                properties[field.name]["enum"] = ["", *keys[field.name]]
    return _object(properties)


def _plays(role: Role, form: ScriptForm) -> bool:
    return any(turn.role is role for turn in form.turns)


def _json_type(hint: Any) -> dict[str, Any]:
    if hint is str:
        return {"type": "string"}
    if hint == tuple[int, ...]:
        return {"type": "array", "items": {"type": "integer"}}
    raise AssertionError(f"a script holds a {hint}, for which no JSON type is known here")


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
