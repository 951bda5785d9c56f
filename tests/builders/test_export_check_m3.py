"""The validator of M3-DuplexBench's data sets: each broken by hand gives exactly the finding it should."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import exported as ex
from tests.builders.breaking import Break, Case, edit_lines, wav

SET = "data/en/task/tones"
LIST = f"{SET}/test.jsonl"
ALIGN = f"{SET}/txt_align/mt_qa-en-qa-001-0.txt"
SOUND = f"{SET}/audio/mt_qa-en-qa-001-0.wav"


def m3_event(kind: str, change: Callable[[dict[str, Any]], None], channel: str = "0") -> Break:
    """Return a function that changes the first event of a kind in the first dialogue."""

    def broken(p: Path) -> None:
        def first(lines: list[Any]) -> None:
            change(next(e for e in lines[0]["events"][channel] if e["event"] == kind))

        edit_lines(p / LIST, first)

    return broken


def m3_line(number: int, text: Callable[[str], str]) -> Break:
    def broken(p: Path) -> None:
        lines = (p / ALIGN).read_text("utf-8").splitlines()
        lines[number] = text(lines[number])
        (p / ALIGN).write_text("\n".join(lines) + "\n", encoding="utf-8")

    return broken


def without_first_answer(p: Path) -> None:
    lines = (p / ALIGN).read_text("utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("0\t"))
    (p / ALIGN).write_text("\n".join(lines[:at] + lines[at + 1 :]) + "\n", encoding="utf-8")


M3: dict[str, Case] = {
    "no sound": (lambda p: (p / SOUND).unlink(), SOUND, "missing-file"),
    "one channel": (lambda p: wav(p / SOUND), SOUND, "not-two-channels"),
    "no words": (lambda p: (p / ALIGN).unlink(), ALIGN, "missing-file"),
    "unknown event": (m3_event("SHORTPAUSE", lambda e: e.update(event="PAUSE")), LIST, "unknown-event"),
    "unmatched shift": (
        m3_event("TURN_SHIFT", lambda e: e.update(time=[round(e["time"][0] - 0.01, 2), e["time"][1]])),
        LIST,
        "unmatched-shift",
    ),
    "three decimals": (
        m3_event("SHORTPAUSE", lambda e: e.update(time=[e["time"][0], e["time"][1] - 0.001])),
        LIST,
        "more-than-two-decimals",
    ),
    "a pause outside its turn": (
        lambda p: edit_lines(
            p / LIST,
            lambda ls: ls[0]["events"]["0"].append({"event": "SHORTPAUSE", "time": [44.0, 44.1]}),
        ),
        LIST,
        "pause-outside-turn",
    ),
    "events out of order": (
        lambda p: edit_lines(
            p / LIST,
            lambda ls: ls[0]["events"]["0"].append(
                next(e for e in ls[0]["events"]["0"] if e["event"] == "SHORTPAUSE")
            ),
        ),
        LIST,
        "unordered-times",
    ),
    "past the end": (
        lambda p: edit_lines(
            p / LIST, lambda ls: ls[0]["events"]["1"].append({"event": "BC", "time": [900.0, 900.5]})
        ),
        LIST,
        "past-the-end",
    ),
    "a long backchannel": (
        lambda p: edit_lines(
            p / LIST, lambda ls: ls[0]["events"]["1"].append({"event": "BC", "time": [40.0, 41.0]})
        ),
        LIST,
        "long-backchannel",
    ),
    "an unmatched hold": (
        lambda p: edit_lines(
            p / LIST, lambda ls: ls[0]["events"]["1"].append({"event": "TURN_HOLD", "time": [40.0, 41.0]})
        ),
        LIST,
        "unmatched-hold",
    ),
    "an unmatched barge-in": (
        lambda p: edit_lines(
            p / LIST, lambda ls: ls[0]["events"]["1"].append({"event": "BARGE_IN", "time": [40.0, 41.0]})
        ),
        LIST,
        "unmatched-barge-in",
    ),
    "a dialogue twice": (lambda p: edit_lines(p / LIST, lambda ls: ls.append(ls[0])), LIST, "id-twice"),
    "three fields": (m3_line(3, lambda line: line.replace("\t", " ", 1)), ALIGN, "no-four-fields"),
    "a word that ends before it starts": (
        m3_line(-1, lambda line: "\t".join([line.split("\t")[0], line.split("\t")[1], "0.00", "word"])),
        ALIGN,
        "unordered-times",
    ),
    "no word where a shift ends": (without_first_answer, ALIGN, "no-word-at-shift"),
}


@pytest.mark.parametrize(("break_it", "file", "rule"), M3.values(), ids=M3)
def test_a_broken_folder_gives_exactly_its_finding(
    tmp_path: Path, break_it: Break, file: str, rule: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ex.exported("m3"), copy)
    break_it(copy)
    assert [(f.file, f.rule) for f in ex.findings(copy, "m3")] == [(file, rule)]
