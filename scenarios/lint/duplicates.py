"""Exact and near duplicates within a scenario and across scenarios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from ..conversation import Script
from .forms import FORMS
from .language_rules import has_rules, load_rules
from .tokens import as_it_stands, jaccard, normalised, tokens

NEAR = 0.8
"""Token Jaccard from which two texts are near duplicates."""

MIN_TOKENS = 4
"""Shorter texts ("okay, stop") may repeat: there are only so many of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A text that must not come twice: a whole script, or one part of it."""

    script: Script
    part: str
    text: str
    tokens: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """Two texts that are alike, the earlier one first."""

    first: Unit
    second: Unit
    likeness: float
    is_exact: bool


def units(script: Script) -> Iterator[Unit]:
    """Yield the texts of a script that are compared.

    The whole script; context and event by themselves too; of a dialogue the questions that need no history.
    A backchannel is the pair of its context and token: its tokens are bound to the token, so that two pairs
    are alike only where the token is the same. In a language without rules, whose words nobody can tell here,
    whole texts are compared, of the script and its context alone: other parts may be short, and come again.
    """
    if not has_rules(script.language):
        yield from _whole_units(script)
        return
    rules = load_rules(script.language)
    form = FORMS[script.scenario]
    whole = " ".join(turn.text for turn in script.turns)
    found = tokens(whole, rules)
    if script.scenario == "user_backchannel":
        token = normalised(script.turns[1].text)
        found = frozenset(f"{token}\x1f{word}" for word in found)
    yield Unit(script=script, part="script", text=normalised(whole), tokens=found)
    if len(script.turns) == 1:
        return
    for index, turn in enumerate(script.turns):
        part = form.part(index).part
        if part in ("answer", "token") or turn.depends_on:
            continue
        found = tokens(turn.text, rules)
        least = MIN_TOKENS if rules.tokens == "words" else 3 * MIN_TOKENS
        if part == "context" or len(found) >= least:
            yield Unit(script=script, part=part, text=normalised(turn.text), tokens=found)


def _whole_units(script: Script) -> Iterator[Unit]:
    texts = [as_it_stands(turn.text) for turn in script.turns]
    whole = " ".join(texts)
    yield Unit(script=script, part="script", text=whole, tokens=frozenset([whole]))
    if len(texts) > 1 and FORMS[script.scenario].part(0).part == "context":
        yield Unit(script=script, part="context", text=texts[0], tokens=frozenset([texts[0]]))


def are_compared(first: Unit, second: Unit) -> bool:
    """Return whether two units count as the same thing twice if they are alike."""
    if first.script is second.script or first.script.language != second.script.language:
        return False
    both = {first.script.scenario, second.script.scenario}
    return not (both == {"user_backchannel"} and "context" in (first.part, second.part))


def twins(all_units: Sequence[Unit]) -> tuple[Twins, ...]:
    """Return each pair of like scripts once, by the units in which they are most alike.

    Notes
    -----
    Prefix filtering (Chaudhuri et al., ICDE 2006): with tokens in one fixed order, two sets of Jaccard t
    share one of the first ``n - ceil(t n) + 1`` tokens of each, so few pairs are looked at.
    """
    counts: dict[str, int] = defaultdict(int)
    for unit in all_units:
        for token in unit.tokens:
            counts[token] += 1
    index: dict[str, list[int]] = defaultdict(list)
    best: dict[tuple[int, int], Twins] = {}
    for place, unit in enumerate(all_units):
        ordered = sorted(unit.tokens, key=lambda token: (counts[token], token))
        seen: set[int] = set()
        for token in ordered[: len(ordered) - ceil(NEAR * len(ordered)) + 1]:
            seen.update(index[token])
            index[token].append(place)
        for other in (all_units[earlier] for earlier in sorted(seen)):
            likeness = jaccard(other.tokens, unit.tokens)
            key = (id(other.script), id(unit.script))
            if (
                likeness >= NEAR
                and are_compared(other, unit)
                and (key not in best or likeness > best[key].likeness)
            ):
                best[key] = Twins(
                    first=other, second=unit, likeness=likeness, is_exact=other.text == unit.text
                )
    return tuple(best.values())
