"""A sample to its quality: its utterances measured, and what the recipe's gates say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import RecipeError
from ..acoustics.level import from_pcm16
from ..scenarios.recipe import Recipe
from .gates import Gate, Verdict, gates_of, judge, missing_gated
from .quality import VALUES, measures_named, require
from .quality.measure import Measure, SpokenClip, Tools
from .quality.sample_values import SampleQuality, measure_sample, usable
from .sample import Sample, Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityPlan:
    """What is measured in a build, with what, and which limits hold. `not_measured` says what cannot be, and why."""

    measures: tuple[Measure, ...]
    gates: tuple[Gate, ...]
    tools: Tools
    not_measured: Mapping[str, str]


def quality_plan(recipe: Recipe, cache_dir: Path) -> QualityPlan:
    """Return what [checks] asks for.

    Raises
    ------
    RecipeError
        For an unknown measure or value, a measure whose package is missing (names the extra), a gate on a
        measure whose weights are not to be had, or one that could never judge.
    """
    where = f"{recipe.source}: checks.measures"
    measures = measures_named(recipe.checks.measures, where)
    require(measures, where)
    gates = gates_of(recipe.checks, recipe.languages, recipe.source)
    tools = Tools(cache_dir=cache_dir, recogniser=recipe.checks.recogniser)
    run, reasons = usable(measures, tools)
    blind = missing_gated(gates, reasons)
    if blind:
        raise RecipeError(f"{recipe.source}: checks.gates: {'; '.join(blind)}; or take the gate away")
    for name, limits in recipe.checks.gates.items():
        if not limits.get("off"):
            _refuse_blind(name, recipe, tools)
    return QualityPlan(measures=run, gates=gates, tools=tools, not_measured=reasons)


def _refuse_blind(name: str, recipe: Recipe, tools: Tools) -> None:
    """Refuse a gate that a recipe asks for on a value that none of its samples can have."""
    measure, value = VALUES[name]
    key = f"{recipe.source}: checks.gates.{name}"
    if measure.scope == "pair":
        raise RecipeError(
            f"{key}: a build cannot judge by it, it compares two samples; `check FOLDER --measure {measure.name}` "
            "gives it; take the gate away"
        )
    if not any(value.is_available(language, tools) for language in recipe.languages):
        heard = (
            f"the recogniser {tools.recogniser}"
            if tools.recogniser
            else "the recogniser, which knows English only"
        )
        raise RecipeError(
            f"{key}: nothing could ever fail it: {name} cannot be had of {', '.join(recipe.languages)} with {heard}; "
            f"name another under checks.recogniser (docs/quality.md), or take the gate away"
        )


def judge_sample(sample: Sample, plan: QualityPlan) -> tuple[Verdict, SampleQuality]:
    """Return what the gates say of a sample, and what was measured in it."""
    language = sample.plan.language
    clips = tuple(
        spoken_clip(utterance, language=language, speaker=said.voice, role=said.role.value)
        for said, utterance in zip(sample.plan.turns, sample.utterances, strict=True)
    )
    tracks = tuple(
        SpokenClip(
            samples=from_pcm16(track),
            sample_rate_hz=sample.timeline.sample_rate_hz,
            text="",
            language=language,
            relation=name,
        )
        for name, track in (("input", sample.input), ("system", sample.system))
        if track is not None
    )
    quality = measure_sample(clips, plan.measures, plan.tools, tracks)
    return judge(quality, language, plan.gates, sample.plan.id), quality


def spoken_clip(utterance: Utterance, *, language: str, speaker: str, role: str) -> SpokenClip:
    """Return an utterance as measures see it."""
    return SpokenClip(
        samples=from_pcm16(utterance.pcm),
        sample_rate_hz=utterance.sample_rate_hz,
        text=utterance.reading or utterance.text,
        language=language,
        speaker=speaker,
        relation=role,
    )


def quality_facts(plan: QualityPlan) -> dict[str, Any]:
    """Return what a card has to say of the measures: versions, units, sources, limits, and what was not measured."""
    gated: dict[str, list[str]] = {}
    for gate in plan.gates:
        words = f" for {', '.join(gate.languages)}" if gate.languages else ""
        gated.setdefault(gate.value, []).append(f"{gate.scope}: {gate.described}{words}")
    return {
        "measures": {
            measure.name: {
                "version": measure.version(plan.tools),
                "source": measure.source,
                "scope": measure.scope,
                "values": {
                    value.name: {"unit": value.unit, "meaning": value.meaning, "better": value.better}
                    for value in measure.values
                },
            }
            for measure in plan.measures
        },
        "gates": gated,
        "not_measured": {
            **dict(plan.not_measured),
            **{
                measure.name: "not asked for"
                for measure, _ in VALUES.values()
                if measure not in plan.measures and measure.name not in plan.not_measured
            },
        },
    }
