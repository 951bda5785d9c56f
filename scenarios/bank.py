"""Reading the script bank: the shipped one, or a user's folder in the same layout."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import ScriptError
from .conversation import Role, Script, ScriptTurn
from .fields import unknown
from .markup import parse
from .text_file import parse_json, read_text

SHIPPED = Path(str(files(__package__))) / "scripts"

_TURN_KEYS = {"role", "text", "intent", "function", "reference_answer", "depends_on", "dependence"}
_NEEDED = {"id", "turns", "domain", "register", "source", "licence"}
_KEYS = _NEEDED | {"addressee", "why", "tags", "provenance"}
_NO_TEXT = {"turns", "tags", "provenance"}


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
        If there is no such file, or a line is not as ``scripts/README.md`` says; names file and line.
    """
    path = folder / language / f"{scenario}.jsonl"
    if not path.is_file():
        there = languages_of(scenario, folder)
        raise ScriptError(
            f"no scripts for {scenario} in language {language!r}: {path} is not there. "
            f"Languages with scripts of this scenario: {', '.join(there) or 'none'}; "
            f"write that file (keys in scripts/README.md) or take the language out of the recipe"
        )
    scripts: list[Script] = []
    seen: set[str] = set()
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        script = read_script(line, scenario=scenario, language=language, where=f"{path} line {number}")
        if script.id in seen:
            raise ScriptError(
                f"{path} line {number}: id {script.id!r} stands twice; ids are unique in a file"
            )
        seen.add(script.id)
        scripts.append(script)
    if not scripts:
        raise ScriptError(f"{path} is empty: wanted at least one script")
    return tuple(scripts)


def read_script(line: str, *, scenario: str, language: str, where: str) -> Script:
    """Return the script that a JSON line holds, checked for its keys and its marks."""
    data = parse_json(line, where)
    if not isinstance(data, dict):
        raise ScriptError(f"{where}: wanted a JSON object with the keys {', '.join(sorted(_NEEDED))}")
    _keys(data, needed=_NEEDED, known=_KEYS, where=where)
    if not isinstance(data["turns"], list) or not data["turns"]:
        raise ScriptError(f"{where}: 'turns' is empty; wanted at least one turn")
    for key in sorted(_KEYS - _NO_TEXT):
        if not isinstance(data.get(key, ""), str):
            raise ScriptError(f"{where}: '{key}' = {data[key]!r}; wanted a text")
    turns = tuple(_turn(turn, f"{where}, turn {i}") for i, turn in enumerate(data["turns"]))
    tags = data.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ScriptError(f"{where}: 'tags' = {tags!r}; wanted a list of words")
    provenance = data.get("provenance", {})
    if not isinstance(provenance, dict) or not all(isinstance(value, str) for value in provenance.values()):
        raise ScriptError(f"{where}: 'provenance' = {provenance!r}; wanted an object of texts")
    return Script(
        **{key: data.get(key, "") for key in sorted(_KEYS - _NO_TEXT)},
        scenario=scenario,
        language=language,
        turns=turns,
        tags=tuple(tags),
        provenance=tuple(provenance.items()),
    )


def _turn(data: Any, where: str) -> ScriptTurn:
    if not isinstance(data, dict):
        raise ScriptError(f"{where}: {data!r}; wanted an object with 'role' and 'text'")
    _keys(data, needed={"role", "text"}, known=_TURN_KEYS, where=where)
    if data["role"] not in tuple(Role):
        raise ScriptError(f"{where}: 'role' = {data['role']!r}; wanted user, system or other")
    for key in ("text", "intent", "function", "reference_answer", "dependence"):
        if not isinstance(data.get(key, ""), str):
            raise ScriptError(f"{where}: '{key}' = {data[key]!r}; wanted a text")
    depends_on = data.get("depends_on", [])
    if not isinstance(depends_on, list) or not all(isinstance(i, int) for i in depends_on):
        raise ScriptError(f"{where}: 'depends_on' = {depends_on!r}; wanted a list of turn numbers")
    try:
        marked = parse(data["text"])
    except ScriptError as error:
        raise ScriptError(f"{where}: {error}") from None
    if not marked.text:
        raise ScriptError(f"{where}: the text is empty")
    fields = {key: data[key] for key in _TURN_KEYS - {"role", "depends_on"} if key in data}
    return ScriptTurn(role=Role(data["role"]), depends_on=tuple(depends_on), **fields)


def _keys(data: dict[str, Any], *, needed: set[str], known: set[str], where: str) -> None:
    for key in sorted(needed - set(data)):
        raise ScriptError(f"{where}: the key '{key}' is missing")
    for key in sorted(set(data) - known):
        raise ScriptError(f"{where}: '{key}': {unknown('key', key, tuple(sorted(known)))}")
