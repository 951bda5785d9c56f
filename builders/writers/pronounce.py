"""How the default engine reads a text, at the level of phonemes: no model, no sound."""

from __future__ import annotations

import re

from ... import DuplexkitError
from ...scenarios.lint import Spoken
from ...scenarios.markup import Marked

_VOWELS = {"en": frozenset("AIOQWYaeiouæɑɒɔəɛɜɪʊʌᵊᵻɐ"), "ja": frozenset("aeioɯɨɛɑː")}
_MORA = re.compile(r"[aeioɯɨː]|ʔ|ɴ|[mnŋɲ](?![aeioɯɨʲ])")


def pronounce(text: Marked, language: str) -> Spoken:
    """Return the beats of a text as Kokoro reads it (syllables; Japanese: morae), or why it refuses.

    Notes
    -----
    Japanese morae are vowels, lengthenings, the first part of a double consonant and syllabic nasals;
    English syllables are vowel phonemes.
    """
    from ..speakers.kokoro import phonemes

    try:
        groups = phonemes(
            text.text,
            language,
            readings=text.readings,
            breaks=tuple(mark.position for mark in text.places("pause")),
        )
    except DuplexkitError as error:
        return Spoken(n_beats=0, refusal=str(error))
    said = "".join(group.phonemes for group in groups)
    primary = language.split("-")[0].lower()
    if primary == "ja":
        return Spoken(n_beats=len(_MORA.findall(said)))
    return Spoken(n_beats=sum(char in _VOWELS["en"] for char in said))
