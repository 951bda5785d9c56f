"""The words of a text, in any language: where each stands, and how many sounds it has."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ... import SpeechError

_INNER = frozenset("'’.:-_·‐‑׳״\u00ad\u200c\u200d\u2060")
"""What joins two letters to one word: marks, and characters that are not seen."""
_IDEOGRAPHS = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x33480))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWord:
    """A word ``text[start_char:stop_char]``; `weight` is its share of the sound: phonemes, else letters."""

    start_char: int
    stop_char: int
    weight: float


def words_of(text: str, language: str) -> tuple[TextWord, ...]:
    """Return the words: by our reading rules in English and Japanese, else letters between spaces.

    A Chinese character is a word. A text that the reading rules refuse is split by its letters too. The accents,
    vowel signs and tone marks on a letter belong to it.

    Examples
    --------
    >>> [(w.start_char, w.stop_char) for w in words_of("ça va, toi?", "fr")]
    [(0, 2), (3, 5), (7, 10)]
    """
    primary = language.split("-")[0].lower()
    if primary in ("en", "ja"):
        from .kokoro import phonemes

        try:
            return tuple(
                TextWord(start_char=g.start_char, stop_char=g.stop_char, weight=len(g.phonemes))
                for g in phonemes(text, primary)
            )
        except SpeechError:
            pass  # characters of another language inside: our rules cannot read them, the engine may
    return tuple(
        # composed, so that a letter weighs the same whether its accent is written with it or after it
        TextWord(start_char=a, stop_char=b, weight=len(unicodedata.normalize("NFC", text[a:b])))
        for a, b in _runs(text)
    )


def letter_places(text: str) -> tuple[int, ...]:
    """Return the places of all that words are written with: letters, digits, and the marks on them.

    Examples
    --------
    >>> letter_places("Go, दिन!")
    (0, 1, 4, 5, 6)
    """
    places: list[int] = []
    for place, char in enumerate(text):
        if char.isalnum() or (is_mark(char) and places[-1:] == [place - 1]):
            places.append(place)
    return tuple(places)


def is_mark(char: str) -> bool:
    """Say whether a character stands on the one before it: an accent, a vowel sign, a tone mark."""
    return unicodedata.category(char).startswith("M")


def spells(words: Iterable[str], text: str) -> bool:
    """Say whether the words, in their order, are the text: every one stands in it, and no letter is left.

    Examples
    --------
    >>> spells(["Wait", "stop"], "Wait, stop!"), spells(["Wait"], "Wait, stop!")
    (True, False)
    """
    letters = letter_places(text)
    at = 0
    for word in words:
        start = text.find(word, at)
        if not word or start < 0 or any(at <= place < start for place in letters):
            return False
        at = start + len(word)
    return not letters or letters[-1] < at


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each run of letters, each Chinese character by itself."""
    start = 0
    while start < len(text):
        if not text[start].isalnum():
            start += 1
            continue
        stop = _after_marks(text, start)
        while not is_ideograph(text[start]) and stop < len(text):
            following = stop + 1 if text[stop] in _INNER else stop
            letter = text[following : following + 1]
            if not letter.isalnum() or is_ideograph(letter):
                break
            stop = _after_marks(text, following)
        yield start, stop
        start = stop


def _after_marks(text: str, letter: int) -> int:
    """Return the place after a letter and the marks on it."""
    stop = letter + 1
    while stop < len(text) and is_mark(text[stop]):
        stop += 1
    return stop


def is_ideograph(char: str) -> bool:
    """Say whether a character is a Chinese one."""
    return any(ord(char) in block for block in _IDEOGRAPHS)
