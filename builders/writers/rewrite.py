"""Written dialogues to spoken English."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ... import ScriptError
from ...scenarios.conversation import Role, Script, ScriptTurn
from ...scenarios.lint import check_script
from ...scenarios.lint.forms import DOMAINS, FORMS, REGISTERS
from ...scenarios.lint.reading import read
from .candidates import items_of
from .dialogues import WrittenDialogue
from .drafts import Draft, DraftLine
from .endpoint import Answer, Question
from .faithful import check_names, check_numbers, check_ratio, check_spoken_form
from .prompts import Prompt
from .pronounce import pronounce
from .script_schema import turn_schema
from .session import Session

_TURN = re.compile(r"turn (\d+)")


def rewrite(
    dialogues: Sequence[WrittenDialogue],
    session: Session,
    *,
    prompt: Prompt,
    source: str,
    licence: str,
    max_pairs: int = 14,
) -> tuple[Draft, ...]:
    """Return each dialogue as it would be said, in English, with what its checks found.

    Parameters
    ----------
    dialogues : sequence of WrittenDialogue
        Only the first `max_pairs` pairs of each are used.
    session : Session
    prompt : Prompt
    source, licence : str
        Of the written dialogues; the drafts' source adds the model.
    max_pairs : int

    Raises
    ------
    EndpointError
        If the endpoint refuses or fails.
    """
    questions = [_question(dialogue, prompt, max_pairs) for dialogue in dialogues]
    answers = session.ask_all(questions)
    return tuple(
        _draft(dialogue, answer, prompt=prompt, source=source, licence=licence, max_pairs=max_pairs)
        for dialogue, answer in zip(dialogues, answers, strict=True)
    )


def _question(dialogue: WrittenDialogue, prompt: Prompt, max_pairs: int) -> Question:
    turns = [
        {"index": index, "role": role, "text": text}
        for index, (role, text) in enumerate(_turns(dialogue, max_pairs))
    ]
    item = turn_schema(FORMS["mt_qa"])
    item["properties"].pop("role")
    item["properties"] = {"index": {"type": "integer"}, **item["properties"]}
    item["required"] = list(item["properties"])
    schema = {
        "type": "object",
        "properties": {
            "turns": {"type": "array", "items": item},
            "domain": {"type": "string", "enum": list(DOMAINS)},
            "register": {"type": "string", "enum": list(REGISTERS)},
        },
        "required": ["turns", "domain", "register"],
        "additionalProperties": False,
    }
    return Question(
        system=prompt.text,
        user=json.dumps({"turns": turns}, ensure_ascii=False, indent=1),
        schema_name="spoken_dialogue",
        schema=schema,
    )


def _turns(dialogue: WrittenDialogue, max_pairs: int) -> list[tuple[str, str]]:
    return [
        (role, text)
        for pair in dialogue.pairs[:max_pairs]
        for role, text in zip(("user", "system"), pair, strict=True)
    ]


def _draft(
    dialogue: WrittenDialogue,
    answer: Answer,
    *,
    prompt: Prompt,
    source: str,
    licence: str,
    max_pairs: int,
) -> Draft:
    written = _turns(dialogue, max_pairs)
    said = said_turns(answer.text)
    whole = _whole(answer.text)
    turns = tuple(
        ScriptTurn(
            role=Role(role),
            text=str(said.get(index, {}).get("text") or "").strip() or text,
            intent=_intent(said, index) if role == "user" else "",
            reference_answer=_kept(said, index, "reference_answer") if role == "system" else "",
            depends_on=_earlier(said, index) if role == "user" else (),
            dependence=_kept(said, index, "dependence") if role == "user" and _earlier(said, index) else "",
        )
        for index, (role, text) in enumerate(written)
    )
    script = Script(
        id=dialogue.id,
        scenario="mt_qa",
        language="en",
        turns=turns,
        domain=str(whole.get("domain") or "history"),
        register=str(whole.get("register") or "neutral"),
        source=f"{source}; spoken form by {answer.model} (model-written)",
        licence=licence,
        provenance=provenance(answer, prompt, dialogue.id),
    )
    lines, findings = checked(
        script, [text for _, text in written], missing=set(range(len(written))) - set(said)
    )
    return Draft(dialogue=dialogue.id, script=script, lines=lines, findings=findings)


def said_turns(text: str) -> dict[int, Mapping[str, Any]]:
    """Return the turns of an answer by their index."""
    return {
        turn["index"]: turn
        for turn in items_of(text, "turns")
        if isinstance(turn, dict) and isinstance(turn.get("index"), int)
    }


def _whole(text: str) -> Mapping[str, Any]:
    start = text.find("{")
    try:
        data, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except json.JSONDecodeError:
        return {}
    return data if isinstance(data, dict) else {}


def _kept(said: Mapping[int, Mapping[str, Any]], index: int, key: str) -> str:
    value = said.get(index, {}).get(key)
    return value if isinstance(value, str) else ""


def _intent(said: Mapping[int, Mapping[str, Any]], index: int) -> str:
    """Return what a question is for; nothing, which the linter misses, where the model says what is none."""
    value = _kept(said, index, "intent")
    return value if value in FORMS["mt_qa"].part(index).keys["intent"] else ""


def _earlier(said: Mapping[int, Mapping[str, Any]], index: int) -> tuple[int, ...]:
    value = said.get(index, {}).get("depends_on")
    return tuple(i for i in value if type(i) is int and 0 <= i < index) if isinstance(value, list) else ()


def provenance(answer: Answer, prompt: Prompt, dialogue: str) -> tuple[tuple[str, str], ...]:
    """Return where a dialogue's words are from."""
    return (
        ("model", answer.model),
        ("prompt", prompt.name),
        ("prompt_sha256", prompt.sha256),
        ("date", answer.date),
        ("response_id", answer.response_id),
        ("dialogue", dialogue),
    )


def checked(
    script: Script,
    before: Sequence[str],
    *,
    missing: set[int],
    names: Mapping[str, str] | None = None,
    from_language: str = "en",
) -> tuple[tuple[DraftLine, ...], tuple[str, ...]]:
    """Return the lines of a draft with what was found in each, and what is wrong with it as a whole."""
    languages = (from_language, script.language)
    found: dict[int, list[str]] = {index: [] for index in range(len(before))}
    for index in missing:
        found[index].append("the model left this turn out")
    whole: list[str] = []
    try:
        one = read(script, pronounce)
    except ScriptError as error:
        one, whole = None, [str(error)]
    if one is not None:
        for index, old in enumerate(map(_unmarked, before)):
            text = script.turns[index].text
            found[index] += [
                *check_numbers(old, text, languages=languages),
                *check_names(old, text, names),
                *check_spoken_form(text, script.language),
                *check_ratio(old, one.length(index), languages=languages),
            ]
        for finding in check_script(script, pronounce):
            turn = _TURN.match(finding.message)
            if turn and int(turn.group(1)) in found:
                found[int(turn.group(1))].append(
                    f"{finding.rule}: {finding.message[turn.end() :].lstrip(' ,:')}"
                )
            else:
                whole.append(f"{finding.rule}: {finding.message}")
    lines = tuple(
        DraftLine(turn=index, role=turn.role.value, before=old, after=turn.text, findings=tuple(found[index]))
        for index, (old, turn) in enumerate(zip(before, script.turns, strict=True))
    )
    return lines, tuple(whole)


def _unmarked(text: str) -> str:
    """Return a text without pause marks; other brackets of written text stay."""
    return re.sub(r"\s*\[pause:[a-z_]+\]", "", text)
