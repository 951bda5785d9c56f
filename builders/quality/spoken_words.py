"""Faults in what was spoken: dropped words, clauses said twice, tags read aloud, another language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .alignment import Step, align
from .compared_words import both_in_words
from .hearing import MODULES, hear, hearing_version, hears_all_languages, likeliest_english
from .measure import Measure, Measured, SpokenClip, Tools, Value, alone
from .normal_text import is_japanese, normal_words
from .sounds import sounds_of
from .wer import FEWEST_WORDS, can_hear, hears_words, word_steps

_TAG = re.compile(
    r"^(uv\w*|youv|break|breaks|\w*break|lbreak|laugh|laughs|laughter|laughing|oral|speed|breath|sigh|bracket|"
    r"brackets|underscore|mn)$"
)
"""How the tags of the engines ([uv_break], [lbreak], [laugh], [oral_2], [breath] …) sound when they are read."""

_LONGEST = 12


def dropped_words(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the words that are missing while both their neighbours (or the ends) were heard right.

    Where a neighbour was misheard the words may have been said and merged ("going to", "gonna").
    Fillers and words of one letter do not count: recognisers leave them out by habit.
    """
    missing: list[str] = []
    i = 0
    while i < len(steps):
        if steps[i].kind != "dropped":
            i += 1
            continue
        stop = i
        while stop < len(steps) and steps[stop].kind == "dropped":
            stop += 1
        clean = all(k < 0 or k >= len(steps) or steps[k].kind == "same" for k in (i - 1, stop))
        if clean:
            missing += [s.wanted for s in steps[i:stop] if len(s.wanted) > 1 and s.wanted not in _FILLERS]
        i = stop
    return tuple(missing)


def lost_words(wanted: Sequence[str], heard: Sequence[str]) -> tuple[str, ...]:
    """Return the English words of which hardly a sound was heard, although the recogniser put something there.

    Both texts are compared by their phonemes: a word of four and more is lost if at most two in five of them
    stand at their place. "Ferries" heard as "fairies" is not lost; "poached" heard as "had" is.

    Examples
    --------
    >>> lost_words("i have poached an egg".split(), "i have had an egg".split())
    ('poached',)
    >>> lost_words("the ferries leave".split(), "the fairies leave".split())
    ()
    """
    sounds = [sounds_of(word) for word in wanted]
    steps = align("".join(sounds), "".join(map(sounds_of, heard)))
    told = [step.kind == "same" for step in steps if step.kind != "added"]
    lost, at = [], 0
    for word, phones in zip(wanted, sounds, strict=True):
        same = sum(told[at : at + len(phones)])
        at += len(phones)
        if len(phones) >= _LONG_PHONES and 5 * same <= 2 * len(phones):
            lost.append(word)
    return tuple(lost)


_LONG_PHONES = 4


_FILLERS = frozenset(
    {"uh", "um", "hmm", "er", "erm", "ah", "oh", "ugh", "huh", "eh", "aw", "so", "well", "like", "mm", "and"}
)


