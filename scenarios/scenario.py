"""What a scenario is: its fields and presets, how it is planned and what it says of a placed sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .bank import SHIPPED
from .conversation import Annotation, Cast, Plan, Script, Timeline
from .fields import Field, Range
from .script_form import ScriptForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Named values of a scenario's fields.

    `tags` limits the bank to scripts that carry all of them. `note` says where the numbers come from.
    """

    values: Mapping[str, Any]
    fdb_relation: str
    note: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One scenario of a recipe, with every field decided (the preset's value or the recipe's)."""

    scenario: str
    preset: str
    fdb_relation: str
    count: int
    languages: tuple[str, ...]
    splits: Mapping[str, float]
    tags: tuple[str, ...]
    values: Mapping[str, Any]

    def range(self, name: str) -> Range:
        """Return a range field."""
        low, high = self.values[name]
        return float(low), float(high)

    def int_range(self, name: str) -> tuple[int, int]:
        """Return a range field of whole numbers."""
        low, high = self.values[name]
        return int(low), int(high)

    def number(self, name: str) -> float:
        """Return a number field."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """Return a name field."""
        return str(self.values[name])

    def flag(self, name: str) -> bool:
        """Return a flag field."""
        return bool(self.values[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """What a plan may depend on besides its script.

    `position` is the script's place in the bank; with `take` it says which draw this is. `rng` belongs to
    this sample alone; ``shared_rng(name)`` gives a generator that all samples of the entry and language
    start anew from the same state (for balanced or stratified draws). `scripts` are those the entry draws
    from in this language, so that ``scripts[position]`` is this sample's (empty: the sample stands alone);
    ``parallel_rng(name)`` is as `shared_rng`, but the same in all languages. `bank` is the folder of the
    recipe's scripts, for what a scenario borrows from another.
    """

    sample_id: str
    position: int
    take: int
    split: str
    entry: Entry
    cast: Cast
    speed: Range
    rng: np.random.Generator
    shared_rng: Callable[[str], np.random.Generator]
    scripts: tuple[Script, ...] = ()
    parallel_rng: Callable[[str], np.random.Generator] | None = None
    bank: Path = SHIPPED


def _one(entry: Entry) -> int:
    return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario: data, and two functions without sound.

    `script` is what its scripts look like, which loading asks; `plan` decides everything that needs no audio;
    `annotate` turns the placed times into events.
    """

    name: str
    prefix: str
    meaning: str
    script: ScriptForm
    fields: Mapping[str, Field]
    presets: Mapping[str, Preset]
    plan: Callable[[Script, PlanContext], Plan]
    annotate: Callable[[Plan, Timeline], Annotation]
    roles: tuple[str, ...] = ("user",)
    """The roles that need a voice."""
    parallel: bool = False
    """Whether scripts of one id say the same in all languages."""
    n_alike: Callable[[Entry], int] = _one
    """How many takes in a row share their voices, because they differ in one planned thing only."""


def draw(rng: np.random.Generator, pair: Range) -> float:
    """Return a number drawn evenly from a pair [low, high]."""
    return float(rng.uniform(*pair))


def draw_speed(context: PlanContext) -> float:
    """Return a speaking rate drawn from the recipe's range, in steps of 0.01 (so that caches share clips)."""
    return round(draw(context.rng, context.speed), 2)
