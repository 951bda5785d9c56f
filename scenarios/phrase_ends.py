"""Where in a text its phrases end, as shares of its length: the places of listeners' tokens without audio."""

from __future__ import annotations

import re

from .markup import shown

_END = re.compile(r"[,.;:!?、。，．！？…](?=\s|\w)")


def phrase_ends(text: str) -> tuple[float, ...]:
    """Return the shares of a marked text's characters at which an inner phrase ends (not the text's end).

    Examples
    --------
    >>> phrase_ends("Yes, it is.")
    (0.428571,)
    """
    plain = shown(text)
    letters = [character.isalnum() for character in plain]
    total = sum(letters)
    ends = [sum(letters[: match.start()]) for match in _END.finditer(plain)]
    return tuple(round(n / total, 6) for n in ends if 0 < n < total)


def nearest_end(text: str, share: float, *, low: float, high: float) -> float:
    """Return the phrase end in [low, high] that is nearest to `share`, or `share` where there is none."""
    inside = [end for end in phrase_ends(text) if low <= end <= high]
    return min(inside, key=lambda end: abs(end - share)) if inside else share
