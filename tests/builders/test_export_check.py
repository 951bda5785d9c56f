"""Validators: each folder broken by hand gives exactly the finding it should, and a good one none."""

import gzip
import json
import shutil
import tarfile
import wave
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duplexkit import ReleaseError
from duplexkit.builders.export import FORMATS
from tests.builders import exported as ex


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @cache
    def exported(to: str) -> Path:
        place = tmp_path_factory.mktemp(to) / "out"
        ex.run(ex.everything(), place, to, dataset="tones")
        return place

    return exported


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(change(content), ensure_ascii=False), encoding="utf-8")


def edit_lines(path: Path, change: Callable[[list[Any]], None]) -> None:
    packed = path.suffix == ".gz"
    text = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    change(lines)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())


def put(**fields: Any) -> Callable[[Any], Any]:
    return lambda content: {**content, **fields}


def wav(path: Path, *, rate: int = 16000, channels: int = 1, width: int = 2, n: int | None = None) -> None:
    """Write a file of another form in place of a sound, as long as it."""
    with wave.open(str(path)) as file:
        seconds = file.getnframes() / file.getframerate()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        size = round(seconds * rate) if n is None else n
        file.writeframes(np.zeros(size * channels * width, dtype=np.uint8).tobytes())


V15 = "en/v1_5/synthetic_own_user_backchannel"
V1 = "en/v1_0/synthetic_own_pause_handling"
TT = "en/v1_0/synthetic_turn_taking"
BC = "en/v1_0/synthetic_backchannel"

Break = Callable[[Path], Any]

FDB: dict[str, tuple[Break, str, str]] = {
    "no input": (lambda p: (p / V15 / "1/input.wav").unlink(), f"{V15}/1/input.wav", "missing-file"),
    "no clean input": (
        lambda p: (p / V15 / "0/clean_input.wav").unlink(),
        f"{V15}/0/clean_input.wav",
        "missing-file",
    ),
    "no transcript of the input": (
        lambda p: (p / V15 / "0/input.json").unlink(),
        f"{V15}/0/input.json",
        "missing-file",
    ),
    "no turn_taking.json": (
        lambda p: (p / TT / "0/turn_taking.json").unlink(),
        f"{TT}/0/turn_taking.json",
        "missing-file",
    ),
    "file at the task's root": (
        lambda p: (p / TT / "ids.json").write_text("{}"),
        f"{TT}/ids.json",
        "file-at-task-root",
    ),
    "folder without digits": (lambda p: (p / TT / "0").rename(p / TT / "a0"), f"{TT}/a0", "no-digit-folder"),
    "nested folder": (lambda p: (p / V15 / "0/old").mkdir(), f"{V15}/0/old", "nested-folder"),
    "24 kHz": (lambda p: wav(p / TT / "0/input.wav", rate=24000), f"{TT}/0/input.wav", "wrong-rate"),
    "stereo": (lambda p: wav(p / TT / "0/input.wav", channels=2), f"{TT}/0/input.wav", "not-mono"),
    "24 bits": (lambda p: wav(p / TT / "0/input.wav", width=3), f"{TT}/0/input.wav", "not-pcm16"),
    "no sound file": (
        lambda p: (p / TT / "0/input.wav").write_text("x"),
        f"{TT}/0/input.wav",
        "unreadable-sound",
    ),
    "clean input shorter": (
        lambda p: wav(p / V15 / "0/clean_input.wav", n=16000 * 10),
        f"{V15}/0/clean_input.wav",
        "other-length",
    ),
    "pauses out of order": (
        lambda p: edit(
            p / V1 / "0/pause.json",
            lambda c: [{**c[0], "timestamp": [2.0, 2.5]}, {**c[0], "timestamp": [1.0, 1.5]}],
        ),
        f"{V1}/0/pause.json",
        "unordered-times",
    ),
    "end before start": (
        lambda p: edit(p / V15 / "0/metadata.json", put(timestamps=[5.0, 4.0])),
        f"{V15}/0/metadata.json",
        "unordered-times",
    ),
    "past the end": (
        lambda p: edit(p / V15 / "0/metadata.json", put(timestamps=[5.0, 400.0])),
        f"{V15}/0/metadata.json",
        "past-the-end",
    ),
    "a None among the chunks": (
        lambda p: edit(
            p / V15 / "0/input.json", lambda c: put(chunks=[{"text": "a", "timestamp": [1.0, None]}])(c)
        ),
        f"{V15}/0/input.json",
        "no-times",
    ),
    "no chunks": (
        lambda p: edit(p / V15 / "0/clean_input.json", put(chunks=[])),
        f"{V15}/0/clean_input.json",
        "no-words",
    ),
    "no text of the turn": (
        lambda p: edit(p / V15 / "0/metadata.json", put(current_turn_text=None)),
        f"{V15}/0/metadata.json",
        "no-metadata",
    ),
    "another tag": (
        lambda p: edit(p / V1 / "0/pause.json", lambda c: [{**c[0], "text": "[pause]"}]),
        f"{V1}/0/pause.json",
        "no-events",
    ),
    "broken JSON": (
        lambda p: (p / V1 / "0/pause.json").write_text("[{"),
        f"{V1}/0/pause.json",
        "unreadable-json",
    ),
    "no key in the distribution": (
        lambda p: edit(p / f"{BC}_gt_distribution.json", lambda c: {k: v for k, v in c.items() if k != "1"}),
        f"{BC}/1",
        "no-distribution",
    ),
    "no distribution": (
        lambda p: (p / f"{BC}_gt_distribution.json").unlink(),
        f"{BC}_gt_distribution.json",
        "missing-file",
    ),
    "a task nobody knows": (
        lambda p: (p / TT).rename(p / "en/v1_0/synthetic_shouting"),
        "en/v1_0/synthetic_shouting",
        "unknown-task",
    ),
    "a model's transcript without times": (
        lambda p: (p / V15 / "0/output.json").write_text(
            '{"text": "", "chunks": [{"text": "a", "timestamp": null}]}'
        ),
        f"{V15}/0/output.json",
        "no-times",
    ),
}

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


