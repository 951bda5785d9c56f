"""Word files: M3's alignments in any order, and a clear word about every malformed row."""

import pytest

from duplexkit import ScriptError
from duplexkit.scenarios.events import label
from duplexkit.scenarios.m3_json import read_m3_lines
from duplexkit.scenarios.word_file import read_words, word_times

GOOD = "1\t0.00\t1.00\twhere\n0\t1.20\t2.40\tthere\n1\t2.60\t3.60\tthen\n"


def written(tmp_path, text):
    path = tmp_path / "words.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_may_stand_in_any_order(tmp_path):
    rows = GOOD.splitlines()
    first = label(word_times(read_words(written(tmp_path, GOOD))))
    assert label(word_times(read_words(written(tmp_path, "\n".join(rows[::-1]) + "\n\n")))) == first
    assert [(e.kind, e.start_cs, e.end_cs) for e in first["0"]] == [
        ("TURN_SHIFT", 100, 120),
        ("TURN", 120, 240),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1.0 2.0 word\n" + GOOD, r"words.txt line 1: 1 field in .*four, separated by tabs"),
        (GOOD + "0\t1.0\t2.0\n", r"line 4: 3 fields"),
        (GOOD + "2\t5.0\t6.0\tx\n", r"line 4: channel '2'; wanted 0 or 1"),
        (GOOD + "0\tone\t6.0\tx\n", r"line 4: start = 'one'; wanted a time in seconds"),
        (GOOD + "0\t6.0\t5.0\tx\n", r"line 4: end 5.0 is not after start 6.0"),
        (GOOD + "0\t-1.0\t5.0\tx\n", r"line 4: start = -1.0; wanted a time of 0 s or more"),
        (GOOD + "0\tnan\t5.0\tx\n", r"line 4: start = nan"),
        (GOOD + "0\t4.0\t5.0\t \n", r"line 4: the word is empty"),
        ("0\t1.0\t2.0\tx\n", r"channel 1 has no words; M3's labels need both sides"),
        ("", r"channel 0 has no words"),
    ],
)
def test_malformed_files_are_refused_by_file_and_line(text, message, tmp_path):
    with pytest.raises(ScriptError, match=message) as caught:
        read_words(written(tmp_path, text))
    assert str(tmp_path) in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScriptError, match="not UTF-8 text"):
        read_words(path)
    with pytest.raises(ScriptError, match="cannot be read"):
        read_words(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: no JSON"),
        ('{"id": "a"}', "line 1: no M3 line"),
        (
            '{"id": "a", "events": {"0": [{"event": "TURNS", "time": [0, 1]}]}}',
            "event 'TURNS'; wanted one of TURN",
        ),
        ('{"id": "a", "events": {"0": [{"event": "TURN", "time": [0]}]}}', "channel 0: no event: "),
        ("", "is empty"),
    ],
)
def test_malformed_m3_lines_are_refused(line, message, tmp_path):
    path = tmp_path / "m3.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ScriptError, match=message):
        read_m3_lines(path)
