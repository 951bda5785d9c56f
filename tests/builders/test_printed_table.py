"""What `list` and `voices` print: names and values are whole, on a narrow terminal and in a pipe."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from duplexkit.builders.cli import main
from duplexkit.builders.printed_table import print_tables
from duplexkit.builders.quality import MEASURES, VALUES
from duplexkit.builders.speakers import make_speaker
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.recipe import shipped_recipes

COLOURS = re.compile(r"\x1b\[[0-9;]*m")

NAMES = {
    "recipes": list(shipped_recipes()),
    "scenarios": [
        name for one in SCENARIOS.values() for name in (one.name, *one.presets, *(one.fields or ()))
    ],
    "measures": [*MEASURES, *VALUES],
}


def printed(table: Table, width: int, *, terminal: bool) -> str:
    file = io.StringIO()
    print_tables(table, console=Console(file=file, width=width, force_terminal=terminal, color_system=None))
    return COLOURS.sub("", file.getvalue())


def shown(*arguments: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(list(arguments)) == 0
    return COLOURS.sub("", capsys.readouterr().out).splitlines()


def has_name(lines: list[str], name: str) -> bool:
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.…-])", line) for line in lines)


@pytest.mark.parametrize("what", NAMES)
@pytest.mark.parametrize("terminal", [False, True])
def test_every_name_is_whole_at_80_columns(
    what: str, terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    lines = shown("list", what, capsys=capsys)
    assert [name for name in NAMES[what] if not has_name(lines, name)] == []
    assert not any("…" in line for line in lines)
    assert not terminal or max(map(cell_len, lines)) <= 80


@pytest.mark.parametrize("terminal", [False, True])
def test_every_voice_is_whole_at_80_columns(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    speaker = make_speaker("kokoro", tmp_path)
    lines = shown("voices", capsys=capsys)
    missing = [
        name for name in speaker.voices() if not any(name in re.split(r"[\s│]+", line) for line in lines)
    ]
    assert missing == [] and not any("…" in line for line in lines)


def test_a_piped_row_is_one_line_with_all_that_belongs_to_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = shown("list", "measures", capsys=capsys)
    for value, (measure, described) in VALUES.items():
        assert [
            line for line in lines if value in line and measure.name in line and described.meaning in line
        ]


words = st.text(st.sampled_from("abcdefg_~日本"), min_size=1, max_size=30)


@given(st.lists(st.tuples(words, words, st.lists(words, max_size=9).map(" ".join)), min_size=1, max_size=4))
def test_no_word_is_ever_cut(rows: list[tuple[str, str, str]]) -> None:
    for width in (20, 40, 80, 200):
        for terminal in (False, True):
            table = Table("name", "of", "meaning", title="Things")
            for row in rows:
                table.add_row(*row)
            found = set(re.split(r"[\s│┃;]+", printed(table, width, terminal=terminal)))
            assert {word for row in rows for cell in row for word in cell.split()} <= found


def test_a_table_that_fits_stays_one_and_another_is_told_row_by_row() -> None:
    def table() -> Table:
        made = Table("name", "of", "meaning", title="Things")
        made.add_row("a_very_long_name_of_a_thing", "utterance", "what it is, in some words that may wrap")
        return made

    assert "┃ name" in printed(table(), 70, terminal=True)
    assert printed(table(), 50, terminal=True).splitlines() == [
        "Things",
        "a_very_long_name_of_a_thing",
        "    of: utterance; meaning: what it is, in some",
        "    words that may wrap",
    ]
    assert len(printed(table(), 20, terminal=False).splitlines()) == 6, "title, four of the box, one row"
