"""What is asked for, script by script, so that a set meets its scenario's quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from ...scenarios import background_speech, user_interruption
from ...scenarios.conversation import Script
from ...scenarios.lint.forms import FORMS, REGISTERS
from ...scenarios.lint.language_rules import load_rules
from ...scenarios.lint.tokens import normalised
from ...scenarios.markup import PAUSE_KINDS, parse

Cell = tuple[str, ...]
"""What counts of a script for the quotas: its intent, function, first pause's kind ..."""

_FDB_SHARE = 0.8
_NEWSMARK_SHARE = 0.07
_INSTRUCTION_SHARE = 0.1
_SWITCH_SHARE = 0.4


def cell_of(script: Script) -> Cell:
    """Return the cell that a script fills."""
    turns = script.turns
    match script.scenario:
        case "user_interruption":
            return (turns[1].intent,)
        case "user_backchannel":
            return (turns[1].function, *[tag for tag in ("fdb", "newsmark") if tag in script.tags])
        case "background_speech":
            return (turns[1].intent, *[tag for tag in ("instruction",) if tag in script.tags])
        case "pause_handling":
            marks = parse(turns[0].text).places("pause")
            return (marks[0].value if marks else "",)
        case "mt_qa":
            return ("topic_switch",) if any(t.intent == "topic_switch" for t in turns) else ("one_topic",)
    return ()


def filled_cell(script: Script, still_open: Counter[Cell]) -> Cell | None:
    """Return the open cell that a script can fill: its own, or one that asks for less."""
    for cell in (cell_of(script), *_LESS.get(cell_of(script), ())):
        if still_open[cell]:
            return cell
    return None


_LESS: dict[Cell, tuple[Cell, ...]] = {("topic_switch",): (("one_topic",),)}
"""Cells that a script of another may fill too: there is a least share of topic switches, and no largest."""


def wanted_cells(scenario: str, count: int) -> Counter[Cell]:
    """Return how many scripts of each cell make a set of `count`.

    Examples
    --------
    >>> wanted_cells("background_speech", 20)[("news", "instruction")]
    1
    """
    match scenario:
        case "user_interruption":
            return _even([(intent,) for intent in user_interruption.INTENTS], count)
        case "user_backchannel":
            n_marks = round(_NEWSMARK_SHARE * count)
            n_fdb = round(_FDB_SHARE * count)
            functions = ("continuer", "agreement", "assessment")
            return (
                Counter({("newsmark", "newsmark"): n_marks})
                + _even([(f, "fdb") for f in functions], n_fdb)
                + _even([(f,) for f in functions], count - n_marks - n_fdb)
            )
        case "background_speech":
            n_commands = round(_INSTRUCTION_SHARE * count)
            return _even([(i, "instruction") for i in background_speech.INTENTS], n_commands) + _even(
                [(i,) for i in background_speech.INTENTS], count - n_commands
            )
        case "pause_handling":
            return _even([(kind,) for kind in PAUSE_KINDS], count)
        case "mt_qa":
            n_switch = ceil(_SWITCH_SHARE * count)
            wanted: Counter[Cell] = Counter({("topic_switch",): n_switch, ("one_topic",): count - n_switch})
            return +wanted
    return Counter({(): count})


def _even(cells: Sequence[Cell], count: int) -> Counter[Cell]:
    each, over = divmod(count, len(cells))
    return +Counter({cell: each + (k < over) for k, cell in enumerate(cells)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """At most `most` scripts of a set may share a value; scripts of value None are not counted."""

    name: str
    value: Callable[[Script], str | None]
    most: int


def caps(scenario: str, language: str, count: int, domains: Sequence[str]) -> tuple[Cap, ...]:
    """Return the caps that keep a set of `count` inside the linter's quotas."""
    rules = load_rules(language)
    spaced = rules.tokens == "words"

    def opening(script: Script) -> str:
        plain = normalised(script.turns[0].text)
        return " ".join(plain.split()[:2]) if spaced else plain.replace(" ", "")[:4]

    found = [
        Cap(
            name="topic",
            value=lambda s: s.domain,
            most=max(
                2, round(0.12 * count) if len(domains) < 20 else -(-3 * count // (2 * len(domains))) + 1
            ),
        ),
        Cap(name="opening", value=opening, most=max(2, int(0.08 * count))),
    ]
    if scenario == "user_interruption":
        found.append(
            Cap(
                name="questions",
                value=lambda s: "question" if rules.question.search(parse(s.turns[1].text).text) else None,
                most=int(0.4 * count),
            )
        )
    if scenario == "talking_to_others":
        found.append(Cap(name="addressee", value=lambda s: s.addressee, most=max(1, count // 16)))
    if scenario == "user_backchannel":
        found.append(Cap(name="token", value=lambda s: normalised(s.turns[1].text), most=max(2, count // 40)))
    return tuple(found)


def wishes(
    cells: Sequence[Cell], scenario: str, language: str, domains: Sequence[str], rng: np.random.Generator
) -> list[dict[str, object]]:
    """Return one wish for each cell: what it must have, and a topic, register and length to vary by."""
    order = [str(domains[i]) for i in rng.permutation(len(domains))]
    registers = [r for r in REGISTERS if r != "neutral" or language.split("-")[0] != "ja"]
    bounds = load_rules(language).lengths.get(scenario, {})
    part = FORMS[scenario].turns[-1].part
    low, high = bounds.get(part, (0, 0))
    made: list[dict[str, object]] = []
    for k, cell in enumerate(cells):
        wish: dict[str, object] = dict(_named(cell, scenario))
        wish["domain"] = order[k % len(order)]
        wish["register"] = registers[int(rng.integers(len(registers)))]
        if scenario != "mt_qa" and high:
            middle = low + float(rng.uniform()) * (high - low)
            reach = max(1.0, 0.15 * (high - low))
            wish[f"{part}_length"] = (
                f"{max(low, round(middle - reach))} to {min(high, round(middle + reach))} "
                f"{load_rules(language).unit}"
            )
        if scenario == "mt_qa":
            wish["pairs"] = int(rng.integers(8, 13))
        made.append(wish)
    return made


def _named(cell: Cell, scenario: str) -> Mapping[str, object]:
    match scenario:
        case "user_interruption":
            return {"intent": cell[0]}
        case "user_backchannel":
            return {"function": cell[0], "tags": list(cell[1:])}
        case "background_speech":
            return {"intent": cell[0], "tags": list(cell[1:])}
        case "pause_handling":
            return {"first_pause": cell[0]}
        case "mt_qa":
            return {"switches_topic": cell[0] == "topic_switch"}
    return {}
