"""How long a text takes to say, roughly: for plans, which know no audio."""

from __future__ import annotations

from .markup import shown

LETTERS_PER_S = {"en": 17.5, "ja": 6.0}
"""Characters a second, measured on 20 questions and answers a language with the default voices at normal speed."""

_OTHER_LETTERS_PER_S = 14.0


def estimated_s(text: str, language: str) -> float:
    """Return about how many seconds a marked text takes to say (within 20 %).

    Examples
    --------
    >>> round(estimated_s("And how strong is gravity up there?", "en"), 1)
    2.0
    """
    return len(shown(text)) / LETTERS_PER_S.get(language.partition("-")[0], _OTHER_LETTERS_PER_S)
