"""English words to their sounds, as the fast engine reads them."""

from __future__ import annotations

from functools import cache
from typing import Any

_VOWELS = frozenset("AIWYOQaeiouæɐɑɒɔəɚɛɜɝɪʊʌᵊ")


@cache
def sounds_of(word: str) -> str:
    """Return the phonemes of an English word without stress."""
    return "".join(char for char in str(_reader()(word) or "") if char not in "ˈˌ ")


@cache
def by_ear(word: str) -> str:
    """Return what two words that cannot be told apart share: the phonemes, with the stress where it can fall otherwise.

    The American lexicon decides. A word without phonemes is itself.

    Examples
    --------
    >>> by_ear("brake") == by_ear("break"), by_ear("insight") == by_ear("incite")
    (True, False)
    """
    sounds = sounds_of(word)
    one_syllable = sum(char in _VOWELS for char in sounds) < 2
    return (sounds if one_syllable else str(_reader()(word))) or word


@cache
def _reader() -> Any:
    from hibari.g2p import G2P

    return G2P()
