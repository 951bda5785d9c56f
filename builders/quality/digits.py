"""A number that a recogniser wrote in digits, to the words by which it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .normal_text import normal_words

_DIGITS = re.compile(r"(?<![\d$])(?<!\d[.,:])\d{2,10}(?![\dA-Za-z%]|[.,:]\d)")


def as_spoken(heard: str, wanted: Sequence[str]) -> str:
    """Return an English transcript with its numbers as `wanted` says them, where it does: digit by digit or in pairs.

    Digits do not say how they were spoken; those that `wanted` says in no way stay.

    Examples
    --------
    >>> as_spoken("Code 833, 619", ["code", "eight", "three", "three", "six", "one", "nine"])
    'Code eight three three, six one nine'
    >>> as_spoken("Flight 218", ["flight", "two", "eighteen"]), as_spoken("218 trees", ["two", "trees"])
    ('Flight two eighteen', '218 trees')
    """
    text = " ".join(("", *wanted, ""))

    def said(found: re.Match[str]) -> str:
        if f" {' '.join(normal_words(found[0], 'en'))} " in text:
            return found[0]
        return next((reading for reading in _readings(found[0]) if f" {reading} " in text), found[0])

    return _DIGITS.sub(said, heard)


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
