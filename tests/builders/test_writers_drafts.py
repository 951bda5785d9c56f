"""Drafts on their way to a reviewer and into a bank: what is wrong in one hinders no other."""

from dataclasses import replace
from pathlib import Path

from duplexkit.builders.commands_dialogues import _write_drafts
from duplexkit.builders.writers.drafts import Draft, DraftLine
from duplexkit.builders.writers.script_lines import read_file
from duplexkit.scenarios.bank import load_scripts
from tests.builders.test_writers_dialogues import _save, table
from tests.builders.writers_model import run


def test_a_stray_mark_in_one_draft_is_for_the_reviewer(tmp_path: Path):
    """It is written for review, and accepted only when it is mended."""
    good = next(s for s in load_scripts("mt_qa", "en") if s.id == "qa-013")
    stray = replace(good.turns[1], text=f"{good.turns[1].text} [pause:clause] Yes.")
    bad = replace(good, id="qa-014", turns=(good.turns[0], stray, *good.turns[2:]))
    deaf = replace(good, id="qa-015", turns=(replace(good.turns[0], text="\x07"), *good.turns[1:]))
    drafts = tuple(
        Draft(
            dialogue=one.id,
            script=one,
            lines=tuple(
                DraftLine(turn=i, role=t.role.value, before=t.text, after=t.text, findings=())
                for i, t in enumerate(one.turns)
            ),
        )
        for one in (good, bad, deaf)
    )
    _write_drafts(tmp_path / "d", drafts, "title")
    rows = table(tmp_path / "d.tsv")
    assert {row["dialogue"] for row in rows} == {"qa-013", "qa-014"}
    for row in rows:
        row["verdict"] = "accept"
    _save(tmp_path / "d.tsv", rows)
    accept = ["scripts", "accept", str(tmp_path / "d.jsonl"), str(tmp_path / "d.tsv"), "--language", "en"]
    said = run(*accept, "--out", str(tmp_path / "bank"), expect=1)
    assert "a [pause:clause] mark has no place there" in said and "nothing was written" in said
    for row in rows:
        row["after"] = row["after"].replace(" [pause:clause] Yes.", "")
    _save(tmp_path / "d.tsv", rows)
    run(*accept, "--out", str(tmp_path / "bank"))
    assert [s.id for s in read_file(tmp_path / "bank/en/mt_qa.jsonl", "mt_qa", "en")] == ["qa-013", "qa-014"]
