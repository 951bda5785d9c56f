"""What the linter says of a set: duplicates, quotas, parallel dialogues."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.writers.pronounce import pronounce
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.conversation import Script
from duplexkit.scenarios.lint import LintReport, lint_scripts
from duplexkit.scenarios.lint.duplicates import NEAR, Unit, twins
from duplexkit.scenarios.lint.finding import QuotaResult
from duplexkit.scenarios.lint.language_rules import load_rules
from duplexkit.scenarios.lint.tokens import jaccard, normalised, tokens


def lint(*scripts: Script) -> LintReport:
    return lint_scripts(scripts, pronounce)


def messages(report: LintReport, rule: str) -> list[str]:
    return [f"{f.severity} {f.script_id}: {f.message}" for f in report.findings if f.rule == rule]


def quota(report: LintReport, name: str) -> QuotaResult:
    return next(q for q in report.quotas if q.name == name)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Okay, stop.", "okay stop!", True),
        ("Don’t stop", "don't stop", True),
        ("I want [pause:clause] tea", "I want tea", True),
        ("ＡＢＣ", "abc", True),
        ("ストップ。", "ストップ！", True),
        ("Okay, go.", "okay stop!", False),
    ],
)
def test_normalised_texts(a, b, same):
    assert (normalised(a) == normalised(b)) == same


def test_tokens_are_words_or_pairs_of_characters():
    assert tokens("Tea, tea and milk.", load_rules("en")) == {"tea", "and", "milk"}
    assert tokens("お茶です。", load_rules("ja")) == {"お茶", "茶で", "です"}
    assert tokens("え。", load_rules("ja")) == {"え"}


SOME = load_scripts("smooth_turn_taking", "en")[0]


@given(st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), min_size=1, max_size=10), max_size=12))
def test_twins_are_exactly_the_pairs_above_the_threshold(sets):
    made = [
        Unit(script=replace(SOME, id=f"st-{k:03d}"), part="script", text=str(sorted(s)), tokens=s)
        for k, s in enumerate(sets)
    ]
    found = {(t.first.script.id, t.second.script.id) for t in twins(made)}
    wanted = {
        (a.script.id, b.script.id)
        for i, a in enumerate(made)
        for b in made[i + 1 :]
        if jaccard(a.tokens, b.tokens) >= NEAR
    }
    assert found == wanted


def test_the_same_line_twice_is_an_error():
    one, two = load_scripts("smooth_turn_taking", "en")[:2]
    copy = replace(one, id="st-900", turns=(replace(one.turns[0], text=one.turns[0].text.upper()),))
    found = messages(lint(one, two, copy), "duplicate")
    assert len(found) == 1 and found[0].startswith(
        "error st-900: its script is the same as the script of st-001"
    )


def test_a_near_duplicate_counts_against_its_share():
    scripts = load_scripts("smooth_turn_taking", "en")
    text = scripts[0].turns[0].text
    assert "one egg left" in text
    near = replace(scripts[0].turns[0], text=text.replace("banana", "carrot"))
    report = lint(*scripts[:99], replace(scripts[0], id="st-900", turns=(near,)))
    found = messages(report, "duplicate")
    assert len(found) == 1 and found[0].startswith("warning st-900: its script is near (0.9")
    assert quota(report, "near duplicates").value == 0.01 and not messages(report, "quota")
    assert quota(lint(*scripts[:20], report_script(scripts[0], near)), "near duplicates").holds is False


def report_script(script: Script, turn) -> Script:
    return replace(script, id="st-900", turns=(turn,))


def test_a_context_that_comes_back_with_another_interruption_is_found():
    one, two = load_scripts("user_interruption", "en")[:2]
    again = replace(two, turns=(one.turns[0], two.turns[1]))
    found = messages(lint(one, again), "duplicate")
    assert found == [
        f"error ui-002: its context is the same as the context of ui-001: {normalised(one.turns[0].text)!r}"
    ]


def test_a_context_with_another_token_is_another_pair():
    one, two = load_scripts("user_backchannel", "en")[:2]
    assert one.turns[1].text != two.turns[1].text
    assert not messages(lint(one, replace(two, turns=(one.turns[0], two.turns[1]))), "duplicate")
    assert messages(lint(one, replace(two, turns=one.turns)), "duplicate")


def test_short_events_may_come_again():
    one, two = load_scripts("user_interruption", "en")[:2]
    stop = replace(two.turns[1], text="Okay, stop.")
    assert not messages(
        lint(replace(one, turns=(one.turns[0], stop)), replace(two, turns=(two.turns[0], stop))), "duplicate"
    )


def test_a_script_shared_by_two_scenarios_is_an_error():
    one = load_scripts("smooth_turn_taking", "en")[0]
    two = load_scripts("user_interruption", "en")[0]
    shared = replace(two, turns=(one.turns[0], two.turns[1]))
    (found,) = messages(lint(one, shared), "duplicate")
    assert found.startswith(
        "error ui-001: its context is the same as the script of smooth_turn_taking st-001"
    )


def test_quotas_bind_from_twenty_scripts_on():
    stops = [s for s in load_scripts("user_interruption", "en") if s.turns[1].intent == "stop"]
    few, many = lint(*stops[:19]), lint(*stops[:20])
    assert not messages(few, "quota")
    assert "error : topic_change: 0.0 %, wanted at least 10.0 %" in messages(many, "quota")
    assert quota(many, "stop").value == 1.0 and quota(many, "stop").holds


def test_too_many_questions_are_found():
    asking = [s for s in load_scripts("user_interruption", "en") if s.turns[1].text.endswith("?")]
    report = lint(*asking[:25])
    assert quota(report, "questions").value == 1.0 and not quota(report, "questions").holds


def test_one_topic_only_is_found():
    scripts = [replace(s, domain="cooking") for s in load_scripts("smooth_turn_taking", "en")[:30]]
    found = messages(lint(*scripts), "quota")
    assert "error : largest topic: 100.0 %, wanted at most 12.0 %" in found
    assert "error : topics: 1, wanted at least 6" in found  # 20 for 90 scripts, 6 for 30


def test_numbers_of_tokens_are_asked_of_a_whole_bank():
    scripts = [
        replace(s, turns=(s.turns[0], replace(s.turns[1], text="Okay.", function="continuer")), tags=("fdb",))
        for s in load_scripts("user_backchannel", "en")[:99]
    ]
    found = messages(lint(*scripts), "quota")
    assert "error : distinct tokens: 1, wanted at least 40" in found
    assert "error : agreement: 0.0 %, wanted at least 10.0 %" in found


def test_parallel_dialogues_must_agree():
    english, japanese = (load_scripts("mt_qa", language)[0] for language in ("en", "ja"))
    assert not messages(lint(english, japanese), "parallel")
    turns = list(japanese.turns)
    turns[2] = replace(turns[2], depends_on=(1,))
    found = messages(lint(english, replace(japanese, turns=tuple(turns))), "parallel")
    assert found == ["error qa-001: depends_on of turn 2: [1], but [0] in en"]
    shorter = replace(japanese, turns=japanese.turns[:16])
    assert messages(lint(english, shorter), "parallel")[0] == "error qa-001: turns: 16, but 20 in en"
    other = load_scripts("mt_qa", "en")[1]
    assert messages(lint(english, other, japanese), "parallel") == [
        "error qa-002: not there in ja; parallel scripts share their id"
    ]


def test_a_script_of_the_wrong_form_is_left_out_of_the_counts():
    one, two = load_scripts("user_interruption", "en")[:2]
    report = lint(one, replace(two, turns=two.turns[:1]))
    assert report.n_scripts == 2 and report.n_errors == 1


@pytest.mark.parametrize(
    ("low", "high", "value", "holds", "wanted"),
    [
        (0.1, None, 0.1, True, "at least 10.0 %"),
        (None, 0.4, 0.41, False, "at most 40.0 %"),
        (0.08, 0.12, 0.1, True, "8.0 % to 12.0 %"),
        (None, None, 0.3, True, "counted"),
    ],
)
def test_bounds_in_words(low, high, value, holds, wanted):
    result = QuotaResult(
        language="en", scenario="s", name="n", value=value, low=low, high=high, is_share=True
    )
    assert (result.holds, result.wanted) == (holds, wanted)
