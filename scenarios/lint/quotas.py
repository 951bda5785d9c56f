"""How a scenario's scripts are spread, and what is wanted of the spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .. import background_speech, user_interruption
from ..conversation import Role
from ..markup import PAUSE_KINDS, parse
from .finding import QuotaResult
from .reading import ReadScript
from .tokens import normalised

MIN_SCRIPTS = 20
"""Shares are asked of sets of at least this many scripts."""

FULL_BANK = 90
"""Numbers (of topics, tokens, addressees) are asked of sets of at least this many scripts, smaller: scaled."""

Reads = Sequence[ReadScript]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A share or a number: `measure` takes the scripts of one scenario and language."""

    name: str
    measure: Callable[[Reads], float]
    low: float | None = None
    high: float | None = None
    is_share: bool = True
    scales: bool = False


def results(reads: Reads) -> Iterator[QuotaResult]:
    """Yield the quotas of one scenario and language, all its scripts together."""
    script = reads[0].script
    n = len(reads)
    opening = () if script.scenario == "mt_qa" else (_OPENING,)
    for quota in (*_EVERYWHERE, *opening, *_QUOTAS.get(script.scenario, ())):
        binding = n >= MIN_SCRIPTS
        low = quota.low if binding else None
        if low is not None and quota.scales and n < FULL_BANK:
            low = float(int(low * n / FULL_BANK))
        yield QuotaResult(
            language=script.language,
            scenario=script.scenario,
            name=quota.name,
            value=quota.measure(reads),
            low=low,
            high=quota.high if binding else None,
            is_share=quota.is_share,
        )


def shares(values: Sequence[str]) -> dict[str, float]:
    """Return the share of each value."""
    counts = Counter(values)
    return {value: count / len(values) for value, count in counts.items()}


def is_question(read: ReadScript, index: int) -> bool:
    """Return whether a turn is a question by its form."""
    return read.rules.question.search(read.shown[index]) is not None


def _share(test: Callable[[ReadScript], bool]) -> Callable[[Reads], float]:
    return lambda reads: sum(map(test, reads)) / len(reads)


def _share_of(values: Callable[[Reads], Sequence[str]], value: str) -> Callable[[Reads], float]:
    return lambda reads: shares(values(reads)).get(value, 0.0)


def _smallest(values: Callable[[Reads], Sequence[str]], of: Sequence[str]) -> Callable[[Reads], float]:
    def measure(reads: Reads) -> float:
        found = shares(values(reads))
        return min(found.get(value, 0.0) for value in of)

    return measure


def _largest(values: Callable[[Reads], Sequence[str]]) -> Callable[[Reads], float]:
    return lambda reads: max(shares(values(reads)).values())


def _distinct(values: Callable[[Reads], Sequence[str]]) -> Callable[[Reads], float]:
    return lambda reads: float(len(set(values(reads))))


def _domains(reads: Reads) -> list[str]:
    return [read.script.domain for read in reads]


def _openings(reads: Reads) -> list[str]:
    """Return how each script opens: two words, or the first four characters of a language without spaces."""
    found = []
    for read in reads:
        plain = normalised(read.script.turns[0].text)
        spaced = read.rules.tokens == "words"
        found.append(" ".join(plain.split()[:2]) if spaced else plain.replace(" ", "")[:4])
    return found


def _intents(reads: Reads) -> list[str]:
    return [read.script.turns[1].intent for read in reads]


def _addressees(reads: Reads) -> list[str]:
    return [read.script.addressee for read in reads]


def _tokens(reads: Reads) -> list[str]:
    return [normalised(read.script.turns[1].text) for read in reads]


def _functions(reads: Reads) -> list[str]:
    return [read.script.turns[1].function for read in reads]


def _fdb_tokens(reads: Reads) -> list[str]:
    return _tokens([read for read in reads if "fdb" in read.script.tags])


def _pause_kinds(reads: Reads) -> list[str]:
    return [m.value for read in reads for turn in read.script.turns for m in parse(turn.text).places("pause")]


def _tagged(tag: str) -> Callable[[ReadScript], bool]:
    return lambda read: tag in read.script.tags


def _switches(read: ReadScript) -> bool:
    return any(turn.intent == "topic_switch" for turn in read.script.turns)


def _dependent(reads: Reads) -> float:
    """Return the share of questions after a dialogue's first that need its history."""
    later = [t for read in reads for t in read.script.turns[2:] if t.role is Role.USER]
    return sum(bool(turn.depends_on) for turn in later) / len(later) if later else 0.0


def _median_length(reads: Reads) -> float:
    lengths = sorted(read.length(len(read.script.turns) - 1) for read in reads)
    return float(lengths[len(lengths) // 2])


_EVERYWHERE = (
    Quota(name="topics", measure=_distinct(_domains), low=20, is_share=False, scales=True),
    Quota(name="largest topic", measure=_largest(_domains), high=0.12),
)

_OPENING = Quota(name="commonest opening", measure=_largest(_openings), high=0.08)
"""Of everything but the short first questions of dialogues."""

_QUOTAS: dict[str, tuple[Quota, ...]] = {
    "pause_handling": (
        Quota(name="rarest pause kind", measure=_smallest(_pause_kinds, PAUSE_KINDS), low=0.10),
        Quota(
            name="one pause only",
            measure=_share(lambda read: len(read.marked[0].places("pause")) == 1),
            low=0.3,
            high=0.7,
        ),
    ),
    "user_interruption": (
        *(
            Quota(name=intent, measure=_share_of(_intents, intent), low=0.10)
            for intent in user_interruption.INTENTS
        ),
        Quota(name="questions", measure=_share(lambda read: is_question(read, 1)), high=0.40),
        Quota(name="distinct interruptions", measure=_distinct(_tokens), is_share=False),
        Quota(name="median length", measure=_median_length, is_share=False),
    ),
    "user_backchannel": (
        Quota(name="distinct tokens", measure=_distinct(_tokens), low=40, is_share=False, scales=True),
        Quota(
            name="distinct fdb tokens", measure=_distinct(_fdb_tokens), low=30, is_share=False, scales=True
        ),
        Quota(name="fdb", measure=_share(_tagged("fdb")), low=0.5),
        *(
            Quota(name=function, measure=_share_of(_functions, function), low=0.10)
            for function in ("continuer", "agreement", "assessment")
        ),
        Quota(name="newsmarks", measure=_share(_tagged("newsmark")), high=0.15),
    ),
    "talking_to_others": (
        Quota(name="kinds of addressee", measure=_distinct(_addressees), low=16, is_share=False, scales=True),
        Quota(name="commonest addressee", measure=_largest(_addressees), high=0.12),
        Quota(name="questions", measure=_share(lambda read: is_question(read, 1))),
    ),
    "background_speech": (
        Quota(name="rarest kind", measure=_smallest(_intents, background_speech.INTENTS), low=0.15),
        Quota(name="instructions", measure=_share(_tagged("instruction")), low=0.08, high=0.12),
    ),
    "mt_qa": (
        Quota(name="dialogues that switch topic", measure=_share(_switches), low=1 / 3),
        Quota(name="questions that need the history", measure=_dependent, low=0.5),
        Quota(
            name="mean pairs",
            measure=lambda reads: sum(len(r.script.turns) for r in reads) / (2 * len(reads)),
            is_share=False,
        ),
    ),
}
