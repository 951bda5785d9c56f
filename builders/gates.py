"""The gates of [checks]: which measured values reject an utterance or a sample, and at what limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from .. import RecipeError
from ..scenarios.fields import unknown
from ..scenarios.recipe import Checks
from .check import Finding
from .quality import VALUES, measures_named
from .quality.measure_folder import MeasuredSample
from .quality.sample_values import SampleQuality

Scope = Literal["utterance", "sample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One limit: the name of a value, the lowest or highest that passes, and what it is looked at on.

    A value that was not measured (None) passes. `languages` is empty where the gate holds for all. An utterance that
    passes but does not reach `try_for` is spoken again, and the best of the attempts stays.
    """

    value: str
    at_least: float | None = None
    at_most: float | None = None
    scope: Scope = "utterance"
    languages: tuple[str, ...] = ()
    try_for: float | None = None

    def passes(self, measured: float | None) -> bool:
        """Return whether a value is within the limit."""
        if measured is None:
            return True
        return (self.at_least is None or measured >= self.at_least) and (
            self.at_most is None or measured <= self.at_most
        )

    def shortfall(self, measured: float | None) -> float:
        """Return how far a value stays behind what is tried for; 0 where it does not, or was not measured."""
        if measured is None or self.try_for is None:
            return 0.0
        sign = 1.0 if VALUES[self.value][1].better == "low" else -1.0
        return max(0.0, sign * (measured - self.try_for))

    @property
    def wanted(self) -> str:
        """Return the limit as text."""
        unit = VALUES[self.value][1].unit
        parts = [
            f"{word} {limit:g}"
            for word, limit in (("at least", self.at_least), ("at most", self.at_most))
            if limit is not None
        ]
        return f"{' and '.join(parts)} ({unit})"

    @property
    def described(self) -> str:
        """Return the limit, and what is tried for, as text."""
        limited = self.at_least is not None or self.at_most is not None
        unit = VALUES[self.value][1].unit
        tried = (
            []
            if self.try_for is None
            else [f"tried for {self.try_for:g}" + ("" if limited else f" ({unit})")]
        )
        return ", ".join([*([self.wanted] if limited else []), *tried])

    def holds_for(self, language: str) -> bool:
        """Return whether the gate looks at this language."""
        return not self.languages or language.split("-")[0].lower() in self.languages


DEFAULT_GATES: tuple[Gate, ...] = (
    Gate(value="speech_s", at_least=0.05),
    Gate(value="active_level_dbov", at_least=-32.0, at_most=-20.0),
    Gate(value="trailing_silence_s", at_most=1.5),
    Gate(value="longest_silence_s", at_most=3.0),
    Gate(value="clipped_share", at_most=0.001),
    Gate(value="end_level_db", at_most=-25.0),
    Gate(value="speaking_rate_hz", at_least=5.0, at_most=32.0, languages=("en",)),
    Gate(value="speaking_rate_hz", at_least=2.0, at_most=25.0, languages=("ja",)),
    Gate(value="dnsmos_ovrl", at_least=2.0),
    Gate(value="wer", at_most=0.35),
    Gate(value="cer", at_most=0.35),
    Gate(value="dropped_words", at_most=0),
    Gate(value="repeated_words", at_most=0),
    Gate(value="spoken_tags", at_most=0),
    Gate(value="own_language", at_least=0.5),
    Gate(value="english_log_probability", at_least=-0.6, languages=("en",)),
    Gate(value="english_log_probability", at_most=-0.35, languages=("ja",)),
    Gate(value="same_voice", at_least=0.8, scope="sample"),
    Gate(value="other_voice", at_most=0.85, scope="sample"),
)
"""Limits that real speech of the embedded voices keeps with room to spare (docs/quality.md has the figures)."""


def gates_of(checks: Checks, languages: Sequence[str], where: str) -> tuple[Gate, ...]:
    """Return the gates of a recipe: the defaults of its measures, changed as [checks.gates] says.

    Parameters
    ----------
    languages
        The recipe's; gates of others are left out.
    where
        The recipe's file, for messages.

    Raises
    ------
    RecipeError
        For a value that is not known, or that none of the recipe's measures gives.
    """
    measures = measures_named(checks.measures, f"{where}: checks.measures")
    given = {value.name for measure in measures for value in measure.values}
    changed: dict[str, tuple[Gate, ...]] = {}
    for name, limits in checks.gates.items():
        key = f"{where}: checks.gates.{name}"
        if name not in VALUES:
            raise RecipeError(f"{key}: {unknown('value', name, tuple(VALUES))}")
        if name not in given:
            raise RecipeError(f"{key}: nothing measures it; add {VALUES[name][0].name!r} to checks.measures")
        changed[name] = () if limits.get("off") else _changed(name, limits, key)
    gates = [gate for gate in DEFAULT_GATES if gate.value in given and gate.value not in changed]
    gates += [gate for of_value in changed.values() for gate in of_value]
    spoken = {language.split("-")[0].lower() for language in languages}
    return tuple(gate for gate in gates if not gate.languages or spoken & set(gate.languages))


