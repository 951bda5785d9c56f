"""Whether dialogues that share an id say the same in all languages, as far as their tags tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..conversation import Script
from ..markup import parse
from .finding import ScriptFinding

PARALLEL = ("mt_qa",)
"""Scenarios whose scripts are parallel under one id."""


def check_parallel(scripts: Sequence[Script]) -> Iterator[ScriptFinding]:
    """Yield a finding for each parallel script that differs in turns, intents, dependence or pauses."""
    by_id: dict[tuple[str, str], list[Script]] = defaultdict(list)
    languages: dict[str, set[str]] = defaultdict(set)
    for script in scripts:
        if script.scenario in PARALLEL:
            by_id[script.scenario, script.id].append(script)
            languages[script.scenario].add(script.language)
    for (scenario, _), group in by_id.items():
        first = group[0]
        missing = languages[scenario] - {script.language for script in group}
        if missing:
            yield _finding(
                first, f"not there in {', '.join(sorted(missing))}; parallel scripts share their id"
            )
        for other in group[1:]:
            for what, mine, theirs in _compared(first, other):
                if mine != theirs:
                    yield _finding(other, f"{what}: {theirs}, but {mine} in {first.language}")


def _compared(first: Script, other: Script) -> Iterator[tuple[str, object, object]]:
    yield "domain", first.domain, other.domain
    yield "turns", len(first.turns), len(other.turns)
    for index, (a, b) in enumerate(zip(first.turns, other.turns, strict=False)):
        yield f"role of turn {index}", a.role.value, b.role.value
        yield f"intent of turn {index}", a.intent, b.intent
        yield f"depends_on of turn {index}", list(a.depends_on), list(b.depends_on)
        yield f"dependence of turn {index}", a.dependence, b.dependence
        yield (
            f"pause marks of turn {index}",
            len(parse(a.text).places("pause")),
            len(parse(b.text).places("pause")),
        )


def _finding(script: Script, message: str) -> ScriptFinding:
    return ScriptFinding(
        rule="parallel",
        severity="error",
        language=script.language,
        scenario=script.scenario,
        script_id=script.id,
        message=message,
    )
