"""TopiOCQA files: dialogues with their references, topics and licence; wrong files by line."""

import json
from dataclasses import replace

import pytest

from duplexkit import RecipeError, ScriptError
from duplexkit.scenarios.bank import SHIPPED, load_scripts
from duplexkit.scenarios.conversation import Role
from duplexkit.scenarios.sources import entry_scripts
from duplexkit.scenarios.topiocqa import read_topiocqa
from tests.scenarios.dialogues import SCENARIO, context, entry, placed


def line(conversation, turn, *, topic="A", **more):
    row = {
        "Conversation_no": conversation,
        "Turn_no": turn,
        "Context": [],
        "Question": f"what is number {turn} of the long list [sic]",
        "Topic": topic,
        "Topic_section": "Introduction",
        "Answer": f"it is the answer with the number {turn}, as one can read",
        "Rationale": "…",
        "is_nq": turn == 1,
        "Additional_answers": [],
    }
    return {**row, **more}


def written(tmp_path, rows, name="topiocqa_valid.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_conversation_becomes_a_script(tmp_path):
    rows = [line(7, 2), line(7, 1), line(7, 3, topic="B", Answer="UNANSWERABLE"), line(3, 1)]
    first, second = read_topiocqa(written(tmp_path, rows), scenario="mt_qa")
    assert [first.id, second.id] == ["topiocqa-valid-0003", "topiocqa-valid-0007"]
    assert (second.licence, second.language) == ("CC-BY-NC-SA-4.0", "en")
    assert "TopiOCQA" in second.source
    assert [turn.role for turn in second.turns] == [Role.USER, Role.SYSTEM] * 3
    assert [turn.intent for turn in second.turns[::2]] == ["opening", "follow_up", "topic_switch"]
    assert second.turns[0].text == "what is number 1 of the long list (sic)"
    assert second.turns[1].reference_answer == second.turns[1].text
    assert second.turns[5].reference_answer == "UNANSWERABLE"
    assert second.turns[5].text == "I'm sorry, I don't know that."


def test_a_json_list_is_read_too(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([line(1, 1), line(1, 2)]), encoding="utf-8")
    (script,) = read_topiocqa(path, scenario="mt_qa")
    assert len(script.turns) == 4


def test_the_recipe_names_the_file_and_the_release_keeps_its_licence(tmp_path):
    written(tmp_path, [line(1, t) for t in range(1, 11)])
    made = entry(source="topiocqa:topiocqa_valid.jsonl")
    scripts = entry_scripts(made, "en", SHIPPED, tmp_path)
    plan = SCENARIO.plan(scripts[0], context(made, "en", scripts, 0, 1))
    # the dialogue's own licence first; a listener's token from the bank adds its own
    assert plan.script.licence in ("CC-BY-NC-SA-4.0", "CC-BY-NC-SA-4.0 AND CC-BY-4.0")
    has_token = any(turn.move == "backchannel" for turn in plan.turns)
    assert has_token == plan.script.licence.endswith(" AND CC-BY-4.0")
    answers = [turn for turn in plan.turns if turn.role is Role.SYSTEM]
    assert len(answers) >= 8 and all(turn.reference_answer for turn in answers)
    assert placed(plan).annotation.events


def test_the_bank_is_the_default_source(tmp_path):
    assert entry_scripts(entry(), "en", SHIPPED, tmp_path) == load_scripts("mt_qa", "en")
    other = entry()
    bare = replace(other, values={k: v for k, v in other.values.items() if k != "source"})
    assert entry_scripts(bare, "ja", SHIPPED, tmp_path) == load_scripts("mt_qa", "ja")


@pytest.mark.parametrize(
    ("source", "language", "message"),
    [
        ("topiocqa:x.jsonl", "ja", "TopiOCQA is English"),
        ("topiocqa:", "en", "wanted 'bank' or 'topiocqa:FILE'"),
        ("coqa:x", "en", "wanted 'bank' or 'topiocqa:FILE'"),
    ],
)
def test_wrong_sources_are_refused(source, language, message, tmp_path):
    with pytest.raises(RecipeError, match=message):
        entry_scripts(entry(source=source), language, SHIPPED, tmp_path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([line(1, 1), line(1, 3)], "line 2: conversation 1 has Turn_no 3 where 2 was"),
        ([line(1, 1), line(1, 1)], "Turn_no 1 where 2 was"),
        ([{"Question": "x"}], "line 1: the key 'Conversation_no' is missing"),
        ([line(1, 1, Answer="")], "line 1: 'Answer' = ''; wanted a text"),
        ([line(1, "1")], "line 1: 'Turn_no' = '1'; wanted a whole number"),
        ([], "is empty"),
        ([3], "line 1: wanted an object"),
    ],
)
def test_wrong_files_are_refused_by_line(rows, message, tmp_path):
    with pytest.raises(ScriptError, match=message):
        read_topiocqa(written(tmp_path, rows), scenario="mt_qa")


def test_no_json_and_no_file(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n{", encoding="utf-8")
    with pytest.raises(ScriptError, match="line 2: no JSON"):
        read_topiocqa(path, scenario="mt_qa")
    with pytest.raises(ScriptError, match="cannot be read"):
        read_topiocqa(tmp_path / "none.jsonl", scenario="mt_qa")
