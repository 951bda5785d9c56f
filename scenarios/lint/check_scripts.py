"""Scripts to a report: every rule over every script, duplicates and quotas over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import filterfalse

from ..conversation import Script
from .context_rules import check_context
from .dependence_rules import check_dependence
from .duplicates import Twins, twins, units
from .event_rules import check_aside, check_background, check_token
from .finding import LintReport, QuotaResult, ScriptFinding
from .form_rules import check_form
from .forms import DOMAINS
from .language_rules import has_rules
from .mark_rules import check_pauses, check_places
from .parallel import check_parallel
from .problem import Problem
from .quotas import results
from .reading import Pronounce, ReadScript, read
from .text_rules import check_characters, check_content, check_language, check_length, check_spoken

MAX_NEAR_SHARE = 0.01
"""Share of a scenario's scripts that may be near duplicates of another."""

RULES: tuple[Callable[[ReadScript], Iterator[Problem]], ...] = (
    check_language,
    check_characters,
    check_spoken,
    check_length,
    check_content,
    check_context,
    check_token,
    check_aside,
    check_background,
    check_pauses,
    check_places,
    check_dependence,
)
"""What is asked of each script by itself; the one list to extend."""


def check_script(
    script: Script, pronounce: Pronounce, domains: Collection[str] = DOMAINS
) -> tuple[ScriptFinding, ...]:
    """Return what one script by itself is found wanting in; of a language without rules, in its form alone."""
    problems = list(check_form(script, domains))
    if _is_sound(problems) and has_rules(script.language):
        problems += _by_rules(read(script, pronounce))
    return tuple(_finding(script, problem) for problem in problems)


def lint_scripts(
    scripts: Sequence[Script], pronounce: Pronounce, domains: Collection[str] = DOMAINS
) -> LintReport:
    """Return all that is found in a set of scripts, of one or several scenarios and languages.

    A script without the turns of its scenario is reported, and left out of everything else. In a language
    without rules the form is checked, and whether a text comes twice.

    Parameters
    ----------
    scripts : sequence of Script
    pronounce : Pronounce
        How a text is spoken; see `reading.Pronounce`.
    domains : collection of str
        The topics that `domain` may name.
    """
    findings: list[ScriptFinding] = []
    sound: list[Script] = []
    reads: dict[tuple[str, str], list[ReadScript]] = defaultdict(list)
    for script in scripts:
        problems = list(check_form(script, domains))
        if _is_sound(problems):
            sound.append(script)
            if has_rules(script.language):
                one = read(script, pronounce)
                problems += _by_rules(one)
                reads[script.language, script.scenario].append(one)
        findings += [_finding(script, problem) for problem in problems]
    quotas = [quota for group in reads.values() for quota in results(group)]
    duplicates, near = _duplicates(sound)
    quotas += near
    findings += [*duplicates, *check_parallel(sound), *map(_quota_finding, filterfalse(_holds, quotas))]
    languages = dict.fromkeys(script.language for script in scripts)
    return LintReport(
        n_scripts=len(scripts),
        findings=tuple(findings),
        quotas=tuple(quotas),
        form_only=tuple(filterfalse(has_rules, languages)),
    )


def _is_sound(problems: Iterable[Problem]) -> bool:
    return all(problem.severity == "warning" for problem in problems)


def _by_rules(one: ReadScript) -> list[Problem]:
    return [problem for rule in RULES for problem in rule(one)]


def _holds(quota: QuotaResult) -> bool:
    return quota.holds


def _quota_finding(quota: QuotaResult) -> ScriptFinding:
    return ScriptFinding(
        rule="quota",
        severity="error",
        language=quota.language,
        scenario=quota.scenario,
        script_id="",
        message=f"{quota.name}: {quota.shown}, wanted {quota.wanted}",
    )


def _groups(scripts: Iterable[Script]) -> list[list[Script]]:
    groups: dict[tuple[str, str], list[Script]] = defaultdict(list)
    for script in scripts:
        groups[script.language, script.scenario].append(script)
    return list(groups.values())


def _duplicates(scripts: Sequence[Script]) -> tuple[list[ScriptFinding], list[QuotaResult]]:
    """Return a finding for each pair of twins, and the near-duplicate share of each scenario."""
    findings: list[ScriptFinding] = []
    near: dict[tuple[str, str], set[str]] = defaultdict(set)
    for language in dict.fromkeys(script.language for script in scripts):
        mine = [unit for script in scripts if script.language == language for unit in units(script)]
        for pair in twins(mine):
            same = pair.first.script.scenario == pair.second.script.scenario
            if same:
                near[language, pair.second.script.scenario].add(pair.second.script.id)
            findings.append(_twin_finding(pair, is_error=pair.is_exact or not same))
    quotas = [
        QuotaResult(
            language=group[0].language,
            scenario=group[0].scenario,
            name="near duplicates",
            value=len(near[group[0].language, group[0].scenario]) / len(group),
            low=None,
            high=MAX_NEAR_SHARE,
            is_share=True,
        )
        for group in _groups(scripts)
        if has_rules(group[0].language)
    ]
    return findings, quotas


def _twin_finding(pair: Twins, *, is_error: bool) -> ScriptFinding:
    first, second = pair.first.script, pair.second.script
    where = first.id if first.scenario == second.scenario else f"{first.scenario} {first.id}"
    how = "the same as" if pair.is_exact else f"near ({pair.likeness:.2f}) to"
    return ScriptFinding(
        rule="duplicate",
        severity="error" if is_error else "warning",
        language=second.language,
        scenario=second.scenario,
        script_id=second.id,
        message=f"its {pair.second.part} is {how} the {pair.first.part} of {where}: {pair.second.text!r}",
    )


def _finding(script: Script, problem: Problem) -> ScriptFinding:
    return ScriptFinding(
        rule=problem.rule,
        severity=problem.severity,
        language=script.language,
        scenario=script.scenario,
        script_id=script.id,
        message=problem.message,
    )
