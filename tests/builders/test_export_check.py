"""Validators of the other formats, and what is common to all: a good folder has no findings."""

import shutil
import tarfile
from pathlib import Path

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.check import check_export
from tests.builders import exported as ex
from tests.builders.breaking import Break, Case, edit, edit_lines, wav

WAV = "en/test/data_stereo/mt_qa-en-qa-001-0"

MOSHI: dict[str, Case] = {
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
    *(pytest.param("moshi", *case, id=f"moshi: {name}") for name, case in MOSHI.items()),
    *(pytest.param(*case, id=name) for name, case in OTHERS.items()),
]


@pytest.mark.parametrize(("to", "break_it", "file", "rule"), EVERY)
def test_a_broken_folder_gives_exactly_its_finding(
    tmp_path: Path, to: str, break_it: Break, file: str, rule: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ex.exported(to), copy)
    break_it(copy)
    assert [(f.file, f.rule) for f in ex.findings(copy, to)] == [(file, rule)]


@pytest.mark.parametrize("to", FORMATS)
def test_what_we_write_has_no_findings(to: str) -> None:
    assert list(check_export(ex.exported(to), FORMATS[to])) == []


@pytest.mark.parametrize("to", FORMATS)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, to: str) -> None:
    (tmp_path / "notes.md").write_text("nothing")
    with pytest.raises(ReleaseError, match=str(tmp_path)):
        ex.findings(tmp_path, to)
