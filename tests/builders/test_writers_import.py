"""Rows that users have become scripts: CSV, JSON lines, datasets."""

import csv
import json
from pathlib import Path

import pytest

from duplexkit import ScriptError
from duplexkit.builders.writers.import_scripts import Rules, fields_of, read_rows, scripts_of
from duplexkit.builders.writers.script_lines import read_file
from tests.builders.writers_model import run

ROWS = [
    {
        "prompt": "Explain how a heat pump keeps a house warm in winter, step by step.",
        "barge": "Hold on, does that work below zero?",
        "kind": "clarification",
        "topic": "technology",
    },
    {
        "prompt": "Walk me through planting a hedge, from the digging to the first cut.",
        "barge": "Stop, please.",
        "kind": "stop",
        "topic": "gardening",
    },
]
RULES = Rules(
    scenario="user_interruption",
    language="en",
    columns={"context": "prompt", "event": "barge", "intent": "kind", "domain": "topic"},
    fixed={"source": "our call centre", "licence": "CC-BY-4.0", "register": "neutral"},
)


def save(path: Path, rows: list[dict[str, str]]) -> None:
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json"])
def test_rows_of_a_file_become_scripts(tmp_path: Path, ending: str):
    path = tmp_path / f"rows.{ending}"
    save(path, ROWS)
    first, second = scripts_of(read_rows(str(path)), RULES, "rows")
    assert first.turns[0].text == ROWS[0]["prompt"] and first.turns[1].intent == "clarification"
    assert (first.domain, first.register, first.source) == ("technology", "neutral", "our call centre")
    assert second.turns[1].text == "Stop, please."


def test_rows_of_a_dataset_become_scripts(tmp_path: Path):
    from datasets import Dataset

    Dataset.from_list(ROWS).to_parquet(tmp_path / "data" / "train.parquet")
    scripts = scripts_of(read_rows(f"hf:{tmp_path / 'data'}"), RULES, "rows")
    assert [script.turns[1].text for script in scripts] == [row["barge"] for row in ROWS]
    with pytest.raises(ScriptError, match="hf:"):
        read_rows(f"hf:{tmp_path / 'data'}", split="nosuch")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"columns": {**RULES.columns, "context": "prompts"}},
            "row 1: no column 'prompts'; there are prompt",
        ),
        (
            {"columns": {"event": "barge"}},
            r"no text for 'context'; name its column with --map context=COLUMN",
        ),
        ({"columns": {"contxt": "prompt"}}, "unknown field; did you mean 'context'"),
        ({"scenario": "mt_qa"}, "use duplexkit scripts rewrite"),
        ({"scenario": "interruption"}, "unknown scenario; did you mean 'user_interruption'"),
    ],
)
def test_what_cannot_be_mapped_is_said(change: dict, said: str):
    data = {
        "scenario": RULES.scenario,
        "language": RULES.language,
        "columns": RULES.columns,
        "fixed": RULES.fixed,
    }
    with pytest.raises(ScriptError, match=said):
        scripts_of(ROWS, Rules(**{**data, **change}), "rows")


@pytest.mark.parametrize(("name", "said"), [("no.csv", "no such file"), ("a.txt", "wanted .csv")])
def test_files_that_are_none_of_those(tmp_path: Path, name: str, said: str):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(ScriptError, match=said):
        read_rows(str(tmp_path / name))


def test_fields_are_those_of_the_scenario():
    assert fields_of("talking_to_others")[:2] == ("context", "event") and "addressee" in fields_of(
        "talking_to_others"
    )
    assert "function" in fields_of("user_backchannel") and "intent" not in fields_of("user_backchannel")


def test_the_command_leaves_out_what_the_linter_refuses(tmp_path: Path):
    bad = {**ROWS[0], "prompt": "What time is it?"}
    save(tmp_path / "rows.csv", [*ROWS, bad])
    arguments = [
        *(
            "scripts",
            "import",
            str(tmp_path / "rows.csv"),
            "--scenario",
            "user_interruption",
            "--language",
            "en",
        ),
        *("--source", "our call centre", "--licence", "CC-BY-4.0", "--out", str(tmp_path / "mine")),
        *("--map", "context=prompt", "--map", "event=barge", "--map", "intent=kind", "--map", "domain=topic"),
        *("--set", "register=neutral"),
    ]
    said = run(*arguments, expect=1)
    assert "row 3: turn 0" in said and "2 of 3 rows imported" in said
    scripts = read_file(tmp_path / "mine/en/user_interruption.jsonl", "user_interruption", "en")
    assert [script.id for script in scripts] == ["ui-001", "ui-002"]
    save(tmp_path / "rows.csv", [ROWS[0], {**ROWS[1], "kind": "Stop"}])
    said = run(*arguments, expect=1)
    assert "row 2: turn 1 (event): 'intent' = 'Stop': unknown intent; did you mean 'stop'" in said
    assert "1 of 2 rows imported" in said
    save(tmp_path / "rows.csv", [bad, {**ROWS[1], "kind": "Stop"}])
    said = run(*arguments, "--keep-all", expect=1)
    assert "row 2: turn 1 (event): 'intent' = 'Stop': unknown intent" in said and "(left out)" in said
    assert "1 of 2 rows imported" in said, "what the linter alone refuses is kept"
    read_file(tmp_path / "mine/en/user_interruption.jsonl", "user_interruption", "en")
    save(tmp_path / "rows.csv", ROWS)
    assert "--map: wanted" not in run(*arguments)
    assert "wanted FIELD=VALUE" in run(*arguments, "--map", "context", expect=2)
