"""Written dialogues of questions and answers, from TopiOCQA's files or any JSON lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import ScriptError
from ...scenarios.names import is_script_id
from ...scenarios.text_file import parse_rows, read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDialogue:
    """Question-answer pairs in order, and the topic of each pair where it is known."""

    id: str
    pairs: tuple[tuple[str, str], ...]
    topics: tuple[str, ...] = ()


def read_dialogues(path: Path) -> tuple[WrittenDialogue, ...]:
    """Return the dialogues of a .jsonl or .json file.

    Three shapes are known: TopiOCQA's rows (``Conversation_no``, ``Turn_no``, ``Question``, ``Answer``,
    ``Topic``; Adlakha et al., TACL 2022), one dialogue a line with ``turns`` of ``role`` and ``text``, and one
    dialogue a line with ``pairs`` of ``question`` and ``answer``.

    Raises
    ------
    ScriptError
        If the file is not there, or a row has another shape; names file and row.
    """
    if not path.is_file():
        raise ScriptError(f"{path}: no such file; wanted dialogues as .jsonl or .json")
    rows = _rows(path)
    if not rows:
        raise ScriptError(f"{path} holds no rows")
    if "Conversation_no" in rows[0]:
        return _topiocqa(rows, path)
    return tuple(_dialogue(row, f"{path} row {number}", number) for number, row in enumerate(rows, 1))


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = parse_rows(read_text(path), str(path))
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise ScriptError(f"{path} row {number}: wanted a JSON object")
    return rows


def _topiocqa(rows: Iterable[dict[str, Any]], path: Path) -> tuple[WrittenDialogue, ...]:
    turns: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for number, row in enumerate(rows, 1):
        for key in ("Conversation_no", "Turn_no", "Question", "Answer"):
            if key not in row:
                raise ScriptError(f"{path} row {number}: the key {key!r} of TopiOCQA is missing")
        for key in ("Conversation_no", "Turn_no"):
            if not str(row[key]).isdecimal():
                raise ScriptError(f"{path} row {number}: {key} = {row[key]!r}; wanted a whole number")
        if str(row["Answer"]).strip().upper() not in ("UNANSWERABLE", ""):
            turns[int(row["Conversation_no"])].append(row)
    dialogues = []
    for conversation, found in sorted(turns.items()):
        ordered = sorted(found, key=lambda row: int(row["Turn_no"]))
        dialogues.append(
            WrittenDialogue(
                id=f"topiocqa-{conversation:04d}",
                pairs=tuple((str(row["Question"]).strip(), str(row["Answer"]).strip()) for row in ordered),
                topics=tuple(str(row.get("Topic", "")) for row in ordered),
            )
        )
    return tuple(dialogues)


def _dialogue(row: dict[str, Any], where: str, number: int) -> WrittenDialogue:
    identity = str(row.get("id", ""))
    if not is_script_id(identity):
        identity = f"dialogue-{number:04d}"
    if isinstance(row.get("pairs"), list):
        pairs = [(_text(p, "question", where), _text(p, "answer", where)) for p in row["pairs"]]
        return WrittenDialogue(id=identity, pairs=tuple(pairs))
    if not isinstance(row.get("turns"), list):
        raise ScriptError(
            f"{where}: wanted 'turns' (with role and text), 'pairs' (with question and answer), "
            f"or TopiOCQA's keys; there are {', '.join(sorted(row)) or 'none'}"
        )
    texts = [_text(turn, "text", where) for turn in row["turns"]]
    roles = [str(turn.get("role", "")) for turn in row["turns"]]
    if len(texts) % 2 or any(role != ("user", "system")[k % 2] for k, role in enumerate(roles)):
        raise ScriptError(
            f"{where}: the roles are {' '.join(roles)}; wanted user and system in turn, in pairs"
        )
    return WrittenDialogue(id=identity, pairs=tuple(zip(texts[::2], texts[1::2], strict=True)))


def _text(data: Any, key: str, where: str) -> str:
    if not isinstance(data, dict) or not isinstance(data.get(key), str) or not data[key].strip():
        raise ScriptError(f"{where}: {data!r}; wanted an object with a text under {key!r}")
    return str(data[key]).strip()
