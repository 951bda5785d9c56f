"""How long a model talks when it is asked a context: contexts must draw an answer of at least 15 s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...scenarios.conversation import Script
from ...scenarios.lint.context_rules import MIN_ANSWER_S
from ...scenarios.lint.finding import ScriptFinding
from ...scenarios.lint.forms import FORMS
from ...scenarios.lint.language_rules import load_rules
from ...scenarios.markup import Marked, shown
from .endpoint import Question
from .pronounce import pronounce
from .session import Session

_SYSTEM = (
    "You are a voice assistant. Answer aloud, in the language of the request, in plain spoken sentences."
)
_WORDS_PER_S = 2.6


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledAnswer:
    """An answer to a script's context, and how long it takes to say."""

    script: Script
    answer: str
    length_s: float


def contexts_of(scripts: Sequence[Script]) -> tuple[Script, ...]:
    """Return the scripts that open with a context."""
    return tuple(script for script in scripts if FORMS[script.scenario].turns[0].part == "context")


def sample_answers(
    scripts: Sequence[Script], session: Session, *, n: int, rng: np.random.Generator
) -> tuple[SampledAnswer, ...]:
    """Return a model's answers to the contexts of `n` scripts, drawn without repetition.

    Raises
    ------
    EndpointError
        If the endpoint refuses or fails.
    """
    pool = contexts_of(scripts)
    chosen = [pool[i] for i in sorted(rng.permutation(len(pool))[:n])]
    answers = session.ask_all(
        [Question(system=_SYSTEM, user=shown(script.turns[0].text)) for script in chosen]
    )
    return tuple(
        SampledAnswer(script=script, answer=answer.text, length_s=length_s(answer.text, script.language))
        for script, answer in zip(chosen, answers, strict=True)
    )


def length_s(text: str, language: str) -> float:
    """Return about how long a text takes to say, from its beats, or its words where it cannot be read.

    Notes
    -----
    At the language's beats per second (English: 5 syllables, Japanese: 7 morae; our choice, for natural
    answers), or 2.6 words a second.
    """
    plain = " ".join(text.split())
    spoken = pronounce(Marked(text=plain, readings=(), marks=()), language) if plain else None
    if spoken is not None and not spoken.refusal:
        return spoken.n_beats / load_rules(language).beats_per_s
    if load_rules(language).unit == "words":
        return len(plain.split()) / _WORDS_PER_S
    return 1.5 * len(plain) / load_rules(language).beats_per_s


def short_answers(answers: Sequence[SampledAnswer]) -> tuple[ScriptFinding, ...]:
    """Return a finding for each context whose answer was too short to be interrupted."""
    return tuple(
        ScriptFinding(
            rule="context",
            severity="error",
            language=one.script.language,
            scenario=one.script.scenario,
            script_id=one.script.id,
            message=f"the model's answer takes {one.length_s:.1f} s, wanted {MIN_ANSWER_S:g}: {one.answer[:80]!r}",
        )
        for one in answers
        if one.length_s < MIN_ANSWER_S
    )
