"""Gates: what they refuse, that only what failed is spoken again, and that nothing else changes a byte."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from duplexkit import RecipeError, ReleaseError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.gates import DEFAULT_GATES, Gate, gates_of, judge, reasons_table
from duplexkit.builders.judged import quality_plan
from duplexkit.builders.quality import VALUES
from duplexkit.builders.quality.sample_values import SampleQuality
from duplexkit.scenarios.recipe import Checks, load_recipe
from tests.builders.test_build import command, rows_of, shards_of
from tests.conftest import tone_recipe_text

Build = Callable[..., BuildResult]


def with_checks(text: str, checks: str) -> str:
    return text.replace("[speech]", f"[checks]\n{checks}\n[speech]")


def quality(*turns: dict[str, float | None], **sample: float | None) -> SampleQuality:
    return SampleQuality(values=sample, by_turn=turns, notes={(1, "wer"): "heard 'x'"}, n_new=0)


def test_a_gate_names_the_turn_that_failed() -> None:
    gates = (Gate(value="wer", at_most=0.2), Gate(value="f0_hz", at_least=80.0))
    good, bad = {"wer": 0.2, "f0_hz": 80.0}, {"wer": 0.25, "f0_hz": None}
    verdict = judge(quality(good, bad), "en", gates, "s/en/1/0")
    assert verdict.turns == {1}
    assert str(verdict.findings[0]) == (
        "s/en/1/0: wer at turn 1: 0.25 (heard 'x'), wanted at most 0.2 (errors per word)"
    )
    assert len(verdict.findings) == 1, "what was not measured passes"
    assert judge(quality(good, good), "en", gates, "x").findings == ()


def test_a_gate_on_samples_fails_the_whole() -> None:
    gates = (Gate(value="same_voice", at_least=0.8, scope="sample"), Gate(value="wer", at_most=0.2))
    verdict = judge(quality({"wer": 0.5}, same_voice=0.4), "en", gates, "x")
    assert verdict.turns is None and {f.name for f in verdict.findings} == {"same_voice", "wer"}


def test_a_gate_of_one_language_leaves_others_alone() -> None:
    gates = (Gate(value="wer", at_most=0.2, languages=("en",)),)
    assert judge(quality({"wer": 0.9}), "ja", gates, "x").findings == ()
    assert judge(quality({"wer": 0.9}), "en-GB", gates, "x").findings != ()


def test_gates_come_from_the_measures_and_the_recipe_changes_them() -> None:
    core = gates_of(Checks(), ["en", "ja"], "r.toml")
    assert {gate.value for gate in core} < {gate.value for gate in DEFAULT_GATES}
    assert "wer" not in {gate.value for gate in core}
    checks = Checks(
        measures=("wer", "pitch", "similarity"),
        gates={
            "wer": {"at_most": 0.1},
            "same_voice": {"off": True},
            "f0_hz": {"at_least": 60, "scope": "sample"},
        },
    )
    found = {gate.value: gate for gate in gates_of(checks, ["en"], "r.toml")}
    assert found["wer"].at_most == 0.1 and found["f0_hz"].scope == "sample" and found["other_voice"].at_most
    assert "same_voice" not in found
    assert all(gate.languages != ("ja",) for gate in gates_of(Checks(), ["en"], "r.toml"))


def test_default_gates_are_of_known_values_and_leave_room() -> None:
    for gate in DEFAULT_GATES:
        assert gate.value in VALUES and (gate.at_least is not None or gate.at_most is not None)
        scope = VALUES[gate.value][0].scope
        assert scope == gate.scope or (scope, gate.scope) == ("utterance", "sample")


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ('measures = "wer"', r"checks.measures = 'wer': wanted a list of measures"),
        ('measures = ["werr"]', r"checks.measures: 'werr': unknown measure; did you mean 'wer'"),
        ("gates = { f0_hz = 3 }", r"checks.gates.f0_hz = 3: wanted \{ at_most = NUMBER \}"),
        ("gates = { f0_hz = { most = 3 } }", r"checks.gates.f0_hz.most: unknown key"),
        ("gates = { f0_hz = { scope = 'sample' } }", r"checks.gates.f0_hz: no limit"),
        (
            "gates.end_level_db = { try_for = -20 }",
            r"try_for = -20: it fails the gate itself, wanted at most",
        ),
        ("gates.end_level_db = { try_for = nan }", r"end_level_db.try_for = nan: wanted one number"),
        ("gates.end_level_db = { try_for = -60, scope = 'sample' }", r"a value of whole samples"),
        ("gates.f0_hz = { try_for = 100 }", r"f0_hz.try_for: only values .* f0_hz is neither"),
        ("gates = { f0_hz = { at_least = 2, off = 'no' } }", r"checks.gates.f0_hz.off: unknown key"),
        ("gates = { f0_hz = { at_least = inf } }", r"checks.gates.f0_hz.at_least = inf: wanted one number"),
        (f"gates = {{ f0_hz = {{ at_least = {'9' * 400} }} }}", r"f0_hz.at_least = 9+: wanted one number"),
        (f"attempts = {'9' * 400}", r"checks.attempts = 9+: wanted"),
        ("gates = { f0_hz = { at_least = 'x' } }", r"checks.gates.f0_hz.at_least = 'x': wanted one number"),
        ("gates = { f0_hz = { at_least = 2, at_most = 1 } }", r"nothing would pass"),
        ("gates = { f0_hertz = { at_least = 2 } }", r"checks.gates.f0_hertz: unknown value; did you mean"),
        ("gates = { wer = { at_most = 0.1 } }", r"checks.gates.wer: nothing measures it; add 'wer' to"),
    ],
)
def test_wrong_checks_are_refused_by_key(tone_build: Build, checks: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        tone_build(with_checks(tone_recipe_text("user_interruption"), checks))


@pytest.mark.parametrize(
    ("measure", "gate", "languages", "wanted"),
    [
        ("wer", "wer", ["es"], r"checks.gates.wer: nothing could ever fail it: wer cannot be had of es"),
        ("wer", "wer", ["ja"], r"checks.gates.wer: .* of ja with the recogniser, which knows English only"),
        ("language", "own_language", ["en", "ja"], r"own_language: nothing could .*checks.recogniser"),
        (
            "comet",
            "comet_kiwi",
            ["en", "ja"],
            r"comet_kiwi: a build cannot judge by it, it compares two samples",
        ),
        ("wer", "wer", ["es", "en"], ""),
        ("cer", "cer", ["en"], ""),
    ],
)
def test_a_gate_that_could_never_judge_is_refused(
    measure: str,
    gate: str,
    languages: list[str],
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("duplexkit.builders.judged.require", lambda measures, where: None)
    monkeypatch.setattr("duplexkit.builders.judged.usable", lambda measures, tools: (measures, {}))
    checks = Checks(measures=(measure,), gates={gate: {"at_most": 0.1}})
    path = tmp_path / "r.toml"
    path.write_text(tone_recipe_text("user_interruption"))
    recipe = replace(load_recipe(str(path)), checks=checks, languages=tuple(languages))
    if not wanted:
        assert any(one.value == gate for one in quality_plan(recipe, tmp_path).gates)
        return
    with pytest.raises(RecipeError, match=wanted):
        quality_plan(recipe, tmp_path)


def test_a_measure_that_is_not_installed_names_the_extra(
    tone_build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duplexkit.builders.quality.measure.find_spec", lambda name: None)
    text = tone_recipe_text("user_interruption")
    with pytest.raises(RecipeError, match=r"checks.measures: dnsmos needs .* 'duplexkit\[quality\]'"):
        tone_build(with_checks(text, 'measures = ["dnsmos"]'))
    folder = tone_build(text).folder
    facts = json.loads((folder / "quality.json").read_text())
    assert facts["not_measured"]["dnsmos"] == "not asked for"
    assert "pitch" in facts["measures"] and facts["measures"]["pitch"]["values"]["f0_hz"]["unit"] == "Hz"


def test_values_stand_in_the_row_and_the_rest_is_null(tone_build: Build) -> None:
    rows = rows_of(tone_build(tone_recipe_text("user_interruption")).folder)
    for row in rows.values():
        assert row["checks"]["active_level_dbov"] == pytest.approx(-26, abs=1.5)
        assert row["checks"]["clipped_share"] == 0.0 and row["checks"]["end_level_db"] < -25
        assert row["checks"]["dnsmos_ovrl"] is None and row["checks"]["wer"] is None


LONGER = (
    "gates = {{ speech_s = {{ at_least = {limit} }} }}\nattempts = {attempts}\nmax_rejected_fraction = 1.0"
)


def test_only_the_turn_that_failed_is_spoken_again(tone_build: Build, tmp_path: Path) -> None:
    """A gate just above one turn's length: at 96 % of the speed it passes, and the other turn stays as it was."""
    text = tone_recipe_text("user_interruption", count=1)
    first = rows_of(tone_build(text, tmp_path / "first", only=("user_interruption-en",)).folder)
    ((id_, before),) = first.items()
    limit = before["checks"]["speech_s"] * 1.02  # the shorter turn: the second one asks less than the context
    lengths = [turn["offset_s"] - turn["onset_s"] for turn in before["turns"]]
    failing = lengths.index(min(lengths))
    gated = with_checks(text, LONGER.format(limit=limit, attempts=3))
    after = rows_of(tone_build(gated, tmp_path / "second", only=("user_interruption-en",)).folder)[id_]
    assert after["provenance"]["attempt"] == 1
    made = list(zip(before["provenance"]["turns"], after["provenance"]["turns"], strict=True))
    for i, (old, new) in enumerate(made):
        if i == failing:
            assert new["speed"] == pytest.approx(old["speed"] * 0.96) and new["stem"] != old["stem"]
        else:
            assert new == old
    assert after["checks"]["speech_s"] >= limit


