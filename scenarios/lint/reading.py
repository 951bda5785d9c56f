"""A script, read once: its turns without marks, and how each is spoken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..conversation import Script
from ..markup import Marked, parse
from .forms import FORMS
from .language_rules import LanguageRules, load_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What an engine makes of a text: the beats it has (syllables; Japanese: morae), or why it cannot be said."""

    n_beats: int
    refusal: str = ""


Pronounce = Callable[[Marked, str], Spoken]
"""Text and language -> how it is spoken. Given by who knows an engine; the linter knows none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadScript:
    """A script with all that its checks look at; the tuples run along its turns."""

    script: Script
    rules: LanguageRules
    marked: tuple[Marked, ...]
    spoken: tuple[Spoken, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the turns' texts without marks."""
        return tuple(marked.text for marked in self.marked)

    def part(self, index: int) -> str:
        """Return what the turn at `index` is: context, event, token, turn, monologue, question or answer."""
        return FORMS[self.script.scenario].part(index).part

    def length(self, index: int) -> int:
        """Return the turn's length in the unit of its language."""
        if self.rules.unit == "words":
            return len(self.marked[index].text.split())
        return self.spoken[index].n_beats


def read(script: Script, pronounce: Pronounce) -> ReadScript:
    """Return the script with its marks parsed and each turn pronounced."""
    marked = tuple(parse(turn.text) for turn in script.turns)
    return ReadScript(
        script=script,
        rules=load_rules(script.language),
        marked=marked,
        spoken=tuple(pronounce(text, script.language) for text in marked),
    )


def without_readings(marked: Marked) -> str:
    """Return the text as it is said: readings in place of what they stand for, phonemes left out.

    Examples
    --------
    >>> without_readings(parse("[外湯|そとゆ]めぐり"))
    'そとゆめぐり'
    """
    said, last = "", 0
    for reading in marked.readings:
        said += marked.text[last : reading.start] + ("" if reading.is_phonemes else reading.spoken)
        last = reading.stop
    return said + marked.text[last:]
