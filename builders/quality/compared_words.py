"""What was to be said and what was heard, to the words that are compared: as they sound, not as they are spelt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from .alignment import Step, align, n_errors
from .contractions import contracted, with_apostrophe
from .digits import as_spoken
from .normal_text import normal_words
from .sounds import by_ear, sounds_of

HESITATIONS = frozenset({"uh", "um", "uhm", "er", "erm", "hmm"})
"""Recognisers leave these out by habit (Whisper's transcripts, and its own normaliser, have none)."""


def compared_words(wanted: str, heard: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of two texts as an error rate compares them.

    Examples
    --------
    >>> compared_words("Um, the landlady is offside", "the land lady is off side", "en")
    (('the', 'landlady', 'is', 'offside'), ('the', 'landlady', 'is', 'offside'))
    """
    words, told = both_in_words(wanted, heard, language)
    if not language.lower().startswith("en"):
        return words, told
    words = tuple(word for word in words if word not in HESITATIONS)
    return words, with_compounds_of(words, tuple(word for word in told if word not in HESITATIONS))


def both_in_words(wanted: str, heard: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of two texts; numbers that were heard, as they were to be said.

    Examples
    --------
    >>> both_in_words("gate four one two", "Gate 412.", "en")[1]
    ('gate', 'four', 'one', 'two')
    """
    words = normal_words(wanted, language)
    told = as_spoken(heard, words) if language.lower().startswith("en") else heard
    return words, normal_words(told, language)


def compared_steps(wanted: str, heard: str, language: str) -> tuple[Step, ...]:
    """Return the alignment of two texts as an error rate counts it: `compared_words`, by ear.

    Contractions count as said. A word that sounds like the one wanted is the `same`, however it is spelt (`heard`
    keeps the spelling): "brake" and "break".

    Examples
    --------
    >>> [step.heard for step in compared_steps("How'd it end? I am not sure", "How did it end? I'm not sure", "en")]
    ['howd', 'it', 'end', 'im', 'not', 'sure']
    """
    words, told = compared_words(wanted, heard, language)
    if not language.lower().startswith("en"):
        return align(words, told)
    steps = _aligned_by_ear(words, told)
    found: list[Step] = []
    for is_same, group in groupby(steps, key=lambda step: step.kind == "same"):
        run = tuple(group)
        found += run if is_same else _drawn_together(run)
    return tuple(found)


def _aligned_by_ear(wanted: Sequence[str], heard: Sequence[str]) -> tuple[Step, ...]:
    """Return the alignment of two sequences of words in which those that sound alike are the same."""
    steps = align(*([by_ear(with_apostrophe(word)) for word in words] for words in (wanted, heard)))
    said, told = iter(wanted), iter(heard)
    return tuple(
        replace(step, wanted=next(said) if step.wanted else "", heard=next(told) if step.heard else "")
        for step in steps
    )


def _drawn_together(run: Sequence[Step]) -> tuple[Step, ...]:
    """Return a run of errors aligned anew with contractions on both sides, where that leaves fewer."""
    sides = (_contracted([getattr(step, side) for step in run]) for side in ("wanted", "heard"))
    anew = _aligned_by_ear(*sides)
    return anew if n_errors(anew) < n_errors(run) else tuple(run)


def _contracted(words: Sequence[str]) -> list[str]:
    """Return the words, pairs that are drawn together as one."""
    said: list[str] = []
    for word in filter(None, words):
        one = contracted(said[-1], word) if said else ""
        said[-1:] = [one] if one else [*said[-1:], word]
    return said


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
