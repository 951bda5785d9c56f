"""The shipped bank: sizes, authorship, quotas, speech, and recipes at full published counts."""

from collections import Counter

import pytest

from duplexkit.builders.jobs import jobs_of
from duplexkit.builders.writers.pronounce import pronounce
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.lint import LintReport, lint_scripts
from duplexkit.scenarios.recipe import load_recipe

SIZES = {
    "pause_handling": 137,
    "smooth_turn_taking": 119,
    "backchannel": 55,
    "user_interruption": 200,
    "user_backchannel": 99,
    "talking_to_others": 100,
    "background_speech": 100,
    "mt_qa": 60,
}
"""Scripts per language: the published counts of Full-Duplex-Bench, and ours for dialogues."""

LANGUAGES = ("en", "ja")


def bank():
    return [s for language in LANGUAGES for scenario in SCENARIOS for s in load_scripts(scenario, language)]


@pytest.fixture(scope="module")
def report() -> LintReport:
    return lint_scripts(bank(), pronounce)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scenario", sorted(SIZES))
def test_there_are_as_many_scripts_as_promised(scenario: str, language: str):
    scripts = load_scripts(scenario, language)
    if scenario == "user_backchannel":  # beside the set of single words there is an extended one
        scripts = [script for script in scripts if "fdb" in script.tags]
    assert len(scripts) == SIZES[scenario]
    prefix = SCENARIOS[scenario].prefix
    assert [s.id for s in load_scripts(scenario, language)] == [
        f"{prefix}-{k:03d}" for k in range(1, len(load_scripts(scenario, language)) + 1)
    ]


def test_authorship_is_declared_as_it_is():
    assert {(script.source, script.licence) for script in bank()} == {
        ("duplexkit script bank 1 (model-written)", "CC-BY-4.0")
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_dialogues_have_eight_to_fourteen_pairs_and_most_questions_need_the_history(language: str):
    scripts = load_scripts("mt_qa", language)
    assert all(16 <= len(script.turns) <= 28 for script in scripts)
    later = [turn for script in scripts for turn in script.turns[2::2]]
    assert sum(bool(turn.depends_on) for turn in later) >= len(later) / 2
    assert sum(any(t.intent == "topic_switch" for t in s.turns) for s in scripts) >= len(scripts) / 3
    assert all(turn.reference_answer for script in scripts for turn in script.turns[1::2])


def test_newsmarks_stand_in_their_own_subset_only():
    for language in LANGUAGES:
        for script in load_scripts("user_backchannel", language):
            marked = script.turns[1].function == "newsmark"
            assert marked == ("newsmark" in script.tags) and not (marked and "fdb" in script.tags)


@pytest.mark.parametrize("recipe", ["fdb-v1", "fdb-v1.5"])
def test_recipes_ask_for_each_script_once_at_published_counts(recipe: str):
    jobs = jobs_of(load_recipe(recipe))
    counts = Counter(job.config for job in jobs)
    for name, count in counts.items():
        scenario = name.rsplit("-", 1)[0]
        assert count == SIZES[scenario]
    assert {name.rsplit("-", 1)[1] for name in counts} == set(LANGUAGES)
    assert all(job.take == 0 for job in jobs)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scenario", sorted(SIZES))
def test_the_first_lines_of_each_file_are_sound(scenario: str, language: str):
    n = 2 if scenario == "mt_qa" else 8
    found = lint_scripts(load_scripts(scenario, language)[:n], pronounce).findings
    assert not found, found


@pytest.mark.slow
def test_the_whole_bank_is_sound(report: LintReport):
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.slow
def test_every_line_is_spoken_without_an_unknown_phoneme_or_an_empty_reading(report: LintReport):
    assert not [finding for finding in report.findings if finding.rule == "speakable"]
    assert report.n_scripts == sum(
        len(load_scripts(s, language)) for s in SCENARIOS for language in LANGUAGES
    )


@pytest.mark.slow
def test_every_quota_holds(report: LintReport):
    assert all(quota.holds for quota in report.quotas)
    near = [quota for quota in report.quotas if quota.name == "near duplicates"]
    assert len(near) == 16 and max(quota.value for quota in near) < 0.01
    tokens = {q.language: q.value for q in report.quotas if q.name == "distinct tokens"}
    assert min(tokens.values()) >= 40
