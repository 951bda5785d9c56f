"""Spoken dialogues of the bank in one language to another, under the same ids."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...scenarios.conversation import Role, Script
from .candidates import items_of
from .drafts import Draft
from .endpoint import Answer, Question
from .prompts import Prompt
from .rewrite import checked, provenance, said_turns
from .session import Session

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "index": {"type": "integer"},
                    "text": {"type": "string"},
                    "reference_answer": {"type": "string"},
                },
                "required": ["index", "text", "reference_answer"],
                "additionalProperties": False,
            },
        },
        "names": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"source": {"type": "string"}, "target": {"type": "string"}},
                "required": ["source", "target"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["turns", "names"],
    "additionalProperties": False,
}


def translate(
    scripts: Sequence[Script], session: Session, *, prompt: Prompt, language: str
) -> tuple[Draft, ...]:
    """Return each dialogue in `language`, parallel turn by turn, with what its checks found.

    Raises
    ------
    EndpointError
        If the endpoint refuses or fails.
    """
    answers = session.ask_all([_question(script, prompt) for script in scripts])
    return tuple(
        _draft(script, answer, prompt=prompt, language=language)
        for script, answer in zip(scripts, answers, strict=True)
    )


def _question(script: Script, prompt: Prompt) -> Question:
    turns = [
        {
            "index": index,
            "role": turn.role.value,
            "text": turn.text,
            **({"reference_answer": turn.reference_answer} if turn.reference_answer else {}),
            **(
                {"depends_on": list(turn.depends_on), "dependence": turn.dependence}
                if turn.depends_on
                else {}
            ),
        }
        for index, turn in enumerate(script.turns)
    ]
    return Question(
        system=prompt.text,
        user=json.dumps({"register": script.register, "turns": turns}, ensure_ascii=False, indent=1),
        schema_name="translated_dialogue",
        schema=_SCHEMA,
    )


def _draft(script: Script, answer: Answer, *, prompt: Prompt, language: str) -> Draft:
    said = said_turns(answer.text)
    names = {
        str(name["source"]): str(name["target"])
        for name in items_of(answer.text, "names")
        if isinstance(name, dict) and name.get("source") and name.get("target")
    }
    turns = tuple(
        replace(
            turn,
            text=str(said.get(index, {}).get("text") or "").strip() or turn.text,
            reference_answer=(
                str(said.get(index, {}).get("reference_answer") or "").strip() or turn.reference_answer
                if turn.role is Role.SYSTEM
                else ""
            ),
        )
        for index, turn in enumerate(script.turns)
    )
    translated = replace(
        script,
        language=language,
        turns=turns,
        register="polite" if language.startswith("ja") and script.register == "neutral" else script.register,
        source=f"{script.source}; translated by {answer.model} (model-written)",
        provenance=provenance(answer, prompt, script.id),
    )
    lines, whole = checked(
        translated,
        [turn.text for turn in script.turns],
        missing=set(range(len(turns))) - set(said),
        names=names,
        from_language=script.language,
    )
    return Draft(dialogue=script.id, script=translated, lines=lines, findings=whole)
