"""mt_qa through the recipe: blocks over the real bank, parallel rows, stems that do what the labels say."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit.builders.build import BuildResult
from duplexkit.builders.cast import voice_pools
from duplexkit.builders.jobs import jobs_of, plan_of
from duplexkit.builders.write import read_rows
from duplexkit.scenarios.conversation import Plan, Role
from duplexkit.scenarios.dialogue_timing import dialogue_laws
from duplexkit.scenarios.label_difference import label_differences, short_answers
from duplexkit.scenarios.quantile_law import ks_distance
from duplexkit.scenarios.recipe import load_recipe
from duplexkit.scenarios.timing_report import fit_reports, measured_gaps
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]
RATE_HZ = 24_000


def planned(folder: Path, count: int, extra: str = "") -> dict[str, list[Plan]]:
    """Plan a recipe as a build does, without sound; the preset's own number of pairs."""
    text = tone_recipe_text("mt_qa", count=count, extra={"mt_qa": extra}).replace("pairs = [4, 4]\n", "")
    path = folder / f"plan{count}.toml"
    path.write_text(text, encoding="utf-8")
    recipe = load_recipe(str(path))
    pools = voice_pools(recipe, ToneSpeaker(folder))
    plans: dict[str, list[Plan]] = {}
    for job in jobs_of(recipe):
        plans.setdefault(job.language, []).append(plan_of(recipe, job, pools))
    return plans


def test_blocks_of_the_bank_are_stratified_and_growing_changes_nothing(tmp_path: Path) -> None:
    plans = planned(tmp_path, 20)
    laws = dialogue_laws(load_recipe(str(tmp_path / "plan20.toml")).entries[0])
    for listed in plans.values():
        for block in (listed[:10], listed[10:]):
            for role, moves, law in (
                (Role.SYSTEM, ("shift",), laws.user_to_system.law),
                (Role.USER, ("shift",), laws.system_to_user.law),
            ):
                gaps = [
                    turn.start.distance_s
                    for plan in block
                    for turn in plan.turns
                    if turn.role is role and turn.move in moves
                ]
                assert len(gaps) > 30
                assert ks_distance(gaps, law) <= 1 / len(gaps)
    grown = planned(tmp_path, 23)
    for language, listed in plans.items():
        assert grown[language][:20] == listed
    for en, ja in zip(plans["en"], plans["ja"], strict=True):
        moves = [[t.move for t in plan.turns if t.move != "backchannel"] for plan in (en, ja)]
        assert moves[0][: len(moves[1])] == moves[1][: len(moves[0])]


