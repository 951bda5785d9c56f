"""When two spellings are the same words: only what nobody hears may be different."""

from __future__ import annotations

import re
import unicodedata

from .words import is_ideograph

_ANYWHERE = "—―…‥、。〈〉《》「」『』【】・"
"""Marks that part words wherever they stand."""
_AT_EDGES = '.,;:!?–()"“”„«»¿¡।॥،؛؟'
"""Marks that part words where a space, an end or a character written without spaces is beside them."""
_DASHES = frozenset("–—―")
_UNSEEN = re.compile("[\u00ad\u200e\u200f\u2060\ufeff]")
_GAP = re.compile(rf"[\s{re.escape(_ANYWHERE + _AT_EDGES)}]+")


def text_key(text: str) -> str:
    """Return what all spellings of the same words have in common.

    Alike are small and capital letters, spaces of any number, the ordinary marks between words, straight and
    curly apostrophes, composed and decomposed accents, wide and narrow forms. Nothing else is: not an accent or
    a vowel sign, not a sign that is spoken (``-5``, ``C++``, ``50%``), not a mark inside a word (``3.5``,
    ``p.m``), not one between a number and more of the text (``No. 5``, ``2 – 3``).

    Examples
    --------
    >>> text_key("Wait, STOP!") == text_key("wait  stop")
    True
    >>> text_key("-5 degrees") == text_key("5 degrees")
    False
    """
    # not casefold, which makes one word of the German Maße and Masse; not NFKC, which makes 52 of 5²
    folded = unicodedata.normalize("NFC", "".join(map(_plain_width, _UNSEEN.sub("", text)))).lower()
    folded = folded.replace("’", "'").replace("‘", "'")
    key = _GAP.sub(_kept, folded).strip()
    return key or " ".join(folded.split())


def _plain_width(char: str) -> str:
    is_form = unicodedata.decomposition(char).startswith(("<wide>", "<narrow>"))
    return unicodedata.normalize("NFKC", char) if is_form else char


def _kept(gap: re.Match[str]) -> str:
    """Return what a run of spaces and marks is in the key: a space, or itself where it may be heard."""
    run, before, after = gap.group(), gap.string[: gap.start()][-1:], gap.string[gap.end() :][:1]
    if not after or not before:
        return run if after.isdigit() and _DASHES & set(run) else ""
    if (before.isdigit() or after.isdigit()) and not run.isspace():
        return re.sub(r"\s+", " ", run)
    is_inside = len(run) == 1 and run in _AT_EDGES and not _is_unspaced(before) and not _is_unspaced(after)
    return run if is_inside else " "


def _is_unspaced(char: str) -> bool:
    """Say whether a character is of a script that puts no spaces between words."""
    name = unicodedata.name(char, "")
    return is_ideograph(char) or name.startswith(("HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"))
