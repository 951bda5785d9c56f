"""Whether a script has the turns and keys of its scenario."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..conversation import Script, ScriptTurn
from ..fields import unknown
from ..markup import parse
from ..script_form import ScriptForm, TurnForm
from .forms import FORMS, REGISTERS
from .problem import Problem


def check_form(script: Script, domains: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with the script's turns and keys."""
    form = FORMS[script.scenario]
    yield from _own_keys(script, form, domains)
    n_turns = len(form.turns)
    low, high = form.n_rounds
    rounds = len(script.turns) / n_turns
    if not low <= rounds <= high or len(script.turns) % n_turns:
        wanted = str(low * n_turns) if low == high else f"{low * n_turns} to {high * n_turns}"
        yield Problem(
            rule="form",
            message=f"{len(script.turns)} turns; wanted {wanted} ({', '.join(t.part for t in form.turns)})",
        )
        return
    for index, turn in enumerate(script.turns):
        yield from _turn(turn, form.part(index), index)


def _own_keys(script: Script, form: ScriptForm, domains: Collection[str]) -> Iterator[Problem]:
    if script.domain not in domains:
        yield Problem(
            rule="form", message=f"domain: {unknown('topic', script.domain, tuple(sorted(domains)))}"
        )
    if script.register not in REGISTERS:
        yield Problem(rule="form", message=f"register: {unknown('register', script.register, REGISTERS)}")
    for key in ("source", "licence"):
        if not getattr(script, key).strip():
            yield Problem(
                rule="form", message=f"'{key}' is empty; wanted who wrote it, and under what licence"
            )
    for key in ("addressee", "why"):
        if key in form.needed and not getattr(script, key).strip():
            yield Problem(rule="form", message=f"'{key}' is missing; {script.scenario} needs it")
        elif key not in form.needed and getattr(script, key):
            yield Problem(rule="form", message=f"'{key}' has no place in {script.scenario}")
    for tag in script.tags:
        if form.tags and tag not in form.tags:
            yield Problem(rule="form", message=f"tags: {unknown('tag', tag, form.tags)}", severity="warning")


def _turn(turn: ScriptTurn, form: TurnForm, index: int) -> Iterator[Problem]:
    where = f"turn {index} ({form.part})"
    if turn.role is not form.role:
        yield Problem(rule="form", message=f"{where}: role {turn.role.value!r}, wanted {form.role.value!r}")
    for key in ("intent", "function", "reference_answer", "dependence", "depends_on"):
        value = getattr(turn, key)
        if key in form.needed and not value:
            yield Problem(rule="form", message=f"{where}: '{key}' is missing")
        elif value and key not in form.keys:
            yield Problem(rule="form", message=f"{where}: '{key}' has no place there")
        elif value and form.keys[key] and value not in form.keys[key]:
            yield Problem(rule="form", message=f"{where}, {key}: {unknown('value', value, form.keys[key])}")
    for found in parse(turn.text).marks:
        if found.kind not in (form.mark, "sound"):
            yield Problem(rule="form", message=f"{where}: a [{found.kind}:…] mark has no place there")
