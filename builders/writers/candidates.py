"""A model's answer to scripts, as many as can be read from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ... import ScriptError
from ...scenarios.bank import read_script
from ...scenarios.conversation import Script
from ...scenarios.lint.forms import FORMS


def items_of(text: str, key: str) -> list[Any]:
    r"""Return the items of the list under `key` in an answer, those before a break if it is cut off.

    The answer may stand in a code fence, or between other words.

    Examples
    --------
    >>> items_of('```json\n{"scripts": [{"a": 1}, {"a": 2}, {"a"', "scripts")
    [{'a': 1}, {'a': 2}]
    """
    start = text.find("{")
    if start < 0:
        return []
    decoder = json.JSONDecoder()
    try:
        data, _ = decoder.raw_decode(text, start)
    except json.JSONDecodeError:
        return _before_the_break(text, key, decoder)
    items = data.get(key) if isinstance(data, dict) else None
    return items if isinstance(items, list) else []


def _before_the_break(text: str, key: str, decoder: json.JSONDecoder) -> list[Any]:
    place = text.find("[", text.find(f'"{key}"') + 1) + 1
    items: list[Any] = []
    while place:
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        try:
            item, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            break
        items.append(item)
    return items


def script_of(
    item: Any, *, scenario: str, language: str, source: str, licence: str, provenance: Mapping[str, str]
) -> Script:
    """Return the script in one item of an answer, without an id worth keeping.

    Keys that are empty are left out.

    Raises
    ------
    ScriptError
        If it is no script.
    """
    if not isinstance(item, dict) or not isinstance(item.get("turns"), list):
        raise ScriptError("an item of the answer is no object with 'turns'")
    form = FORMS[scenario]
    turns = [
        {
            key: value
            for key, value in turn.items()
            if value not in ("", []) and (key in ("role", "text") or key in form.part(index).keys)
        }
        for index, turn in enumerate(item["turns"])
        if isinstance(turn, dict)
    ]
    data: dict[str, Any] = {
        **{key: value for key, value in item.items() if value not in ("", [])},
        "id": "new",
        "turns": turns,
        "source": source,
        "licence": licence,
        "provenance": dict(provenance),
    }
    line = json.dumps(data, ensure_ascii=False)
    return read_script(line, scenario=scenario, language=language, where="the answer")
