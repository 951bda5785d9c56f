"""Whether a spoken or translated line still says what the written one said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...scenarios.lint.language_rules import load_rules
from ...scenarios.markup import parse
from .numbers import numbers_in

LENGTH_RATIO = {("en", "en"): (0.4, 2.5), ("en", "ja"): (1.2, 6.0)}
"""Morae (Japanese) or words of the new text for a word of the old: outside it something was lost or added.

The second pair spans all 1274 turns of the shipped parallel dialogues (1.25 to 5.6); the first is our choice.
"""

MIN_LOST = 3.0
"""Ones and twos come and go in speech ("the two", 両方)."""

MIN_ADDED = 13.0
"""Numbers below this may come in by way of speech ("one of them", 一つ); larger ones must have been there."""

_NAME = re.compile(
    r"(?<![.?!]\s)(?<!^)\b(?!I\b|I'|OK\b)[A-Z][\w'’-]*(?:\s+(?:of|the|de|van|von|da)?\s*[A-Z][\w'’-]*)*"
)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in an English text: capitalised words that do not open a sentence.

    Examples
    --------
    >>> names_in("When did Neil Armstrong walk on the Moon?")
    ('Neil Armstrong', 'Moon')
    """
    return tuple(dict.fromkeys(match.group() for match in _NAME.finditer(text)))


def check_numbers(before: str, after: str, *, languages: tuple[str, str]) -> Iterator[str]:
    """Yield a line for each number that went missing, or came from nowhere."""
    old, new = numbers_in(before, languages[0]), numbers_in(parse(after).text, languages[1])
    missing = [number for number in dict.fromkeys(old) if number not in new and number >= MIN_LOST]
    added = [number for number in dict.fromkeys(new) if number not in old and number >= MIN_ADDED]
    if missing:
        yield f"numbers lost: {', '.join(f'{number:g}' for number in missing)}"
    if added:
        yield f"numbers added: {', '.join(f'{number:g}' for number in added)}"


def check_names(before: str, after: str, names: Mapping[str, str] | None) -> Iterator[str]:
    """Yield a line for each name that went missing.

    Parameters
    ----------
    before, after : str
    names : mapping of str to str, or None
        What each name is called in the language of `after`; None where it is the same language.
    """
    shown = parse(after).text
    for name in names_in(before):
        if names is None:
            if not all(
                word.lower() in shown.lower() for word in name.replace("’s", "").replace("'s", "").split()
            ):
                yield f"name lost: {name}"
            continue
        bare = name.replace("’s", "").replace("'s", "")
        target = names.get(bare) or next((t for s, t in names.items() if bare in s or s in bare), "")
        if not target:
            yield f"name without a translation: {bare}"
        elif target not in shown:
            yield f"name lost: {bare} ({target})"


def check_spoken_form(after: str, language: str) -> Iterator[str]:
    """Yield a line for what only writing has: brackets, digits, abbreviations, bookish forms."""
    found = load_rules(language).written_only.search(parse(after).text)
    if found:
        yield f"written only: {found.group()!r}"


def check_ratio(before: str, n_after: int, *, languages: tuple[str, str]) -> Iterator[str]:
    """Yield a line where the new text is much shorter or longer than the old one.

    `n_after` is the new text's length in the unit of its language.
    """
    n_before = len(before.split())
    low, high = LENGTH_RATIO.get((languages[0].split("-")[0], languages[1].split("-")[0]), (0.0, 1e9))
    ratio = n_after / max(n_before, 1)
    if n_before >= 4 and not low <= ratio <= high:
        yield f"length: {n_after} {load_rules(languages[1]).unit} for {n_before} words"