def test_topiocqa_comes_in_by_the_recipe_with_its_licence(tmp_path: Path) -> None:
    rows = [
        {
            "Conversation_no": c,
            "Turn_no": t,
            "Question": f"what happened in the year {1900 + t} in that place",
            "Answer": f"they built the bridge number {t} over the river",
            "Topic": "bridges",
        }
        for c in (1, 2)
        for t in range(1, 13)
    ]
    (tmp_path / "topiocqa_valid.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    plans = planned(tmp_path, 2, 'source = "topiocqa:topiocqa_valid.jsonl"\nlanguages = ["en"]\n')
    assert [plan.script.id for plan in plans["en"]] == ["topiocqa-valid-0001", "topiocqa-valid-0002"]
    assert all(plan.script.licence.split(" AND ")[0] == "CC-BY-NC-SA-4.0" for plan in plans["en"])


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    from duplexkit.builders.build import build
    from duplexkit.cards.card import write_card

    folder = tmp_path_factory.mktemp("qa")
    path = folder / "recipe.toml"
    extra = {"mt_qa": "cut_off_rate = 0.3\nbarge_in_rate = 0.4\n"}
    path.write_text(
        tone_recipe_text("mt_qa", count=4, room="none", extra=extra).replace("[4, 4]", "[6, 6]"),
        encoding="utf-8",
    )
    made = build(
        load_recipe(str(path)),
        folder / "out",
        cache_dir=folder / "cache",
        workers=1,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    )
    assert not made.rejects
    return [row for shard in sorted(made.folder.glob("mt_qa/*/*.parquet")) for row in read_rows(shard)]


def test_rows_of_both_languages_join_one_to_one(rows: list[dict[str, Any]]) -> None:
    ids = {
        language: {row["id"].replace(f"/{language}/", "/") for row in rows if row["language"] == language}
        for language in ("en", "ja")
    }
    assert ids["en"] == ids["ja"]
    assert len(ids["en"]) == 4


def test_each_turn_has_its_words_and_each_answer_its_reference(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert {turn["role"] for turn in row["turns"]} == {"user", "system"}
        for turn in row["turns"]:
            assert turn["text"] and turn["words"] and turn["onset_s"] < turn["offset_s"]
            assert (turn["reference_answer"] is not None) == (turn["role"] == "system")
        voices = {voice["role"]: voice["voice"] for voice in row["provenance"]["voices"]}
        assert voices["user"] != voices["system"]


def side(row: dict[str, Any], name: str) -> np.ndarray:
    pcm, _ = soundfile.read(io.BytesIO(row[name]["bytes"]), dtype="int16")
    return pcm


def test_overlaps_measured_on_the_stems_are_what_the_kinds_say(rows: list[dict[str, Any]]) -> None:
    seen = set()
    for row in rows:
        user, system = side(row, "input"), side(row, "system")
        for event in row["events"]:
            if event["kind"] not in ("shift", "barge_in", "cut_off"):
                continue
            seen.add(event["kind"])
            giver, taker = (system, user) if event["role"] == "user" else (user, system)
            taken = round(row["turns"][event["turn"]]["onset_s"] * RATE_HZ)
            first = taken - 100 + int(np.flatnonzero(taker[taken - 100 :])[0])
            assert abs(first - taken) <= 1
            given = taken - round(event["fto_s"] * RATE_HZ)  # where the giving turn falls silent
            last = int(np.flatnonzero(giver[: given + 100])[-1]) + 1
            assert abs(last - given) <= 1
            overlap_s = (last - first) / RATE_HZ
            if event["kind"] == "shift":
                assert overlap_s <= 0.4 + 1 / RATE_HZ
            if event["kind"] == "barge_in":
                assert overlap_s > 0.4 - 1 / RATE_HZ
            if event["role"] == "user" and event["kind"] != "shift":
                assert abs(round(event["system_stop_s"] * RATE_HZ) - last) <= 1
                # the next answer starts later; until then the system is silent
                after = [
                    round(t["onset_s"] * RATE_HZ)
                    for t in row["turns"]
                    if t["role"] == "system" and t["onset_s"] > event["onset_s"]
                ]
                assert not system[last : min(after, default=system.size)].any()
    assert seen == {"shift", "barge_in", "cut_off"}


def test_a_cut_off_keeps_what_was_planned_and_what_was_said(rows: list[dict[str, Any]]) -> None:
    events = [event for row in rows for event in row["events"] if event["kind"] == "cut_off"]
    assert len(events) >= 4
    for event in events:
        assert event["planned_text"].startswith(event["spoken_text"] or "")
        assert len(event["planned_text"]) > len(event["spoken_text"] or "")
        assert event["system_stop_s"] < event["system_planned_end_s"]


def test_both_label_sets_and_the_fit_are_in_the_rows(rows: list[dict[str, Any]]) -> None:
    assert all(row["m3_events"] and row["events"] for row in rows)
    for row in rows:  # a shift starts at the end of a turn, as floats
        ends = {(e["role"], e["offset_s"]) for e in row["m3_events"] if e["kind"] == "TURN"}
        for event in row["m3_events"]:
            if event["kind"] == "TURN_SHIFT":
                assert ("user" if event["role"] == "system" else "system", event["onset_s"]) in ends
    counts = label_differences(rows)
    n_short, n_answers = short_answers(counts)
    assert n_answers == sum(turn["role"] == "system" for row in rows for turn in row["turns"]) == 48
    assert 0 <= n_short < n_answers
    reports = fit_reports(gap for row in rows for gap in measured_gaps(row))
    assert {(r.language, r.table) for r in reports} >= {
        (language, table) for language in ("en", "ja") for table in ("user_to_system", "system_to_user")
    }
    for report in reports:
        assert report.ks_d <= 1 / report.n + report.n_clipped / report.n + 0.25