def test_a_sample_that_never_passes_is_rejected_with_measure_value_limit_and_hashes(
    tone_build: Build,
) -> None:
    text = with_checks(tone_recipe_text("user_interruption"), LONGER.format(limit=60, attempts=2))
    result = tone_build(text, only=("user_interruption-en",))
    lines = (result.folder / "rejects.jsonl").read_text().splitlines()
    assert len(lines) == len(result.rejects) == 2
    for line in lines:
        reject = json.loads(line)
        assert [attempt["attempt"] for attempt in reject["attempts"]] == [0, 1]
        hashes = [stem for attempt in reject["attempts"] for stem in attempt["stems"]]
        assert all(len(stem) == 64 for stem in hashes) and len(set(hashes)) == len(hashes)
        finding = reject["attempts"][-1]["findings"][0]
        assert finding["name"] == "speech_s" and finding["wanted"] == "at least 60 (s)"
        assert float(finding["measured"]) < 60 and finding["where"] == "turn 0"


def test_too_many_rejects_stop_the_build_with_a_table(tone_build: Build) -> None:
    text = with_checks(tone_recipe_text("user_interruption"), LONGER.format(limit=60, attempts=1))
    with pytest.raises(
        ReleaseError, match=r"max_rejected_fraction = 0.1:\n  reason +samples\n  speech_s +4\n"
    ) as caught:
        tone_build(text.replace("fraction = 1.0", "fraction = 0.1"))
    (pattern,) = re.findall(r"all reasons of all of them: (.*)", str(caught.value))
    found = [json.loads(path.read_text("utf-8")) for path in Path("/").glob(pattern.lstrip("/"))]
    assert len(found) == 4 and all("speech_s" in reject["attempts"][-1]["reasons"][0] for reject in found)


