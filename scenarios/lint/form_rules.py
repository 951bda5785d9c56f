"""Whether a script has the turns and keys of its scenario."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..conversation import Script, ScriptTurn
from ..fields import unknown
from ..script_form import ScriptForm, TurnForm, form_problems
from .forms import FORMS, REGISTERS
from .problem import Problem


def check_form(script: Script, domains: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with the script's turns and keys."""
    form = FORMS[script.scenario]
    yield from _own_keys(script, form, domains)
    for wrong in form_problems(script, form):
        yield Problem(rule="form", message=wrong)
    low, high = form.n_rounds
    rounds = len(script.turns) / len(form.turns)
    if form.repeats and not low <= rounds <= high:
        wanted = f"{low * len(form.turns)} to {high * len(form.turns)}"
        yield Problem(rule="form", message=f"{len(script.turns)} turns; good are {wanted}")
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
    """Yield what makes a turn less good than it should be, though its scenario can take it."""
    for key in form.needed:
        if not getattr(turn, key):
            yield Problem(rule="form", message=f"turn {index} ({form.part}): '{key}' is missing")
    known = form.keys.get("dependence", ())
    if turn.dependence and known and turn.dependence not in known:
        yield Problem(
            rule="form",
            message=f"turn {index} ({form.part}): 'dependence': {unknown('value', turn.dependence, known)}",
        )
