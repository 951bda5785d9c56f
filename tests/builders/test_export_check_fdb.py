"""The validator of Full-Duplex-Bench's folders: each broken by hand gives exactly the finding it should."""

import shutil
from pathlib import Path

import pytest

from tests.builders import exported as ex
from tests.builders.breaking import Break, Case, edit, put, wav

V15 = "en/v1_5/synthetic_own_user_backchannel"
V1 = "en/v1_0/synthetic_own_pause_handling"
TT = "en/v1_0/synthetic_turn_taking"
BC = "en/v1_0/synthetic_backchannel"

FDB: dict[str, Case] = {
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


@pytest.mark.parametrize(("break_it", "file", "rule"), FDB.values(), ids=FDB)
def test_a_broken_folder_gives_exactly_its_finding(
    tmp_path: Path, break_it: Break, file: str, rule: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ex.exported("fdb"), copy)
    break_it(copy)
    assert [(f.file, f.rule) for f in ex.findings(copy, "fdb")] == [(file, rule)]


def test_a_published_folder_as_users_have_it_validates(tmp_path: Path) -> None:
    """Names of Full-Duplex-Bench, one task's root given, no v1_0 above it."""
    root = tmp_path / "candor_pause_handling"
    shutil.copytree(ex.exported("fdb") / V1, root)
    assert ex.findings(root, "fdb") == []
    (root / "1" / "pause.json").unlink()
    assert [(f.file, f.rule) for f in ex.findings(root, "fdb")] == [("1/pause.json", "missing-file")]
