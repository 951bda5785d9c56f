"""English pairs of words to the one word that they are also said and written as: "it is" and "it's"."""

from __future__ import annotations

_ASKING = frozenset({"what", "who", "where", "when", "why", "how"})
_SUBJECTS = frozenset({"i", "you", "he", "she", "it", "we", "they", "that", "there", "here"}) | _ASKING
_MODALS = frozenset({"would", "could", "should", "might", "must"})
_NEGATED = (
    frozenset({"do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "need"}) | _MODALS
)
_AFTER = {
    **dict.fromkeys(("am", "are", "is", "has", "will", "would", "had"), _SUBJECTS),
    "have": _SUBJECTS | _MODALS,
    "did": _ASKING,
    "not": _NEGATED,
}
"""Second words, and the first words that they are drawn together with. "The dog is" and "the dogs" stay apart."""
_ENDINGS = {
    **{"am": "m", "are": "re", "is": "s", "has": "s", "will": "ll", "have": "ve", "not": "nt"},
    **dict.fromkeys(("would", "had", "did"), "d"),
}
_OTHERS = {
    **{("can", "not"): "cant", ("will", "not"): "wont", ("let", "us"): "lets", ("let", "me"): "lemme"},
    **{("going", "to"): "gonna", ("got", "to"): "gotta", ("want", "to"): "wanna", ("give", "me"): "gimme"},
    **{("kind", "of"): "kinda", ("sort", "of"): "sorta", ("out", "of"): "outta"},
}
_SPELT = {
    subject + ending: f"{subject}'{ending}"
    for ending, subjects in {
        "re": ("they", "you"),
        "ve": ("i", "they", "you", "we"),
        "ll": ("they", "you", "it", "that", "there"),
        "d": ("they", "you", "he", "it", "that", "there"),
        "s": ("he", "she", "that", "there", "here", *_ASKING),
        "m": ("i",),
    }.items()
    for subject in subjects
}
"""Contractions that are no other word without their apostrophe, as "were" and "ill" are."""


def with_apostrophe(word: str) -> str:
    """Return a contraction as a reader knows it; any other word as it is.

    Examples
    --------
    >>> with_apostrophe("theyre"), with_apostrophe("were")
    ("they're", 'were')
    """
    return _SPELT.get(word, word)


def contracted(first: str, second: str) -> str:
    """Return what two words are drawn together to, without an apostrophe; empty where they are not.

    Examples
    --------
    >>> contracted("how", "did"), contracted("got", "to"), contracted("dog", "is")
    ('howd', 'gotta', '')
    """
    if first in _AFTER.get(second, ()):
        return first + _ENDINGS[second]
    return _OTHERS.get((first, second), "")
