"""Dialogues planned and placed without audio: a made bank, and a speaker whose durations are known."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duplexkit.builders.place import place
from duplexkit.builders.seeds import rng_for
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.conversation import (
    Annotation,
    Cast,
    Plan,
    PlannedTurn,
    Role,
    Script,
    ScriptTurn,
    Shape,
    Timeline,
    Word,
)
from duplexkit.scenarios.markup import parse
from duplexkit.scenarios.scenario import Entry, PlanContext

RATE_HZ = 24_000
SCENARIO = SCENARIOS["mt_qa"]
N_SCRIPTS = 60


def entry(count: int = 100, **values: Any) -> Entry:
    preset = SCENARIO.presets["m3"]
    read = {
        name: SCENARIO.fields[name].read(value, name) for name, value in {**preset.values, **values}.items()
    }
    return Entry(
        scenario="mt_qa",
        preset="m3",
        fdb_relation="own",
        count=count,
        languages=("en", "ja"),
        splits={"test": 1.0},
        tags=(),
        values=read,
    )


def bank(language: str, n_scripts: int = N_SCRIPTS) -> tuple[Script, ...]:
    """Scripts of 10 to 14 pairs; the same number of pairs in each language."""
    return tuple(_script(i, 10 + i % 5, language) for i in range(n_scripts))


def _script(number: int, n_pairs: int, language: str) -> Script:
    en = language == "en"
    say = (
        "so tell me, what comes [pause:clause] after number"
        if en
        else "では、つぎの[pause:clause]番号は何ですか"
    )
    turns: list[ScriptTurn] = []
    for k in range(n_pairs):
        turns.append(ScriptTurn(role=Role.USER, text=f"{say} {number} {k}", intent="follow_up"))
        turns.append(
            ScriptTurn(
                role=Role.SYSTEM,
                text=f"after number {number}, as everybody knows, comes the one that follows it, {k}."
                if en
                else f"番号{number}のつぎは、みなさんご存じのとおり、そのつぎの番号、{k}です。",
                reference_answer=str(k),
            )
        )
    return Script(
        id=f"qa-{number:03d}",
        scenario="mt_qa",
        language=language,
        turns=tuple(turns),
        domain="science",
        register="neutral",
        source="test",
        licence="CC0-1.0",
    )


def context(
    recipe_entry: Entry,
    language: str,
    scripts: tuple[Script, ...],
    i: int,
    seed: int,
    *,
    rng: np.random.Generator | None = None,
) -> PlanContext:
    take, position = divmod(i, len(scripts))
    sample_id = f"mt_qa/{language}/{scripts[position].id}/{take}"
    return PlanContext(
        sample_id=sample_id,
        position=position,
        take=take,
        split="test",
        entry=recipe_entry,
        cast=Cast(voices={Role.USER: "a", Role.SYSTEM: "b"}),
        speed=(1.0, 1.0),
        rng=rng or rng_for(seed, sample_id, "plan"),
        shared_rng=partial(rng_for, seed, f"mt_qa/{language}"),
        scripts=scripts,
        parallel_rng=partial(rng_for, seed, "mt_qa"),
    )


def plans(
    language: str, count: int = 100, seed: int = 3, scripts: tuple[Script, ...] | None = None, **values: Any
) -> list[Plan]:
    recipe_entry, scripts = entry(count, **values), scripts or bank(language)
    out = []
    for i in range(count):
        made = context(recipe_entry, language, scripts, i, seed)
        out.append(SCENARIO.plan(scripts[made.position], made))
    return out


def shape(turn: PlannedTurn) -> Shape:
    """The known speaker: 15 ms before and after, words as long as their letters; marks make no pauses."""
    text = parse(turn.text).text
    words: list[Word] = []
    at = int(0.015 * RATE_HZ)
    latin = text.isascii()
    pieces = text.split() if latin else [text[i : i + 3] for i in range(0, len(text), 3)]
    for piece in pieces:
        n = int((0.06 if latin else 0.16) * RATE_HZ) * max(len(piece), 2)
        words.append(Word(text=piece, start=at, stop=at + n))
        at += n
    return Shape(
        n_samples=at + int(0.015 * RATE_HZ), onset=words[0].start, offset=at, words=tuple(words), pauses=()
    )


@dataclass(frozen=True)
class Placed:
    plan: Plan
    timeline: Timeline
    annotation: Annotation


def placed(plan: Plan) -> Placed:
    timeline = place(plan, tuple(shape(turn) for turn in plan.turns), sample_rate_hz=RATE_HZ)
    return Placed(plan=plan, timeline=timeline, annotation=SCENARIO.annotate(plan, timeline))


def gaps(done: Placed, direction: str) -> NDArray[np.float64]:
    """Measured gaps of a dialogue's shifts in one direction, in order."""
    taker = Role.SYSTEM if direction == "user_to_system" else Role.USER
    return np.array(
        [
            event.fto_s
            for event in done.annotation.events
            if event.kind == "shift" and event.role is taker and event.fto_s is not None
        ]
    )