def repeated_words(wanted: Sequence[str], heard: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the longest stretch that is heard twice in a row and was to be said once.

    A single word said twice counts from four letters on; two words and more always; three and more also if the
    recogniser wrote one of them otherwise the second time ("the failed first, a failed first").

    Examples
    --------
    >>> repeated_words("we leave at nine".split(), "we leave we leave at nine".split())
    ('we', 'leave')
    """
    for n in range(min(_LONGEST, len(heard) // 2), 0, -1):
        asked = sum(_alike(wanted[k : k + n], wanted[k + n : k + 2 * n]) for k in range(len(wanted)))
        found = [
            i
            for i in range(len(heard) - 2 * n + 1)
            if _alike(heard[i : i + n], heard[i + n : i + 2 * n])
            and not (n == 1 and len(heard[i]) < _SHORT_LETTERS)
        ]
        if len(found) > asked:
            at = min(found, key=lambda i: heard[i : i + n] != heard[i + n : i + 2 * n])  # an exact one first
            return tuple(heard[at : at + n])
    return ()


_SHORT_LETTERS = 4


def _alike(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether two stretches of equal length are the same, but for one word in three or more."""
    if len(first) != len(second) or not first:
        return False
    n_other = sum(a != b for a, b in zip(first, second, strict=True))
    return n_other == 0 or (n_other == 1 and len(first) >= 3)


def spoken_tags(wanted: Sequence[str], steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the heard words that are no part of the text and sound like an engine's tag."""
    return tuple(
        step.heard
        for step in steps
        if step.kind in ("added", "replaced") and step.heard not in wanted and _TAG.match(step.heard)
    )


def _faults(clip: SpokenClip, tools: Tools) -> Measured:
    nothing = {"dropped_words": None, "repeated_words": None, "spoken_tags": None}
    words = normal_words(clip.text, clip.language)
    if is_japanese(clip.language) or len(words) < FEWEST_WORDS or not can_hear(clip, tools):
        return Measured(values=nothing)
    steps, heard = word_steps(clip, tools)
    _, told = both_in_words(clip.text, heard.text, clip.language)
    dropped = dropped_words(steps)
    if clip.language.startswith("en"):
        dropped = tuple(dict.fromkeys((*dropped, *lost_words(words, told))))
    again = repeated_words(words, told)
    tags = spoken_tags(words, steps)
    remarks = [
        f"{what}: {' '.join(found)}"
        for what, found in (("dropped", dropped), ("said twice", again), ("tag read aloud", tags))
        if found
    ]
    return Measured(
        values={
            "dropped_words": float(len(dropped)),
            "repeated_words": float(len(again)),
            "spoken_tags": float(len(tags)),
        },
        note="; ".join((*remarks, f"heard {heard.text!r}")),
    )


def _language(clip: SpokenClip, tools: Tools) -> Measured:
    if clip.length_s < 1.0:
        return Measured(values={"own_language": None, "english_log_probability": None})
    if not hears_all_languages(tools):
        english = likeliest_english(clip, tools)
        return Measured(
            values={"own_language": None, "english_log_probability": english.log_probability},
            note=f"heard {english.text!r}",
        )
    heard = hear(clip, tools)
    own = None
    if heard.language_probability is not None:
        same = heard.language == clip.language.split("-")[0].lower()
        own = heard.language_probability if same else 1.0 - heard.language_probability
    return Measured(
        values={"own_language": own, "english_log_probability": None}, note=f"heard {heard.text!r}"
    )


SPOKEN_WORDS = Measure(
    name="spoken_words",
    scope="utterance",
    values=(
        Value(
            name="dropped_words",
            unit="words",
            meaning="words not heard between words heard right, or of which hardly a sound was heard",
            better="low",
            pooling="most",
            available_in=hears_words,
        ),
        Value(
            name="repeated_words",
            unit="words",
            meaning="length of a stretch heard twice in a row and asked for once",
            better="low",
            pooling="most",
            available_in=hears_words,
        ),
        Value(
            name="spoken_tags",
            unit="words",
            meaning="words heard that sound like an engine's tag read aloud",
            better="low",
            pooling="most",
            available_in=hears_words,
        ),
    ),
    source="own, on the alignment of the word error rate",
    cost=0.1,
    version=lambda tools: f"13 {hearing_version(tools)}",
    run=alone(_faults),
    needs=MODULES,
)

LANGUAGE = Measure(
    name="language",
    scope="utterance",
    values=(
        Value(
            name="own_language",
            unit="probability",
            meaning="that the language heard is the clip's own (recognisers of several languages)",
            better="high",
            pooling="least",
            available_in=lambda language, tools: hears_all_languages(tools),
        ),
        Value(
            name="english_log_probability",
            unit="nats per token",
            meaning="how sure the English recogniser is of the likeliest English: near 0 for English only",
            pooling="mean",
            available_in=lambda language, tools: not hears_all_languages(tools),
        ),
    ),
    source="faster-whisper",
    cost=0.1,
    version=lambda tools: f"6 {hearing_version(tools)}",
    run=alone(_language),
    needs=MODULES,
)
