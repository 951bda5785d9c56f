"""Word and character error rate: what a recogniser hears against what was to be said."""

from __future__ import annotations

from .alignment import Step, align, n_errors
from .compared_words import compared_steps, compared_words
from .hearing import MODULES, Heard, hear, hearing_version, hears_all_languages
from .measure import Measure, Measured, SpokenClip, Tools, Value, alone
from .normal_text import is_japanese, kana_of, normal_characters

FEWEST_WORDS = 3
"""Shorter texts (backchannels) are guessed rather than recognised, and are left out."""


def hears(language: str, tools: Tools) -> bool:
    """Return whether the recogniser knows a language."""
    return language.startswith("en") or hears_all_languages(tools)


def hears_words(language: str, tools: Tools) -> bool:
    """Return whether the recogniser knows a language, and it is one that writes words apart."""
    return hears(language, tools) and not is_japanese(language)


def can_hear(clip: SpokenClip, tools: Tools) -> bool:
    """Return whether the recogniser knows the clip's language, and there is a text to compare with."""
    return bool(clip.text) and hears(clip.language, tools)


def word_steps(clip: SpokenClip, tools: Tools) -> tuple[tuple[Step, ...], Heard]:
    """Return the alignment of what was to be said with what is heard."""
    heard = hear(clip, tools)
    return compared_steps(clip.text, heard.text, clip.language), heard


def word_error_rate(wanted: str, heard: str, language: str) -> float:
    """Return errors per word wanted, after `compared_steps`.

    Examples
    --------
    >>> word_error_rate("The train leaves at 9.", "the trains leave at nine", "en")
    0.4
    """
    words, _ = compared_words(wanted, heard, language)
    if not words:
        raise ValueError(f"no word to be compared in {wanted!r}")
    return n_errors(compared_steps(wanted, heard, language)) / len(words)


def character_error_rate(wanted: str, heard: str, language: str) -> float:
    """Return errors per character wanted; Japanese is compared as it is pronounced, in katakana.

    Examples
    --------
    >>> character_error_rate("night", "knights", "en")
    0.4
    """
    if is_japanese(language):
        told = [kana_of(wanted), kana_of(heard)]
    else:
        steps = compared_steps(wanted, heard, language)
        told = [
            "".join(step.wanted for step in steps),
            "".join(step.wanted if step.kind == "same" else step.heard for step in steps),
        ]
    if not told[0]:
        raise ValueError(f"no character to be compared in {wanted!r}")
    return n_errors(align(told[0], told[1])) / len(told[0])


def _wer(clip: SpokenClip, tools: Tools) -> Measured:
    words, _ = compared_words(clip.text, "", clip.language)
    if is_japanese(clip.language) or len(words) < FEWEST_WORDS or not can_hear(clip, tools):
        return Measured(values={"wer": None}, weight=0.0)
    steps, heard = word_steps(clip, tools)
    return Measured(
        values={"wer": n_errors(steps) / len(words)}, weight=len(words), note=f"heard {heard.text!r}"
    )


def _cer(clip: SpokenClip, tools: Tools) -> Measured:
    if not can_hear(clip, tools) or len(normal_characters(clip.text, clip.language)) < 2 * FEWEST_WORDS:
        return Measured(values={"cer": None}, weight=0.0)
    heard = hear(clip, tools)
    return Measured(
        values={"cer": character_error_rate(clip.text, heard.text, clip.language)},
        weight=len(normal_characters(clip.text, clip.language)),
        note=f"heard {heard.text!r}",
    )


WER = Measure(
    name="wer",
    scope="utterance",
    values=(
        Value(
            name="wer",
            unit="errors per word",
            meaning="word error rate of texts of three words and more; not for Japanese",
            better="low",
            pooling="pooled",
            available_in=hears_words,
        ),
    ),
    source="faster-whisper; text normalised as docs/quality.md says",
    cost=0.1,
    version=lambda tools: f"12 {hearing_version(tools)}",
    run=alone(_wer),
    needs=MODULES,
)

CER = Measure(
    name="cer",
    scope="utterance",
    values=(
        Value(
            name="cer",
            unit="errors per character",
            meaning="character error rate; Japanese in katakana as pronounced, with a recogniser that knows it",
            better="low",
            pooling="pooled",
            available_in=hears,
        ),
    ),
    source="faster-whisper; text normalised as docs/quality.md says",
    cost=0.1,
    version=lambda tools: f"12 {hearing_version(tools)}",
    run=alone(_cer),
    needs=MODULES,
)