def _changed(name: str, limits: Mapping[str, Any], key: str) -> tuple[Gate, ...]:
    """Return the gates of a value as a recipe wants them; where it gives no limit, the default ones stay."""
    by_utterance = VALUES[name][0].scope == "utterance"
    scope = limits.get("scope", "utterance" if by_utterance else "sample")
    if scope == "utterance" and not by_utterance:
        raise RecipeError(f"{key}: it is a value of whole samples; wanted scope = 'sample'")
    try_for = limits.get("try_for")
    if {"at_least", "at_most"} & set(limits):
        found = [
            Gate(value=name, at_least=limits.get("at_least"), at_most=limits.get("at_most"), scope=scope)
        ]
    else:
        found = [replace(gate, scope=scope) for gate in DEFAULT_GATES if gate.value == name]
        found = found or [Gate(value=name, scope=scope)]
    if try_for is None:
        return tuple(found)
    better = VALUES[name][1].better
    if scope != "utterance" or not better:
        raise RecipeError(
            f"{key}.try_for: only values of utterances that are better high or better low can be tried for; "
            f"{name} is {'a value of whole samples' if scope != 'utterance' else 'neither'}"
        )
    for gate in found:
        if not gate.passes(try_for):
            raise RecipeError(f"{key}.try_for = {try_for:g}: it fails the gate itself, wanted {gate.wanted}")
    return tuple(replace(gate, try_for=try_for) for gate in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gates say of a sample. `turns` are those that failed by themselves, None where the whole did."""

    findings: tuple[Finding, ...]
    turns: frozenset[int] | None


def judge(
    quality: SampleQuality | MeasuredSample,
    language: str,
    gates: Sequence[Gate],
    sample_id: str,
) -> Verdict:
    """Return which gates a sample of this language fails, utterance by utterance and as a whole."""
    findings: list[Finding] = []
    turns: set[int] = set()
    whole = False
    for gate in gates:
        measure = VALUES[gate.value][0]
        if not gate.holds_for(language):
            continue
        if gate.scope == "sample":
            value = quality.values.get(gate.value)
            if value is not None and not gate.passes(value):
                whole = True
                findings.append(_finding(gate, value, sample_id, "sample", _note(quality, -1, measure.name)))
            continue
        for i, values in enumerate(quality.by_turn):
            value = values.get(gate.value)
            if value is None or gate.passes(value):
                continue
            turns.add(i)
            findings.append(_finding(gate, value, sample_id, f"turn {i}", _note(quality, i, measure.name)))
    return Verdict(findings=tuple(findings), turns=None if whole or not findings else frozenset(turns))


def shortfalls(quality: SampleQuality, language: str, gates: Sequence[Gate]) -> tuple[tuple[float, ...], ...]:
    """Return how far each utterance stays behind what is tried for, gate by gate."""
    trying = [gate for gate in gates if gate.try_for is not None and gate.holds_for(language)]
    return tuple(tuple(gate.shortfall(turn.get(gate.value)) for gate in trying) for turn in quality.by_turn)


def _note(quality: SampleQuality | MeasuredSample, turn: int, measure: str) -> str | None:
    if isinstance(quality, SampleQuality):
        return quality.notes.get((turn, measure))
    return quality.notes.get(f"{'sample' if turn < 0 else f'turn {turn}'}, {measure}")


def _finding(gate: Gate, value: float, sample_id: str, where: str, note: str | None) -> Finding:
    said = f"{value:.4g}" + (f" ({note})" if note else "")
    return Finding(name=gate.value, sample_id=sample_id, where=where, measured=said, wanted=gate.wanted)


def missing_gated(gates: Sequence[Gate], reasons: Mapping[str, str]) -> list[str]:
    """Return why gates cannot judge: the reasons of their measures that cannot run."""
    return [reason for name, reason in reasons.items() if any(VALUES[g.value][0].name == name for g in gates)]


def reasons_table(rejects: Iterable[Mapping[str, Any]], lie_in: str) -> str:
    """Return the reasons for which samples were rejected, the most frequent first, each with a whole example.

    Parameters
    ----------
    rejects
        The entries of ``rejects.jsonl``; the last attempt of each counts, each reason once a sample.
    lie_in
        Where the reasons of all samples can be read.
    """
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for reject in rejects:
        last = reject["attempts"][-1]
        named = {f["name"]: _line(f) for f in last.get("findings", ())} or {"speech": last["reasons"][0]}
        for name, line in named.items():
            counts[name] += 1
            examples.setdefault(name, f"for example {reject['id']}: {' '.join(line.split())}")
    width = max(map(len, ("reason", *counts)))
    lines = [f"  {'reason':<{width}}  samples"]
    for name, n in counts.most_common():
        lines += [f"  {name:<{width}}  {n:>7}", f"    {examples[name]}"]
    return "\n".join([*lines, f"  all reasons of all of them: {lie_in}"])


def _line(finding: Mapping[str, str]) -> str:
    return f"{finding['where']}: {finding['measured']}, wanted {finding['wanted']}"


def findings_of(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Return findings as ``rejects.jsonl`` keeps them."""
    return [asdict(finding) for finding in findings]
