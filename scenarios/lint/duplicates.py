"""Exact and near duplicates within a scenario and across scenarios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from ..conversation import Script
from .forms import FORMS
from .language_rules import load_rules
from .tokens import jaccard, normalised, tokens

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

    The whole script always; context and event by themselves too, except in user_backchannel, where the
    pair of context and token counts; of a dialogue the questions that need no history.
    """
    rules = load_rules(script.language)
    texts = [("script", " ".join(turn.text for turn in script.turns))]
    if len(script.turns) > 1 and script.scenario != "user_backchannel":
        texts += [
            (FORMS[script.scenario].part(i).part, turn.text)
            for i, turn in enumerate(script.turns)
            if FORMS[script.scenario].part(i).part != "answer" and not turn.depends_on
        ]
    for part, text in texts:
        found = tokens(text, rules)
        if (
            part in ("script", "context")
            or len(normalised(text).split()) >= MIN_TOKENS
            or (rules.tokens == "bigrams" and len(found) >= 3 * MIN_TOKENS)
        ):
            yield Unit(script=script, part=part, text=normalised(text), tokens=found)


def twins(all_units: Sequence[Unit]) -> Iterator[Twins]:
    """Yield each pair of like texts of two scripts once.

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
    for place, unit in enumerate(all_units):
        ordered = sorted(unit.tokens, key=lambda token: (counts[token], token))
        prefix = ordered[: len(ordered) - ceil(NEAR * len(ordered)) + 1]
        seen: set[int] = set()
        for token in prefix:
            seen.update(index[token])
            index[token].append(place)
        for earlier in sorted(seen):
            other = all_units[earlier]
            if other.script is unit.script:
                continue
            likeness = jaccard(other.tokens, unit.tokens)
            if likeness >= NEAR:
                yield Twins(first=other, second=unit, likeness=likeness, is_exact=other.text == unit.text)
