"""Whether a text can be spoken as it stands: its language, characters, length and content."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .problem import Problem
from .reading import ReadScript, without_readings

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def check_language(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem where a script is in another language than it says.

    Notes
    -----
    By letters, and by the share of function words (in Japanese: of hiragana) over all turns together; it
    tells languages apart, not dialects, and needs about eight words.
    """
    rules = read.rules
    text = " ".join(read.shown)
    letters = [char for char in text if char.isalpha()]
    strange = [char for char in letters if not rules.letters.match(char)]
    if len(strange) > 0.1 * len(letters):
        yield Problem(
            rule="language",
            message=f"not {rules.name}: {''.join(strange[:8])!r} among its letters",
        )
        return
    pieces = _WORD.findall(text) if rules.tokens == "words" else letters
    if len(pieces) < 8:
        return
    share = sum(1 for piece in pieces if rules.function_words.fullmatch(piece)) / len(pieces)
    if share < rules.min_function_share:
        yield Problem(
            rule="language",
            message=f"not {rules.name}, or not said by anybody: {share:.0%} function words, "
            f"wanted at least {rules.min_function_share:.0%}",
        )


def check_characters(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem for each thing that cannot be read aloud without guessing."""
    for index, marked in enumerate(read.marked):
        said = without_readings(marked)
        named = False
        for what, pattern in read.rules.unspeakable:
            found = pattern.search(said)
            if found:
                named = True
                yield Problem(rule="characters", message=f"turn {index}: {what}: {found.group()!r}")
        others = sorted({char for char in said if not read.rules.characters.match(char)})
        if others and not named:
            yield Problem(
                rule="characters", message=f"turn {index}: {''.join(others)!r} cannot be spoken; write words"
            )


def check_spoken(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem for each turn that the engine's reading refuses."""
    for index, spoken in enumerate(read.spoken):
        if spoken.refusal:
            yield Problem(rule="speakable", message=f"turn {index}: {spoken.refusal}")


def check_length(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem for each turn that is too short or too long for its scenario's timing."""
    bounds = read.rules.lengths.get(read.script.scenario, {})
    for index, spoken in enumerate(read.spoken):
        part = read.part(index)
        if part not in bounds or spoken.refusal:
            continue
        low, high = bounds[part]
        length = read.length(index)
        if not low <= length <= high:
            yield Problem(
                rule="length",
                message=f"turn {index} ({part}): {length} {read.rules.unit}; wanted {low} to {high}",
            )


def check_content(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem for unsafe content and brands, by word lists (a reader must still look)."""
    for index, text in enumerate(read.shown):
        for rule, pattern in (("banned", read.rules.banned), ("brand", read.rules.brands)):
            found = pattern.search(text)
            if found:
                yield Problem(
                    rule=rule, message=f"turn {index}: {found.group()!r} has no place in a released bank"
                )
