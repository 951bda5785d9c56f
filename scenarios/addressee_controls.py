"""Four takes of a script that differ in who is addressed and how it sounds, and in nothing else."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from .. import ScriptError
from . import context_then_event
from .bank import SHIPPED, borrowed_scripts, with_origin_of
from .conversation import Plan, Role, Script
from .fields import ON_AXIS, FlagField
from .scenario import Entry, PlanContext

CELLS = (("addressed", "on_axis"), ("addressed", "off_axis"), ("aside", "on_axis"), ("aside", "off_axis"))
"""Text and sound of the event."""

NEAREST = 5
"""The addressed text is one of so many whose length is nearest to the aside's (our choice)."""

CONTROLS = FlagField(
    name="addressee_controls",
    meaning="four takes in a row of a script are {addressed, aside text} x {on-axis, off-axis sound} with the "
    "same voice, timing, room and level",
)


def n_alike(entry: Entry) -> int:
    """Return how many takes in a row share their voices: the four cells, or one."""
    return len(CELLS) if entry.values.get(CONTROLS.name) else 1


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan of one cell; the takes 0 to 3 of a script (4 to 7, ...) go through all four.

    Which cell comes first shifts from script to script, so that any number of samples is balanced. The
    addressed text is an interruption of the bank that may follow any context, about as long as the aside.
    """
    text, sound = CELLS[(context.position + context.take) % len(CELLS)]
    shared = context.shared_rng(f"controls/{script.id}/{context.take // len(CELLS)}")
    sound_seed = int(shared.integers(2**62))
    addressed = _addressed(
        script, shared, context.bank
    )  # drawn in every cell, so that what follows is the same
    spoken = addressed if text == "addressed" else script
    spoken = replace(spoken, tags=(*spoken.tags, f"text:{text}", f"sound:{sound}"))
    planned = context_then_event.plan(
        spoken,
        replace(context, rng=shared),
        role=Role.USER,
        move="barge_in" if text == "addressed" else "side_talk",
    )
    treatment = ON_AXIS if sound == "on_axis" else planned.treatment
    return replace(planned, treatment=treatment, target_db=planned.target_db or 0.0, sound_seed=sound_seed)


def _addressed(script: Script, rng: np.random.Generator, bank: Path) -> Script:
    """Return the script with an addressed text for its second turn; its tags name where that is from."""
    aside = script.turns[1]
    pool = _pool(script.language, bank)
    ranked = sorted(pool, key=lambda other: (abs(len(other.turns[1].text) - len(aside.text)), other.id))
    chosen = ranked[int(rng.integers(min(NEAREST, len(ranked))))]
    return replace(
        with_origin_of(script, chosen),
        turns=(script.turns[0], chosen.turns[1]),
        addressee="",
        why="",
        tags=(*script.tags, f"text-from:{chosen.id}"),
    )


@lru_cache(maxsize=16)
def _pool(language: str, bank: Path = SHIPPED) -> tuple[Script, ...]:
    listed = tomllib.loads((files(__package__) / "addressed.toml").read_text(encoding="utf-8")).get(language)
    pool = tuple(
        script
        for script in borrowed_scripts("user_interruption", language, bank)
        if (script.turns[1].intent == "topic_change" if listed is None else script.id in listed)
    )
    if not pool:
        raise ScriptError(
            f"no interruption in {language!r} that may follow any context (intent topic_change); "
            "addressee_controls takes its addressed texts from there: add some to user_interruption.jsonl"
        )
    return pool
