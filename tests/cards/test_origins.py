"""Whose speech it is: cards of recordings, of imported folders and of engines from elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from duplexkit.builders import commands_annotate, commands_export
from duplexkit.builders.build import BuildResult
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.format import Options
from duplexkit.builders.export.run import export
from duplexkit.builders.export.source import open_source
from duplexkit.builders.speakers import engines
from duplexkit.cards.about import About
from duplexkit.cards.card import consents
from duplexkit.cards.diff import diff_folders
from duplexkit.cards.load import load
from duplexkit.cards.release.gate import reasons_against
from duplexkit.cards.summarize import summarize
from duplexkit.cards.voice_basis import basis_of
from tests.builders.two_channels import recording, write
from tests.conftest import tone_recipe_text

TALK = {0: [(1.0, 6.0), (12.0, 16.0)], 1: [(6.3, 11.0), (16.4, 20.0)]}
ALL_OF_IT = ("CHANGELOG.md", "CITATION.cff", "README.md", "plots/durations.png", "preview/index.html")


def run(*arguments: object) -> None:
    app = typer.Typer()
    commands_annotate.add_commands(app)
    commands_export.add_commands(app)
    app([str(argument) for argument in arguments], standalone_mode=False)


def card_of(folder: Path) -> tuple[dict[str, Any], str]:
    _, front, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), text


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    write(tmp_path / "in" / "a.wav", recording(TALK, 22.0))
    return tmp_path / "in"


@pytest.mark.parametrize("selection", ["chat", "smooth_turn_taking"])
def test_recordings_of_persons_are_never_called_synthetic(selection: str, talk: Path) -> None:
    out = talk.parent / "out"
    stated = ("--licence", "CC-BY-4.0", "--attribution", "The Speakers", "--language", "en")
    run("annotate", talk, "--select", selection, *stated, "--out", out)
    assert [name for name in ALL_OF_IT if not (out / name).is_file()] == []
    front, text = card_of(out)
    assert "synthetic" not in front["tags"] and front["configs"][0]["config_name"] == selection
    assert "**This dataset holds recordings of persons** (see Datasheet).\n" in text
    assert "ynthetic speech" not in text and "recorded conversations of persons" in text
    summary = summarize(out)
    parts = {(part.kind, part.name, part.attribution) for part in summary.all_parts}
    assert ("corpus", "plain", "The Speakers") in parts and "weights" not in {kind for kind, _, _ in parts}
    asked = consents(summary, About())
    assert set(asked) == set(summary.voices) != set() and set(asked.values()) == {""}
    assert any(
        "no consent basis" in reason for reason in reasons_against(out, repository="me/x", version="1.0.0")
    )
    assert len(list(load(out, selection, "test"))) == summary.n_rows > 0


def test_annotations_alone_have_a_card_and_a_page(talk: Path) -> None:
    out = talk.parent / "out"
    run("annotate", talk, "--licence", "CC-BY-4.0", "--annotations-only", "--language", "en", "--out", out)
    assert [name for name in ALL_OF_IT if not (out / name).is_file()] == []
    assert not list((out / "plots").glob("timeline_*")) and not list((out / "preview" / "audio").iterdir())
    assert "**This dataset holds recordings of persons**" in card_of(out)[1]
    (row,) = load(out, "chat", "test")
    assert row["input"] is None and row["events"]


def test_of_what_was_imported_nothing_is_taken_for_granted(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    built = tone_build(tone_recipe_text("user_interruption", "pause_handling", count=2)).folder
    options = Options(dataset="x")
    export(
        open_source(str(built)), tmp_path / "fdb", FORMATS["fdb"], options, overwrite=False, progress=print
    )
    out = tmp_path / "back"
    run("import", "fdb", tmp_path / "fdb", "--licence", "CC-BY-4.0", "--out", out)
    assert [name for name in ALL_OF_IT if not (out / name).is_file()] == []
    front, text = card_of(out)
    assert "synthetic" not in front["tags"]
    named = [entry["config_name"] for entry in front["configs"]]
    assert {"user_interruption", "pause_handling-ja"} <= set(named) and len(named) == len(set(named)) == 6
    assert "**Whether this speech is synthetic or recorded from persons is not known here**" in text
    assert "This dataset holds recordings" not in text and "**All speech" not in text
    n_there = len(list((tmp_path / "fdb").rglob("input.wav")))
    loaded = [row for config in ("user_interruption", "pause_handling") for row in load(out, config, "test")]
    assert len(loaded) == n_there > 4
    assert diff_folders(out, out).level == "none"


def test_rows_that_no_entry_names_have_a_configuration(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    folder = tone_build(tone_recipe_text("pause_handling", "mt_qa", count=1), tmp_path / "x").folder
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["recipe"].update(entries=manifest["recipe"]["entries"][1:], languages=["ja"])
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    summary = summarize(folder)
    assert summary.scenarios == ("mt_qa", "pause_handling") and summary.languages == ("ja", "en")


def test_every_shipped_engine_states_whose_speech_it_is() -> None:
    shipped = {name: basis_of(name).origin for name in engines() if name != "tone"}
    assert shipped.pop("recorded") == "persons"
    assert set(shipped.values()) == {"synthetic"} and basis_of("tone").origin == "unknown"