def test_the_table_counts_each_reason_once_a_sample_and_the_last_attempt() -> None:
    def finding(name: str) -> dict[str, str]:
        return {"name": name, "where": "turn 0", "measured": "1", "wanted": "2"}

    table = reasons_table(
        [
            {
                "id": "a",
                "attempts": [{"findings": [finding("x")]}, {"findings": [finding("y"), finding("y")]}],
            },
            {"id": "b", "attempts": [{"findings": [finding("y"), finding("x")]}]},
            {"id": "c", "attempts": [{"findings": [], "reasons": ["the engine gave no sound"]}]},
        ],
        "partial/rows",
    )
    heads, examples = table.splitlines()[1:-1:2], table.splitlines()[2:-1:2]
    assert [line.split() for line in heads] == [["y", "2"], ["x", "1"], ["speech", "1"]]
    assert [line.strip() for line in examples] == [
        "for example a: turn 0: 1, wanted 2",
        "for example b: turn 0: 1, wanted 2",
        "for example c: the engine gave no sound",
    ]
    assert table.splitlines()[-1] == "  all reasons of all of them: partial/rows"


def test_a_long_reason_stands_whole_with_its_remedy() -> None:
    reason = f"'ann' has no recording of {'such words ' * 40!r};\nemma said it: record it, or choose voices by role"
    table = reasons_table([{"id": "a", "attempts": [{"reasons": [reason]}]}], "partial/rows")
    (line,) = [line for line in table.splitlines() if "for example" in line]
    assert line.endswith("emma said it: record it, or choose voices by role") and "such words " * 40 in line


HIBARI = """
name = "gated"
version = "1.0.0"
seed = 11
languages = ["en"]
licence = "CC-BY-4.0"
[speech]
engine = "hibari"
[checks]
attempts = 4
max_rejected_fraction = 1.0
gates = { speaking_rate_hz = { at_most = 15.4 } }
[scenarios.user_interruption]
count = 6
"""


@pytest.mark.slow
def test_a_gate_that_passes_at_the_second_attempt_gives_the_same_bytes(tmp_path: Path) -> None:
    """With 1 and 2 workers, and after a kill; rejects too."""
    recipe = tmp_path / "gated.toml"
    recipe.write_text(HIBARI)
    for workers in (1, 2):
        arguments = command(recipe, tmp_path / f"w{workers}", tmp_path / f"cache{workers}", workers)
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    one, two = tmp_path / "w1", tmp_path / "w2"
    assert shards_of(one) == shards_of(two) != {}
    assert (one / "rejects.jsonl").read_bytes() == (two / "rejects.jsonl").read_bytes()
    attempts = [row["provenance"]["attempt"] for row in rows_of(one).values()]
    assert any(attempts), "the gate must have failed somewhere, and then passed"

    killed = command(recipe, tmp_path / "k", tmp_path / "cachek", 2)
    process = subprocess.Popen(
        killed, start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "k.partial").glob("rows/*/*"))) < 1:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert subprocess.run(killed, capture_output=True).returncode == 0
    assert shards_of(tmp_path / "k") == shards_of(one)
    assert (tmp_path / "k" / "rejects.jsonl").read_bytes() == (one / "rejects.jsonl").read_bytes()
