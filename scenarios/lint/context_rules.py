"""Whether a context asks for an answer that is still being given when the event comes."""

from __future__ import annotations

from collections.abc import Iterator

from .problem import Problem
from .reading import ReadScript

MIN_ANSWER_S = 15.0
"""A context must draw an answer at least this long, so that the model is speaking at the event."""


def check_context(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem where a context does not ask, by its form, for a long answer.

    Notes
    -----
    Explain, list, tell, plan, how, why: the patterns are in the language's rules. Form promises no length;
    with a model endpoint, sampled answers are measured too.
    """
    for index, text in enumerate(read.shown):
        if read.part(index) == "context" and not read.rules.long_request.search(text):
            yield Problem(
                rule="context",
                message=f"turn {index}: {text!r} does not ask for an answer of {MIN_ANSWER_S:g} s; "
                "let it ask to explain, list, tell, compare or plan something",
            )
