"""JSON lines that duplexkit wrote: whatever stands in a text, what was written is what is read."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import ReleaseError
from duplexkit.builders.json_file import read_json_lines
from duplexkit.builders.side_files import REJECTS, read_rejects
from duplexkit.scenarios.text_file import numbered_lines, parse_json

LINE_ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What `str.splitlines` takes for line ends besides line feeds."""

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(LINE_ENDS)))


@given(TEXTS)
def test_lines_come_back_whatever_stands_in_their_texts(texts: list[str]) -> None:
    written = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
    lines = list(numbered_lines(written))
    assert [number for number, _ in lines] == list(range(1, len(texts) + 1))
    assert [parse_json(line, "here")["text"] for _, line in lines] == texts


def test_a_reject_that_says_such_a_text_is_read(tmp_path: Path) -> None:
    reject = {"id": "mt_qa/en/qa-001/0", "attempts": [{"reasons": [f"wer: heard 'a{LINE_ENDS}b'"]}]}
    (tmp_path / REJECTS).write_text(json.dumps(reject, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_rejects(tmp_path) == [reject]


def test_the_line_that_is_wrong_is_the_one_an_editor_shows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x\u2028y"}\n\n{"a": 5}\n', encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"a\.jsonl line 3: a is 5, wanted a text; mend it"):
        list(read_json_lines(path, {"a": str}, cure="mend it"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": "\\ud800"}', "\\ud800 is half of a character"),
        ('{"\\uDFFF": 1}', "\\udfff is half of a character"),
        ('{"a": "\\ude00\\ud83d"}', "\\ude00 is half of a character"),
        ('{"a": ' + "9" * 5000 + "}", "a number with thousands of digits"),
    ],
)
def test_json_that_no_file_can_hold_is_refused(text: str, said: str) -> None:
    with pytest.raises(ReleaseError) as refused:
        parse_json(text, "a.json line 1", error=ReleaseError)
    assert str(refused.value).startswith("a.json line 1: ") and said in str(refused.value)


def test_a_key_that_stands_twice_is_named() -> None:
    with pytest.raises(
        ReleaseError, match=r'^a\.json: "b" stands twice in the object that begins with {"id": "x"}; '
    ):
        parse_json('{"a": [{"id": "x", "b": 1, "c": {"b": 2}, "b": 1}]}', "a.json", error=ReleaseError)
    assert parse_json('[{"b": {"b": 1}}, {"b": 2}]', "a.json") == [{"b": {"b": 1}}, {"b": 2}]


def test_whole_pairs_and_escaped_backslashes_are_text() -> None:
    assert parse_json('{"a": "\\ud83d\\ude00 \\\\ud800"}', "here") == {"a": "\U0001f600 \\ud800"}
