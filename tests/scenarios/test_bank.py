"""Reading packs of scripts: what a scenario cannot take as it is meant is refused by file and line."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import ScriptError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.built import open_built, rows_in
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.cli import main
from duplexkit.builders.writers.script_lines import write_file
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.bank import SHIPPED, load_scripts, read_scripts
from duplexkit.scenarios.names import is_script_id
from tests.conftest import tone_recipe_text

Change = dict[str, Any]


def shipped(scenario: str, n: int = 0) -> dict[str, Any]:
    """Return a line of the shipped bank, to be changed."""
    lines = (SHIPPED / "en" / f"{scenario}.jsonl").read_text(encoding="utf-8").split("\n")
    return dict(json.loads(lines[n]))


def pack(folder: Path, scenario: str, *lines: dict[str, Any]) -> Path:
    path = folder / "bank" / "en" / f"{scenario}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def refusal(tmp_path: Path, scenario: str, line: dict[str, Any]) -> str:
    """Return what is said of a pack whose second line is `line`; it must begin with file and line."""
    path = pack(tmp_path, scenario, {**shipped(scenario, 1), "id": "first"}, line)
    with pytest.raises(ScriptError) as refused:
        load_scripts(scenario, "en", tmp_path / "bank")
    where = f"{path} line 2"
    assert str(refused.value).startswith(where)
    return str(refused.value)[len(where) :]


GREETING = {"role": "system", "text": "Hello, how can I help you?"}


def test_a_dialogue_that_the_system_opens_is_refused(tmp_path: Path) -> None:
    """With one turn more, every question would be taken for an answer."""
    line = shipped("mt_qa")
    said = refusal(tmp_path, "mt_qa", {**line, "turns": [GREETING, *line["turns"]]})
    assert said == (
        ": turn 0: 'role' = 'system', wanted 'user' (question); mt_qa wants 2 turns over and over: "
        "user (question), system (answer), user (question), system (answer), …"
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_scenario_says_how_many_turns_it_wants(scenario: str, tmp_path: Path) -> None:
    line = shipped(scenario)
    form = SCENARIOS[scenario].script
    more = [*line["turns"], line["turns"][0]]
    assert f": {len(more)} turns; {scenario} wants {form}" in refusal(
        tmp_path, scenario, {**line, "turns": more}
    )
    if len(line["turns"]) > 1:
        fewer = line["turns"][:-1]
        assert f": {len(fewer)} turn" in refusal(tmp_path, scenario, {**line, "turns": fewer})


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("role", ["user", "system", "other"])
def test_each_scenario_takes_its_own_roles_only(scenario: str, role: str, tmp_path: Path) -> None:
    line = shipped(scenario)
    for index, turn in enumerate(line["turns"][:2]):
        if turn["role"] != role:
            turns = [{**t, "role": role} if t is turn else t for t in line["turns"]]
            said = refusal(tmp_path, scenario, {**line, "turns": turns})
            assert said.startswith(f": turn {index}: 'role' = '{role}', wanted '{turn['role']}'")


@pytest.mark.parametrize(
    ("scenario", "turn", "change", "said"),
    [
        ("mt_qa", 2, {"depends_on": [99, -1]}, "'depends_on' = [99, -1]: 99 is no earlier turn"),
        ("mt_qa", 2, {"depends_on": [2]}, "2 is no earlier turn; wanted numbers of turns before it"),
        ("mt_qa", 2, {"depends_on": [-1]}, "-1 is no earlier turn"),
        ("mt_qa", 2, {"depends_on": [True]}, "'depends_on' = [true]; wanted a list of turn numbers"),
        ("mt_qa", 0, {"depends_on": [0]}, "nothing comes before the first turn"),
        ("mt_qa", 1, {"depends_on": [0]}, "turn 1 (answer): 'depends_on' has no place there"),
        ("mt_qa", 1, {"text": "It is [pause:clause] so."}, "a [pause:clause] mark has no place there"),
        ("mt_qa", 2, {"intent": "stop"}, "'intent' = 'stop': unknown intent"),
        (
            "user_interruption",
            1,
            {"intent": "Stop"},
            "'intent' = 'Stop': unknown intent; did you mean 'stop'",
        ),
        ("user_interruption", 1, {"reference_answer": "42"}, "'reference_answer' has no place there"),
        ("user_interruption", 0, {"text": "Tell [pause:clause] me."}, "[pause:clause] mark has no place"),
        ("user_backchannel", 1, {"function": "nod"}, "'function' = 'nod': unknown function"),
        ("background_speech", 1, {"intent": "radio"}, "'intent' = 'radio': unknown intent"),
        ("pause_handling", 0, {"text": "Nothing is marked here."}, "no [pause:…] mark; wanted at least one"),
        ("pause_handling", 0, {"text": "At the end [pause:clause]."}, "does not stand between two words"),
        ("backchannel", 0, {"text": "A story without a place."}, "no [trp:…] mark; wanted at least one"),
        ("backchannel", 0, {"text": "[trp:continuer] So it was."}, "does not stand after a word"),
        ("smooth_turn_taking", 0, {"text": "… [sound:laugh] !"}, "no word in it to speak"),
        ("smooth_turn_taking", 0, {"text": "Hi [ |there]."}, "a reading is written [shown|spoken]"),
        ("smooth_turn_taking", 0, {"text": "Hi [there|/ /]."}, "a reading is written [shown|spoken]"),
        ("smooth_turn_taking", 0, {"text": "Hi [a|b|c]."}, "a reading is written [shown|spoken]"),
        ("smooth_turn_taking", 0, {"text": "Hi\x00 there."}, "'text' holds the control character U+0000"),
        ("smooth_turn_taking", 0, {"text": "Hi \ud83d there."}, "\\ud83d is half of a character"),
        ("smooth_turn_taking", 0, {"intent": "a\nb"}, "'intent' holds the control character U+000A"),
    ],
)
def test_what_labels_are_made_of_is_asked(
    scenario: str, turn: int, change: Change, said: str, tmp_path: Path
) -> None:
    line = shipped(scenario)
    line["turns"][turn] |= change
    assert said in refusal(tmp_path, scenario, line)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"licence": " "}, "'licence' is empty"),
        ({"source": "a\u2028b"}, "'source' holds the control character U+2028"),
        ({"tags": ["fdb\n"]}, "'tags' holds the control character U+000A"),
        ({"provenance": {"model\x1b": "x"}}, "'provenance' holds the control character U+001B"),
        ({"domain\ud800": "x"}, "\\ud800 is half of a character"),
        ({"id": "first"}, "id 'first' stands twice"),
    ],
)
def test_keys_of_the_script_are_asked_too(change: Change, said: str, tmp_path: Path) -> None:
    assert said in refusal(tmp_path, "smooth_turn_taking", {**shipped("smooth_turn_taking"), **change})


IDS = [
    "",
    "a/b",
    "../../x",
    "..",
    ".a",
    "-a",
    "a b",
    "a\nb",
    "ab\n",
    "a\x00b",
    "a\u2028b",
    "x" * 65,
    "会話",
    7,
]


@pytest.mark.parametrize("id_", [*IDS, "\ud800"], ids=ascii)
def test_an_id_that_is_no_part_of_a_file_name_is_refused(id_: Any, tmp_path: Path) -> None:
    said = refusal(tmp_path, "smooth_turn_taking", {**shipped("smooth_turn_taking"), "id": id_})
    assert "wanted a text" in said if id_ == 7 else "half of a character" in said or "'-', the first" in said
    assert said.isprintable()


@given(st.text("aZ09._-/ \n\x00\u2028é", max_size=6))
def test_ids_that_pass_are_safe_everywhere(id_: str) -> None:
    if is_script_id(id_):
        assert Path(id_).name == id_ and id_.split() == [id_] and id_.isascii() and id_.isprintable()


@pytest.mark.parametrize("command", ["build", "translate"])
def test_every_command_that_reads_scripts_refuses_by_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = shipped("mt_qa")
    path = pack(tmp_path, "mt_qa", line, {**line, "id": "qa-002", "turns": [GREETING, *line["turns"]]})
    text = tone_recipe_text("mt_qa").replace('["en", "ja"]', '["en"]')
    Path("r.toml").write_text(text.replace("[speech]", 'scripts = "bank"\n[speech]', 1))
    model = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    arguments = {
        "build": ["build", "r.toml", "--out", "o", "--cache", "c"],
        "translate": ["scripts", "translate", str(path), *model, "--out", "o"],
    }[command]
    assert main(arguments) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{path.relative_to(tmp_path)} line 2: turn 0: 'role' = 'system', wanted 'user'" in said
    assert not Path("o").exists()


def test_the_linter_goes_on_behind_a_script_of_the_wrong_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = shipped("mt_qa")
    turns = [{**line["turns"][0], "depends_on": [0]}, *line["turns"][1:]]
    pack(
        tmp_path,
        "mt_qa",
        {**line, "turns": [GREETING, *line["turns"]]},
        {**line, "id": "qa-002", "turns": turns},
    )
    assert main(["scripts", "lint", str(tmp_path / "bank")]) == 1
    said = capsys.readouterr().out
    assert "turn 0: 'role' = 'system', wanted 'user'" in said
    assert "'depends_on' = [0]: nothing comes before the first turn" in said


@pytest.mark.parametrize(
    "change",
    [
        {"why": "\x00"},
        {"source": " "},
        {"domain": "a\nb"},
        {"tags": ("a\nb",)},
        {"id": "a/b"},
        {"register": "\ud800"},
    ],
    ids=str,
)
def test_what_no_reader_takes_is_not_written(change: dict[str, Any], tmp_path: Path) -> None:
    path = pack(tmp_path, "smooth_turn_taking", shipped("smooth_turn_taking"))
    before = path.read_bytes()
    (good,) = read_scripts(path, scenario="smooth_turn_taking", language="en")
    for wrong in (
        replace(good, **change),
        replace(good, turns=(replace(good.turns[0], text="..."),)),
        replace(good, turns=(replace(good.turns[0], text="Wait\x07 stop."),)),
    ):
        with pytest.raises(ScriptError, match="is not written: script"):
            write_file(path, [good, replace(wrong, id=change.get("id", "st-999"))])
    assert path.read_bytes() == before


def test_what_would_be_refused_is_not_written(tmp_path: Path) -> None:
    path = pack(tmp_path, "smooth_turn_taking", shipped("smooth_turn_taking"))
    before = path.read_bytes()
    (good,) = read_scripts(path, scenario="smooth_turn_taking", language="en")
    other = load_scripts("user_interruption", "en")[0]
    wrong = replace(other, scenario="smooth_turn_taking")
    with pytest.raises(
        ScriptError, match=r"is not written: script \"ui-001\": 2 turns; smooth_turn_taking wants"
    ):
        write_file(path, [good, wrong])
    assert path.read_bytes() == before


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    """U+2028 and its like may stand in a JSON text as they are, and many programs write them so."""
    line = shipped("smooth_turn_taking")
    line["turns"][0]["text"] = "One two\u2028three four\x85five six."
    path = pack(tmp_path, "smooth_turn_taking")
    raw = json.dumps(line, ensure_ascii=False)
    assert len(raw.splitlines()) == 3
    path.write_bytes(f"{raw}\r\n\r\n".encode() + json.dumps({**line, "id": "st-2"}).encode())
    first, second = load_scripts("smooth_turn_taking", "en", tmp_path / "bank")
    assert first.turns == second.turns and first.turns[0].text == line["turns"][0]["text"]


def test_such_a_text_is_built_and_checked(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    line = shipped("smooth_turn_taking")
    line["turns"][0]["text"] = "One two\u2028three four\x85five six."
    pack(tmp_path, "smooth_turn_taking", line)
    text = tone_recipe_text("smooth_turn_taking", count=1).replace('["en", "ja"]', '["en"]')
    result = tone_build(text.replace("[speech]", 'scripts = "bank"\n[speech]', 1))
    assert not list(check_folder(result.folder, lambda done, total: None))
    (row,) = rows_in(open_built(result.folder).shards)
    assert row["turns"][0]["text"] == line["turns"][0]["text"] and len(row["turns"][0]["words"]) == 6
