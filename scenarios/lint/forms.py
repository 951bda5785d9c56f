"""The form of a script, by scenario: which turns it has, and what their keys may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..conversation import Role
from ..markup import LISTENER_FUNCTIONS

DOMAINS = (
    "cooking",
    "travel",
    "health",
    "fitness",
    "money",
    "work",
    "school",
    "science",
    "history",
    "technology",
    "gardening",
    "pets",
    "music",
    "film",
    "books",
    "sport",
    "home_repair",
    "transport",
    "weather",
    "shopping",
    "language",
    "parenting",
    "environment",
    "hobbies",
    "local_services",
    "art",
)
REGISTERS = ("casual", "neutral", "polite", "formal")
INTERRUPTION_INTENTS = (
    "topic_change",
    "follow_up",
    "correction",
    "clarification",
    "disagreement",
    "stop",
    "self_repair",
)
BACKGROUND_INTENTS = ("news", "announcement", "table_talk", "phone")
QUESTION_INTENTS = ("opening", "follow_up", "topic_switch")
DEPENDENCES = ("anaphora", "ellipsis", "comparison")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnForm:
    """What one turn of a script is: `part` names it, `keys` says which values its other keys may take.

    A key with an empty tuple may hold any text. Keys that are not listed must be left out, those in
    `needed` must be there.
    """

    part: str
    role: Role
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptForm:
    """The turns of a script (`turns` over and over where `n_rounds` allows more than one), and its own keys.

    `mark` is the kind of mark its text may hold.
    """

    turns: tuple[TurnForm, ...]
    n_rounds: tuple[int, int] = (1, 1)
    tags: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    mark: str = ""

    def part(self, index: int) -> TurnForm:
        """Return the form of the turn at `index`."""
        return self.turns[index % len(self.turns)]


_CONTEXT = TurnForm(part="context", role=Role.USER)


def _overlap(event: TurnForm, *, tags: tuple[str, ...] = (), needed: tuple[str, ...] = ()) -> ScriptForm:
    return ScriptForm(turns=(_CONTEXT, event), tags=tags, needed=needed)


FORMS: dict[str, ScriptForm] = {
    "pause_handling": ScriptForm(turns=(TurnForm(part="turn", role=Role.USER),), mark="pause"),
    "smooth_turn_taking": ScriptForm(turns=(TurnForm(part="turn", role=Role.USER),)),
    "backchannel": ScriptForm(turns=(TurnForm(part="monologue", role=Role.USER),), mark="trp"),
    "user_interruption": _overlap(
        TurnForm(part="event", role=Role.USER, keys={"intent": INTERRUPTION_INTENTS}, needed=("intent",))
    ),
    "user_backchannel": _overlap(
        TurnForm(part="token", role=Role.USER, keys={"function": LISTENER_FUNCTIONS}, needed=("function",)),
        tags=("fdb", "newsmark"),
    ),
    "talking_to_others": _overlap(TurnForm(part="event", role=Role.USER), needed=("addressee", "why")),
    "background_speech": _overlap(
        TurnForm(part="event", role=Role.OTHER, keys={"intent": BACKGROUND_INTENTS}, needed=("intent",)),
        tags=("instruction",),
    ),
    "mt_qa": ScriptForm(
        turns=(
            TurnForm(
                part="question",
                role=Role.USER,
                keys={"intent": QUESTION_INTENTS, "dependence": DEPENDENCES, "depends_on": ()},
                needed=("intent",),
            ),
            TurnForm(
                part="answer",
                role=Role.SYSTEM,
                keys={"reference_answer": ()},
                needed=("reference_answer",),
            ),
        ),
        n_rounds=(8, 14),
        mark="pause",
    ),
}
"""Scenario name -> the form of its scripts."""
