"""Whether a question needs what was said before it, by its own words."""

from __future__ import annotations

from collections.abc import Iterator

from ..conversation import Role
from .language_rules import LanguageRules
from .problem import Problem
from .reading import ReadScript


def refers_back(text: str, rules: LanguageRules) -> str:
    """Return the first word of a question that stands for something said earlier, or nothing.

    Notes
    -----
    A pronoun, demonstrative, comparison or ellipsis without its antecedent in the question; the patterns
    are in the language's rules. Expletives ("how long does it take") are taken out first; a pronoun after
    a new thing ("a tree"), a name or the subject stands for that. A rule by form: it knows no world, so it
    may be wrong either way on free text.

    Examples
    --------
    >>> from .language_rules import load_rules
    >>> refers_back("And when was it built?", load_rules("en"))
    'it'
    >>> refers_back("When was the Eiffel Tower built?", load_rules("en"))
    ''
    """
    plain = rules.not_referring.sub(" ", text).strip()
    for kind, pattern in rules.referring:
        antecedent = rules.antecedents.get(kind)
        for found in pattern.finditer(plain):
            if antecedent is None or not antecedent.search(plain[: found.start()]):
                return found.group().strip()
    return ""


def check_dependence(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem for each question whose tag and words disagree, or that depends on what comes later."""
    script = read.script
    if script.scenario != "mt_qa":
        return
    for index, turn in enumerate(script.turns):
        if turn.role is not Role.USER:
            continue
        text = read.shown[index]
        where = f"turn {index}: {text!r}"
        if bool(turn.depends_on) != bool(turn.dependence):
            yield Problem(rule="dependence", message=f"{where}: depends_on and dependence go together")
        if any(not 0 <= earlier < index for earlier in turn.depends_on):
            yield Problem(
                rule="dependence", message=f"{where}: depends_on {list(turn.depends_on)} is not all earlier"
            )
        word = refers_back(text, read.rules)
        if turn.depends_on and not word:
            yield Problem(
                rule="dependence",
                message=f"{where} can be answered alone, and is tagged {turn.dependence}: let it show a pronoun, "
                "an ellipsis or a comparison, or take the tag away",
            )
        if not turn.depends_on and word:
            yield Problem(
                rule="dependence",
                message=f"{where} refers back by {word!r}, and is not tagged: name the thing, or tag it",
            )
        if (index == 0) != (turn.intent == "opening"):
            yield Problem(
                rule="dependence", message=f"{where}: the first question, and no other, is the opening"
            )
