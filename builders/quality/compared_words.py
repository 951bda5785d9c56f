"""What was to be said and what was heard, to the words that are compared: hesitations out, compounds written alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
    parted = {first + second: (first, second) for first, second in pairwise(wanted)}
    told: list[str] = []
    for word in heard:
        if told and told[-1] + word in whole and not {told[-1], word} <= whole and _alike(told[-1], word):
            told[-1] += word
        elif word in parted and word not in whole and _alike(*parted[word]):
            told += parted[word]
        else:
            told.append(word)
    return tuple(told)


def _alike(first: str, second: str) -> bool:
    """Return whether two words sound as one: "sea side", but not "so on" and "soon"."""
    return sounds_of(first + second) == sounds_of(first) + sounds_of(second)
