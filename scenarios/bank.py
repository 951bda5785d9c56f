"""Reading the script bank: the shipped one, or a user's folder in the same layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import ScriptError
from .conversation import Role, Script, ScriptTurn
from .fields import unknown
from .markup import parse
from .names import SCRIPT_ID, is_script_id
from .script_form import form_problems
from .text_file import numbered_lines, parse_json, read_text, shown, unprintable

SHIPPED = Path(str(files(__package__))) / "scripts"

_TURN_KEYS = {"role", "text", "intent", "function", "reference_answer", "depends_on", "dependence"}
_NEEDED = {"id", "turns", "domain", "register", "source", "licence"}
_KEYS = _NEEDED | {"addressee", "why", "tags", "provenance"}
_NO_TEXT = {"turns", "tags", "provenance"}
_MAY_BREAK = {"text", "reference_answer", "why"}


def languages_of(scenario: str, folder: Path = SHIPPED) -> tuple[str, ...]:
    """Return the languages for which `folder` holds scripts of that scenario."""
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{scenario}.jsonl")))


def borrowed_scripts(scenario: str, language: str, folder: Path) -> tuple[Script, ...]:
    """Return the scripts that another scenario borrows from: those of `folder`, or of the shipped bank.

    Raises
    ------
    ScriptError
        If neither has any in that language.
    """
    has_own = language in languages_of(scenario, folder) or language not in languages_of(scenario)
    return load_scripts(scenario, language, folder if has_own else SHIPPED)


def with_origin_of(script: Script, lender: Script) -> Script:
    """Return `script` with the source and licence of another beside its own, from which it takes a text."""
    sources = [part for part in lender.source.split("; ") if part not in script.source.split("; ")]
    licences = [part for part in lender.licence.split(" AND ") if part not in script.licence.split(" AND ")]
    return replace(
        script,
        source="; ".join([script.source, *sources]),
        licence=" AND ".join([script.licence, *licences]),
        provenance=(*script.provenance, *(p for p in lender.provenance if p not in script.provenance)),
    )


@lru_cache(maxsize=64)
def load_scripts(scenario: str, language: str, folder: Path = SHIPPED) -> tuple[Script, ...]:
    """Return the scripts of a scenario in a language, in file order.

    Raises
    ------
    ScriptError
        If there is no such file or no script in it, or a line is not as ``scripts/README.md`` says; names
        file and line.
    """
    path = folder / language / f"{scenario}.jsonl"
    if not path.is_file():
        there = languages_of(scenario, folder)
        raise ScriptError(
            f"no scripts for {scenario} in language {language!r}: {path} is not there. "
            f"Languages with scripts of this scenario: {', '.join(there) or 'none'}; "
            f"write that file (keys in scripts/README.md) or take the language out of the recipe"
        )
    scripts = read_scripts(path, scenario=scenario, language=language)
    if not scripts:
        raise ScriptError(f"{path} is empty: wanted at least one script")
    return scripts


def read_scripts(
    path: Path, *, scenario: str, language: str, read: Callable[..., Script] | None = None
) -> tuple[Script, ...]:
    """Return the scripts of one file, in its order; `read` reads a line, `read_script` by default.

    Raises
    ------
    ScriptError
        If a line is no script of that scenario, or an id stands twice; names file and line.
    """
    scripts: dict[str, Script] = {}
    for number, line in numbered_lines(read_text(path, encoding="utf-8-sig")):
        where = f"{path} line {number}"
        script = (read or read_script)(line, scenario=scenario, language=language, where=where)
        if script.id in scripts:
            raise ScriptError(f"{where}: id {script.id!r} stands twice; ids are unique in a file")
        scripts[script.id] = script
    return tuple(scripts.values())


def read_script(line: str, *, scenario: str, language: str, where: str) -> Script:
    """Return the script that a JSON line holds, checked for all that its scenario takes for granted.

    Raises
    ------
    ScriptError
        If it is none; begins with `where`.
    """
    script = parse_script(line, scenario=scenario, language=language, where=where)
    check_script_form(script, where)
    return script


def check_script_form(script: Script, where: str) -> None:
    """Refuse a script that does not have the id, the turns, the roles and the labels of its scenario's scripts.

    Raises
    ------
    ScriptError
        Begins with `where`.
    """
    from . import SCENARIOS  # which need this file: some borrow scripts

    if not is_script_id(script.id):
        raise ScriptError(f"{where}: 'id' = {shown(script.id)}; wanted {SCRIPT_ID}")
    wrong = next(form_problems(script, SCENARIOS[script.scenario].script), "")
    if wrong:
        raise ScriptError(f"{where}: {wrong}")


def parse_script(line: str, *, scenario: str, language: str, where: str) -> Script:
    """Return the script that a JSON line holds, of whatever form, checked for its keys and its marks.

    Raises
    ------
    ScriptError
        If it is none; begins with `where`.
    """
    data = parse_json(line, where)
    if not isinstance(data, dict):
        raise ScriptError(f"{where}: wanted a JSON object with the keys {', '.join(sorted(_NEEDED))}")
    _keys(data, needed=_NEEDED, known=_KEYS, where=where)
    if not isinstance(data["turns"], list) or not data["turns"]:
        raise ScriptError(f"{where}: 'turns' is empty; wanted at least one turn")
    for key in sorted(_KEYS - _NO_TEXT):
        _text(data.get(key, ""), key, where)
    for key in ("source", "licence"):
        if not data[key].strip():
            raise ScriptError(f"{where}: '{key}' is empty; wanted who wrote it, and under what licence")
    turns = tuple(_turn(turn, f"{where}, turn {i}") for i, turn in enumerate(data["turns"]))
    tags = data.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ScriptError(f"{where}: 'tags' = {shown(tags)}; wanted a list of words")
    provenance = data.get("provenance", {})
    if not isinstance(provenance, dict) or not all(isinstance(value, str) for value in provenance.values()):
        raise ScriptError(f"{where}: 'provenance' = {shown(provenance)}; wanted an object of texts")
    for key, texts in (("tags", tags), ("provenance", (*provenance, *provenance.values()))):
        for text in texts:
            _text(text, key, where)
    return Script(
        **{key: data.get(key, "") for key in sorted(_KEYS - _NO_TEXT)},
        scenario=scenario,
        language=language,
        turns=turns,
        tags=tuple(tags),
        provenance=tuple(provenance.items()),
    )


def _text(value: Any, key: str, where: str) -> None:
    if not isinstance(value, str):
        raise ScriptError(f"{where}: '{key}' = {shown(value)}; wanted a text")
    code = "" if key == "id" else unprintable(value, one_line=key not in _MAY_BREAK)
    if code:
        raise ScriptError(f"{where}: '{key}' holds the control character {code}; take it out")


def _turn(data: Any, where: str) -> ScriptTurn:
    if not isinstance(data, dict):
        raise ScriptError(f"{where}: {shown(data)}; wanted an object with 'role' and 'text'")
    _keys(data, needed={"role", "text"}, known=_TURN_KEYS, where=where)
    if data["role"] not in tuple(Role):
        raise ScriptError(f"{where}: 'role' = {shown(data['role'])}; wanted user, system or other")
    for key in ("text", "intent", "function", "reference_answer", "dependence"):
        _text(data.get(key, ""), key, where)
    depends_on = data.get("depends_on", [])
    if not isinstance(depends_on, list) or not all(type(i) is int for i in depends_on):
        raise ScriptError(f"{where}: 'depends_on' = {shown(depends_on)}; wanted a list of turn numbers")
    try:
        marked = parse(data["text"])
    except ScriptError as error:
        raise ScriptError(f"{where}: {error}") from None
    if not any(map(str.isalnum, marked.text)):
        raise ScriptError(f"{where}: 'text' = {shown(data['text'])}: no word in it to speak")
    fields = {key: data[key] for key in _TURN_KEYS - {"role", "depends_on"} if key in data}
    return ScriptTurn(role=Role(data["role"]), depends_on=tuple(depends_on), **fields)


def _keys(data: dict[str, Any], *, needed: set[str], known: set[str], where: str) -> None:
    for key in sorted(needed - set(data)):
        raise ScriptError(f"{where}: the key '{key}' is missing")
    for key in sorted(set(data) - known):
        raise ScriptError(f"{where}: {key!r}: {unknown('key', key, tuple(sorted(known)))}")
