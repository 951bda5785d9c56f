"""What was to be said and what was heard, to the words that are compared: no hesitations, compounds written alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .contractions import contracted
from .normal_text import normal_words
from .sounds import sounds_of

HESITATIONS = frozenset({"uh", "um", "uhm", "er", "erm", "hmm"})
"""Recognisers leave these out by habit (Whisper's transcripts, and its own normaliser, have none)."""


def compared_words(wanted: str, heard: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of two texts as an error rate compares them.

    Examples
    --------
    >>> compared_words("Um, the landlady is offside", "the land lady is off side", "en")
    (('the', 'landlady', 'is', 'offside'), ('the', 'landlady', 'is', 'offside'))
    """
    words, told = normal_words(wanted, language), normal_words(heard, language)
    if not language.lower().startswith("en"):
        return words, told
    words = tuple(word for word in words if word not in HESITATIONS)
    return words, with_compounds_of(words, tuple(word for word in told if word not in HESITATIONS))


def with_compounds_of(wanted: Sequence[str], heard: Sequence[str]) -> tuple[str, ...]:
    """Return what was heard, with words joined or parted where that gives a word, or two, of what was wanted."""
    whole = set(wanted)
    parted = {one: pair for pair in pairwise(wanted) for one in _in_one_word(*pair)}
    told: list[str] = []
    for word in heard:
        pair = (told[-1], word) if told and not {told[-1], word} <= whole else ()
        joined = [one for one in _in_one_word(*pair) if one in whole and _is(one, *pair)] if pair else []
        if joined:
            told[-1] = joined[0]
        elif word in parted and word not in whole and _is(word, *parted[word]):
            told += parted[word]
        else:
            told.append(word)
    return tuple(told)


def _in_one_word(first: str, second: str) -> tuple[str, ...]:
    """Return how two words may be written as one: drawn together, or as a compound."""
    return tuple(filter(None, (contracted(first, second), first + second)))


def _is(word: str, first: str, second: str) -> bool:
    """Return whether two words are one: drawn together, or alike in sound ("sea side", but not "so on" and "soon")."""
    return word == contracted(first, second) or sounds_of(word) == sounds_of(first) + sounds_of(second)
