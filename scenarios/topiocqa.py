"""TopiOCQA files that a user has, as scripts of question-answer dialogues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import ScriptError
from .bank import check_script_form
from .conversation import Role, Script, ScriptTurn
from .names import name_from
from .text_file import numbered_lines, parse_json, read_text, unprintable

LICENCE = "CC-BY-NC-SA-4.0"
SOURCE = "TopiOCQA (Adlakha et al. 2022)"
NEEDED = ("Conversation_no", "Turn_no", "Question", "Answer", "Topic")

UNANSWERABLE = "UNANSWERABLE"
SPOKEN_UNANSWERABLE = "I'm sorry, I don't know that."
"""What the system says where the data hold no answer; the reference stays UNANSWERABLE (our choice)."""


def read_topiocqa(path: Path, *, scenario: str) -> tuple[Script, ...]:
    """Return one script per conversation of a TopiOCQA file (JSON lines, or one JSON list), in its order.

    The written text stays as it is, but for brackets, which are marks in a script. Whoever wants spoken style
    or another language rewrites the scripts first.

    Raises
    ------
    ScriptError
        If the file is not there or a line is not as TopiOCQA writes it; names file and line.
    """
    text = read_text(path)
    conversations: dict[int, list[tuple[int, dict[str, Any], str]]] = {}
    for where, data in _records(text, path):
        row = _checked(data, where)
        conversations.setdefault(int(row["Conversation_no"]), []).append((int(row["Turn_no"]), row, where))
    if not conversations:
        raise ScriptError(f"{path} is empty: wanted TopiOCQA's lines")
    stem = name_from(path.stem)[:40] or "topiocqa"
    return tuple(
        _script(f"{stem}-{number:04d}", turns, scenario) for number, turns in sorted(conversations.items())
    )


def _records(text: str, path: Path) -> list[tuple[str, Any]]:
    if text.lstrip().startswith("["):
        return [(f"{path} entry {i}", data) for i, data in enumerate(parse_json(text, str(path)), 1)]
    lines = ((f"{path} line {number}", line) for number, line in numbered_lines(text))
    return [(where, parse_json(line, where)) for where, line in lines]


def _checked(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ScriptError(f"{where}: wanted an object with {', '.join(NEEDED)}")
    for key in NEEDED:
        if key not in data:
            raise ScriptError(f"{where}: the key '{key}' is missing; wanted {', '.join(NEEDED)}")
    for key in ("Conversation_no", "Turn_no"):
        if type(data[key]) is not int:
            raise ScriptError(f"{where}: '{key}' = {data[key]!r}; wanted a whole number")
    for key in ("Question", "Answer"):
        if not isinstance(data[key], str) or not _plain(data[key]):
            raise ScriptError(f"{where}: '{key}' = {data[key]!r}; wanted a text")
        code = unprintable(data[key])
        if code:
            raise ScriptError(f"{where}: '{key}' holds the control character {code}; take it out")
    return data


def _script(script_id: str, turns: list[tuple[int, dict[str, Any], str]], scenario: str) -> Script:
    spoken: list[ScriptTurn] = []
    topic = None
    for number, (turn_no, row, where) in enumerate(sorted(turns, key=lambda t: t[0])):
        if turn_no != number + 1:
            raise ScriptError(
                f"{where}: conversation {row['Conversation_no']} has Turn_no {turn_no} where {number + 1} was "
                f"expected; wanted its turns from 1 on, each once"
            )
        intent = "opening" if topic is None else "follow_up" if row["Topic"] == topic else "topic_switch"
        topic = row["Topic"]
        answer = _plain(row["Answer"])
        spoken.append(ScriptTurn(role=Role.USER, text=_plain(row["Question"]), intent=intent))
        spoken.append(
            ScriptTurn(
                role=Role.SYSTEM,
                text=SPOKEN_UNANSWERABLE if answer == UNANSWERABLE else answer,
                reference_answer=answer,
            )
        )
    script = Script(
        id=script_id,
        scenario=scenario,
        language="en",
        turns=tuple(spoken),
        domain="open",
        register="neutral",
        source=SOURCE,
        licence=LICENCE,
    )
    check_script_form(script, turns[0][2])
    return script


def _plain(text: str) -> str:
    """Return the text in one line, brackets as parentheses."""
    return " ".join(text.replace("[", "(").replace("]", ")").split())
