"""Scripts to the lines of a bank file, and bank files that grow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import ScriptError
from ...scenarios import SCENARIOS
from ...scenarios.bank import parse_script, read_script, read_scripts
from ...scenarios.conversation import Script, ScriptTurn
from ...scenarios.text_file import shown
from ...whole_file import put_text


def script_line(script: Script) -> str:
    """Return the JSON line of a script, in the key order of ``scripts/README.md``, without empty keys."""
    data: dict[str, Any] = {"id": script.id, "turns": [_turn(turn) for turn in script.turns]}
    data |= {"domain": script.domain, "register": script.register}
    for key in ("addressee", "why"):
        if getattr(script, key):
            data[key] = getattr(script, key)
    if script.tags:
        data["tags"] = list(script.tags)
    data |= {"source": script.source, "licence": script.licence}
    if script.provenance:
        data["provenance"] = dict(script.provenance)
    return json.dumps(data, ensure_ascii=False)


def _turn(turn: ScriptTurn) -> dict[str, Any]:
    data: dict[str, Any] = {"role": turn.role.value, "text": turn.text}
    for key in ("intent", "function", "reference_answer"):
        if getattr(turn, key):
            data[key] = getattr(turn, key)
    if turn.depends_on:
        data |= {"depends_on": list(turn.depends_on), "dependence": turn.dependence}
    return data


def read_file(path: Path, scenario: str, language: str, *, as_drafts: bool = False) -> tuple[Script, ...]:
    """Return the scripts of one file, none where it is not there; `as_drafts`: of whatever form.

    Raises
    ------
    ScriptError
        If a line is no script, or an id stands twice; names file and line.
    """
    if not path.is_file():
        return ()
    read = parse_script if as_drafts else read_script
    return read_scripts(path, scenario=scenario, language=language, read=read)


def numbered(new: Iterable[Script], old: Sequence[Script], scenario: str) -> tuple[Script, ...]:
    """Return the new scripts with ids that go on after the highest of the old ones."""
    prefix = SCENARIOS[scenario].prefix
    found = [re.fullmatch(rf"{prefix}-(\d+)", script.id) for script in old]
    last = max((int(match.group(1)) for match in found if match), default=0)
    return tuple(replace(script, id=f"{prefix}-{last + k:03d}") for k, script in enumerate(new, 1))


def merged(new: Sequence[Script], old: Sequence[Script], scenario: str) -> tuple[Script, ...]:
    """Return old and new scripts together: ids of the scenario's form are kept, others numbered.

    Raises
    ------
    ScriptError
        If an id that is kept is there already.
    """
    prefix = SCENARIOS[scenario].prefix
    keeping = [script for script in new if re.fullmatch(rf"{prefix}-\d+", script.id)]
    there = {script.id for script in old}
    for script in keeping:
        if script.id in there:
            raise ScriptError(
                f"{scenario} {script.id} is there already; take it out of the file, or of the drafts"
            )
    kept = sorted([*old, *keeping], key=lambda script: script.id)
    others = [script for script in new if script not in keeping]
    return (*kept, *numbered(others, kept, scenario))


def write_file(path: Path, scripts: Sequence[Script]) -> None:
    """Write a bank file whole or not at all.

    Raises
    ------
    ScriptError
        If one of the scripts would be refused when the file is read; nothing is written.
    """
    for script in scripts:
        refuse_unreadable(script, f"{path} is not written: script {shown(script.id)}")
    put_text(path, "".join(script_line(script) + "\n" for script in scripts))


def refuse_unreadable(script: Script, where: str, *, is_draft: bool = False) -> None:
    """Refuse a script that would be refused when its line is read, in a bank file or (`is_draft`) among drafts.

    Raises
    ------
    ScriptError
        Begins with `where`.
    """
    read = parse_script if is_draft else read_script
    read(script_line(script), scenario=script.scenario, language=script.language, where=where)
