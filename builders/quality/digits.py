"""A number that a recogniser wrote in digits, to the words by which it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .normal_text import MEASURED, normal_words

_RUN = re.compile(
    r"(?<![\d$.:])\d+(?:(?:[-,]|,? )\d+)*(?![\dA-Za-z%:]|\.\d|\s?(?:" + "|".join(MEASURED) + r")\b)",
    re.IGNORECASE,
)
_LONGEST = 12
"""Digits of one number; there are some hundred ways to say so many."""


def as_spoken(heard: str, wanted: Sequence[str]) -> str:
    """Return an English transcript with its numbers as `wanted` says them, where it does: digit by digit or in pairs.

    Digits do not say how they were spoken; those that `wanted` says in no way stay.

    Examples
    --------
    >>> as_spoken("Code 833, 619", ["code", "eight", "three", "three", "six", "one", "nine"])
    'Code eight three three six one nine'
    >>> as_spoken("Flight 218", ["flight", "two", "eighteen"]), as_spoken("218 trees", ["two", "trees"])
    ('Flight two eighteen', '218 trees')
    """
    text = " ".join(("", *wanted, ""))
    return _RUN.sub(lambda found: _said(found[0], text) or found[0], heard)


def _said(run: str, text: str) -> str:
    """Return how a text says a run of digits, all of it or number by number; empty where it does not."""
    digits = re.sub(r"\D", "", run)
    if not 2 <= len(digits) <= _LONGEST:
        return ""
    if digits[0] != "0" and f" {' '.join(normal_words(run, 'en'))} " in text:
        return run
    reading = next((reading for reading in _readings(digits) if f" {reading} " in text), "")
    pieces = re.split(r"(,? )", run)
    if reading or len(pieces) == 1:
        return reading
    return "".join(_said(piece, text) or piece for piece in pieces)


def _readings(digits: str) -> Iterator[str]:
    """Yield the ways to say digits singly and in pairs, those that begin singly first."""
    if not digits:
        yield ""
        return
    for n in (1, 2):
        if len(digits) < n or (n == 2 and digits[0] == "0"):
            continue
        for first in (" ".join(normal_words(digits[:n], "en")), *(("oh",) if digits[:n] == "0" else ())):
            for rest in _readings(digits[n:]):
                yield f"{first} {rest}".rstrip()
