"""Normalised tokens of a text, and how alike two sets of them are."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from ..markup import shown
from .language_rules import LanguageRules

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def normalised(text: str) -> str:
    """Return the text without marks, case, width and punctuation.

    Examples
    --------
    >>> normalised("Okay, [pause:clause] STOP!")
    'okay stop'
    """
    folded = unicodedata.normalize("NFKC", shown(text)).replace("’", "'").casefold()
    return " ".join(_WORD.findall(folded))


def as_it_stands(text: str) -> str:
    """Return the text without our marks, case, width and the number of spaces: what any language can spare.

    Examples
    --------
    >>> as_it_stands("¿Ya  [pause:clause] está?")
    '¿ya está?'
    """
    return " ".join(unicodedata.normalize("NFKC", shown(text)).casefold().split())


def tokens(text: str, rules: LanguageRules) -> frozenset[str]:
    """Return the words of a text; for a language without spaces, its pairs of characters.

    Examples
    --------
    >>> from .language_rules import load_rules
    >>> sorted(tokens("お茶です。", load_rules("ja")))
    ['お茶', 'です', '茶で']
    """
    plain = normalised(text)
    if rules.tokens == "words":
        return frozenset(plain.split())
    joined = plain.replace(" ", "")
    return frozenset(a + b for a, b in pairwise(joined)) or frozenset([joined])


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the shared part of two token sets, 0 to 1.

    Examples
    --------
    >>> jaccard(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    union = len(first | second)
    return len(first & second) / union if union else 1.0
