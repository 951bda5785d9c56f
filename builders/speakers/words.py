"""The words of a text, in any language: where each stands, and how many sounds it has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ... import SpeechError

_IDEOGRAPH = r"[\u3400-\u4dbf\u4e00-\u9fff]"
_WORD = re.compile(rf"{_IDEOGRAPH}|(?:(?!{_IDEOGRAPH})\w)+(?:['’.:-](?!{_IDEOGRAPH})\w+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWord:
    """A word ``text[start_char:stop_char]``; `weight` is its share of the sound: phonemes, else letters."""

    start_char: int
    stop_char: int
    weight: float


def words_of(text: str, language: str) -> tuple[TextWord, ...]:
    """Return the words: by our reading rules in English and Japanese, else letters between spaces.

    A Chinese character is a word. A text that the reading rules refuse is split by its letters too.

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
        TextWord(start_char=m.start(), stop_char=m.end(), weight=m.end() - m.start())
        for m in _WORD.finditer(text)
    )
