"""A turn whose words are not its text is found."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from duplexkit.builders.check_text import text_faults
from tests.builders.test_build import rows_of
from tests.conftest import build_tones, tone_recipe_text

Row = dict[str, Any]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Row:
    made = build_tones(tmp_path_factory.mktemp("check_text"), tone_recipe_text("mt_qa", count=1))
    return next(iter(rows_of(made.folder).values()))


@pytest.fixture
def row(built: Row) -> Row:
    return deepcopy(built)


def swapped(row: Row) -> None:
    row["turns"][0]["words"], row["turns"][2]["words"] = row["turns"][2]["words"], row["turns"][0]["words"]


def lost(row: Row) -> None:
    row["turns"][0]["words"].pop()


def turned(row: Row) -> None:
    row["turns"][0]["words"].reverse()


def other_text(row: Row) -> None:
    row["turns"][0]["text"] = "Something else?"


def silent(row: Row) -> None:
    row["turns"][0]["words"] = []


@pytest.mark.parametrize(
    ("change", "measured"),
    [
        (swapped, "the words"),
        (lost, "the words"),
        (turned, "the words"),
        (other_text, "spoken_text"),
        (silent, "no words"),
    ],
)
def test_a_turn_with_other_words_is_found(row: Row, change: Callable[[Row], None], measured: str) -> None:
    assert list(text_faults(row)) == []
    change(row)
    found = list(text_faults(row))
    assert found and found[0][0] == 0 and found[0][1].startswith(measured)


def test_a_turn_that_was_cut_off_says_what_was_spoken_of_it(row: Row) -> None:
    turn = row["turns"][1]
    kept = turn["words"][: len(turn["words"]) // 2]
    turn["words"] = kept
    assert [fault[0] for fault in text_faults(row)] == [1]
    turn["spoken_text"] = turn["text"][: turn["text"].index(kept[-1]["text"]) + len(kept[-1]["text"])]
    assert list(text_faults(row)) == []


def test_a_transcript_from_elsewhere_may_spell_as_it_likes(row: Row) -> None:
    turned(row)
    row["provenance"]["turns"] = []
    assert list(text_faults(row)) == []