M3: dict[str, tuple[Break, str, str]] = {
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

WAV = "en/test/data_stereo/mt_qa-en-qa-001-0"

MOSHI: dict[str, tuple[Break, str, str]] = {
    "no sound": (lambda p: (p / f"{WAV}.wav").unlink(), f"{WAV}.wav", "missing-file"),
    "no words": (lambda p: (p / f"{WAV}.json").unlink(), f"{WAV}.json", "missing-file"),
    "mono": (lambda p: wav(p / f"{WAV}.wav", rate=24000), f"{WAV}.wav", "not-stereo"),
    "unsorted": (
        lambda p: edit(
            p / f"{WAV}.json",
            lambda c: {"alignments": [c["alignments"][1], c["alignments"][0], *c["alignments"][2:]]},
        ),
        f"{WAV}.json",
        "unordered-times",
    ),
    "nobody to learn from": (
        lambda p: edit(
            p / f"{WAV}.json", lambda c: {"alignments": [[w, s, "SPEAKER_01"] for w, s, _ in c["alignments"]]}
        ),
        f"{WAV}.json",
        "no-main-speaker",
    ),
    "another list below": (
        lambda p: (p / "en/notes.jsonl").write_text('{"id": 1}\n'),
        "en/notes.jsonl",
        "no-entry",
    ),
    "another duration": (
        lambda p: edit_lines(p / "en/test/data.jsonl", lambda ls: ls[0].update(duration=1.0)),
        "en/test/data.jsonl",
        "wrong-duration",
    ),
    "an absolute path": (
        lambda p: edit_lines(p / "en/test/data.jsonl", lambda ls: ls[0].update(path=str(p / f"{WAV}.wav"))),
        "en/test/data.jsonl",
        "absolute-path",
    ),
}


def without_labels(p: Path) -> None:
    path, beside = p / "shard-000000.tar", p / "new"
    with tarfile.open(path) as old, tarfile.open(beside, "w") as new:
        for member in old:
            if member.name != "mt_qa-en-qa-001-0.json":
                new.addfile(member, old.extractfile(member))
    beside.replace(path)


ROW = "mt_qa-en-qa-001-0"

OTHERS: dict[str, tuple[str, Break, str, str]] = {
    "lhotse: no sound": (
        "lhotse",
        lambda p: (p / f"audio/{ROW}.wav").unlink(),
        f"audio/{ROW}.wav",
        "missing-file",
    ),
    "lhotse: other rate": (
        "lhotse",
        lambda p: edit_lines(
            p / "recordings-test.jsonl.gz",
            lambda ls: ls[0].update(sampling_rate=48000, num_samples=2 * ls[0]["num_samples"]),
        ),
        "recordings-test.jsonl.gz",
        "other-sound",
    ),
    "nemo: an unknown speaker": (
        "nemo",
        lambda p: edit_lines(
            p / "cuts-test.jsonl.gz", lambda ls: ls[0]["supervisions"][0].update(speaker="bob")
        ),
        "cuts-test.jsonl.gz",
        "unknown-speaker",
    ),
    "webdataset: no labels": ("webdataset", without_labels, "shard-000000.tar", "missing-member"),
    "rttm: a field too few": (
        "rttm",
        lambda p: (p / "test.rttm").write_text(f"SPEAKER {ROW} 1 0.5 0.5 <NA> <NA> a <NA>\n"),
        "test.rttm",
        "wrong-fields",
    ),
    "ctm: past the end": (
        "rttm",
        lambda p: (p / "test.ctm").write_text(f"{ROW} 1 900.0 0.5 word 1.0\n"),
        "test.ctm",
        "past-the-end",
    ),
    "textgrid: no sound": (
        "textgrid",
        lambda p: (p / f"test/{ROW}.wav").unlink(),
        f"test/{ROW}.wav",
        "missing-file",
    ),
    "textgrid: an interval lost": (
        "textgrid",
        lambda p: (p / f"test/{ROW}.TextGrid").write_text(
            (p / f"test/{ROW}.TextGrid")
            .read_text("utf-8")
            .replace("intervals: size = ", "intervals: size = 9", 1),
            "utf-8",
        ),
        f"test/{ROW}.TextGrid",
        "wrong-size",
    ),
    "audacity: commas": (
        "audacity",
        lambda p: (p / f"test/{ROW}.turns.txt").write_text("0.5,0.7,word\n"),
        f"test/{ROW}.turns.txt",
        "wrong-fields",
    ),
}

EVERY = [
    *(pytest.param("fdb", *case, id=f"fdb: {name}") for name, case in FDB.items()),
    *(pytest.param("m3", *case, id=f"m3: {name}") for name, case in M3.items()),
    *(pytest.param("moshi", *case, id=f"moshi: {name}") for name, case in MOSHI.items()),
    *(pytest.param(*case, id=name) for name, case in OTHERS.items()),
]


@pytest.mark.parametrize(("to", "break_it", "file", "rule"), EVERY)
def test_a_broken_folder_gives_exactly_its_finding(
    good: Callable[[str], Path], tmp_path: Path, to: str, break_it: Break, file: str, rule: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(good(to), copy)
    break_it(copy)
    assert [(f.file, f.rule) for f in ex.findings(copy, to)] == [(file, rule)]


@pytest.mark.parametrize("to", FORMATS)
def test_what_we_write_has_no_findings(good: Callable[[str], Path], to: str) -> None:
    assert ex.findings(good(to), to) == []


@pytest.mark.parametrize("to", FORMATS)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, to: str) -> None:
    (tmp_path / "notes.md").write_text("nothing")
    with pytest.raises(ReleaseError, match=str(tmp_path)):
        ex.findings(tmp_path, to)


def test_a_published_folder_as_users_have_it_validates(tmp_path: Path, good: Callable[[str], Path]) -> None:
    """Names of Full-Duplex-Bench, one task's root given, no v1_0 above it."""
    root = tmp_path / "candor_pause_handling"
    shutil.copytree(good("fdb") / V1, root)
    assert ex.findings(root, "fdb") == []
    (root / "1" / "pause.json").unlink()
    assert [(f.file, f.rule) for f in ex.findings(root, "fdb")] == [("1/pause.json", "missing-file")]
