"""A built folder that is damaged: every command that reads the damage says so in a paragraph, and changes nothing."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from duplexkit.builders.built import dataset_digest
from duplexkit.builders.cli import main
from duplexkit.builders.listen.page import drawn_ids
from tests.conftest import build_tones
from tests.release import RELEASE_TOML, as_committed

SHARD = "pause_handling/en/test-00000-of-00001.parquet"
MANIFEST = "manifest.json"

RECIPE = """
name = "tones"
version = "1.0.0"
seed = 5
languages = ["en"]
licence = "CC-BY-4.0"
[speech]
engine = "tone"
[scenarios.pause_handling]
count = 2
length_s = [0.05, 120.0]
splits = {train = 0.5, test = 0.5}
"""

SPLITS = "[splits.test]\ncount = 1\n"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that can lie in one, as good as it was written."""
    from duplexkit.cards.describe import describe

    folder = build_tones(tmp_path_factory.mktemp("good"), RECIPE).folder
    as_committed(folder)
    (folder / "release.toml").write_text(RELEASE_TOML, encoding="utf-8")
    ids = drawn_ids(folder, n=2, seed=1)
    (folder / "rejects.jsonl").write_text(
        json.dumps({"id": "pause_handling/en/ph-099/0", "attempts": [{"reasons": ["too long"]}]}) + "\n"
    )
    (folder / "listening.json").write_text(
        json.dumps(
            {
                "dataset": dataset_digest(folder),
                "n_raters": 1,
                "n_items": 1,
                "questions": {"event": {"counts": {"yes": 1}, "kappa": None}},
            }
        )
    )
    (folder / "quality").mkdir()
    lines = [{"id": id_, "values": {"speech_s": 1.5}} for id_ in ids]
    (folder / "quality/values.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "quality/measures.json").write_text('{"speech": {"source": "tests", "version": "1"}}')
    counts = ("n_same", "n_other", "n_same_below", "n_same_above", "n_other_below", "n_other_above")
    gate = {"same_at_least": 0.8, "other_at_most": 0.9, **dict.fromkeys(counts, 1)}
    (folder / "quality/voice-gate.json").write_text(json.dumps(gate))
    describe(folder, repository="me/tones", version="1.0.0", plots=False, preview=False)
    return folder


Arguments = Callable[[Path, Path, Path], list[str]]
"""From the damaged folder, the good one and a free place to the arguments of a command."""

COMMANDS: dict[str, Arguments] = {
    "card": lambda bad, good, free: ["card", str(bad)],
    "preview": lambda bad, good, free: ["preview", str(bad)],
    "diff from": lambda bad, good, free: ["diff", str(bad), str(good)],
    "diff to": lambda bad, good, free: ["diff", str(good), str(bad)],
    "listen": lambda bad, good, free: ["listen", str(bad), "--sample", "1", "--out", str(free / "page.html")],
    "listen answers": lambda bad, good, free: ["listen", str(bad), "--answers", str(free / "answers.json")],
    "select": lambda bad, good, free: [
        *("select", str(bad), "--splits", str(free / "splits.toml"), "--out", str(free / "selected"))
    ],
    "check": lambda bad, good, free: ["check", str(bad)],
    "measure": lambda bad, good, free: [
        *("check", str(bad), "--measure", "silences", "--workers", "1", "--cache", str(free / "cache")),
        *("--out", str(free / "measured")),
    ],
    "publish": lambda bad, good, free: ["publish", str(bad), "--repo", "me/tones", "--version", "1.0.0"],
    "export": lambda bad, good, free: ["export", str(bad), str(free / "exported"), "--to", "audacity"],
    "variant": lambda bad, good, free: [
        *("variant", str(bad), "--set", "seed=9", "--out", str(free / "variant")),
        *("--workers", "1", "--cache", str(free / "cache")),
    ],
    "cache export": lambda bad, good, free: [
        *("cache", "--cache", str(free / "cache"), "export", str(free / "clips.zip"), "--build", str(bad))
    ],
}

ALL = tuple(COMMANDS)
READ_ROWS = tuple(name for name in ALL if name != "cache export")
SOME = ("card", "select", "check", "publish", "export", "variant")
"""Enough to see that a manifest is read in one place."""
DESCRIBE = ("card", "publish", "listen answers")

Damage = Callable[[Path], object]


def cut(name: str) -> Damage:
    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return damage


def emptied(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"")


def with_text(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def with_bytes(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"\xff\xfe\x00\x80 no text")


def without(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def flipped(folder: Path) -> None:
    """Change one bit in the middle of a shard: the file opens as before."""
    data = bytearray((folder / SHARD).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / SHARD).write_bytes(bytes(data))


def a_folder_at(name: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return damage


def a_file_at(name: str) -> Damage:
    def damage(folder: Path) -> None:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).write_text("mine", encoding="utf-8")

    return damage


def in_manifest(**changes: object) -> Damage:
    """Return a damage that sets or, with None, removes keys of the manifest, given as ``a__b``."""

    def damage(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        for key, value in changes.items():
            *inside, last = key.split("__")
            place = manifest
            for part in inside:
                place = place[part]
            if value is None:
                del place[last]
            else:
                place[last] = value
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    return damage


def bad_line(name: str) -> Damage:
    return lambda folder: (folder / name).write_text(
        (folder / name).read_text(encoding="utf-8") + "{ no JSON\n", encoding="utf-8"
    )


def stem_cut(folder: Path) -> None:
    path = sorted((folder / "stems").glob("*/*.flac"))[0]
    path.write_bytes(path.read_bytes()[:1000])


FACTS = {"sha256": "", "config": "pause_handling-en", "split": "test", "bytes": 1, "rows": 1, "seconds": 1.0}

DAMAGES: dict[str, tuple[Damage, str, tuple[str, ...]]] = {
    "manifest gone": (without(MANIFEST), MANIFEST, tuple(c for c in READ_ROWS if c != "measure")),
    "manifest empty": (emptied(MANIFEST), MANIFEST, READ_ROWS),
    "manifest a list": (with_text(MANIFEST, "[]"), MANIFEST, READ_ROWS),
    "manifest cut": (cut(MANIFEST), MANIFEST, READ_ROWS),
    "manifest no text": (with_bytes(MANIFEST), MANIFEST, SOME),
    "manifest a folder": (a_folder_at(MANIFEST), MANIFEST, READ_ROWS),
    "manifest nested deep": (with_text(MANIFEST, "[" * 100_000), MANIFEST, SOME),
    "manifest newer": (in_manifest(format=2), "newer duplexkit", READ_ROWS),
    "schema newer": (in_manifest(schema_version=2), "newer duplexkit", READ_ROWS),
    "manifest format a text": (in_manifest(format="1"), "format", SOME),
    "manifest without recipe": (in_manifest(recipe=None), "recipe", SOME),
    "manifest without files": (in_manifest(files=None), "files", SOME),
    "manifest without digest": (in_manifest(recipe_digest=None), "recipe_digest", SOME),
    "manifest recipe a text": (in_manifest(recipe="fdb"), "recipe", SOME),
    "manifest languages a number": (in_manifest(recipe__languages=5), "recipe.languages", SOME),
    "manifest files a list": (in_manifest(files=[]), "files", SOME),
    "manifest file a number": (in_manifest(files={SHARD: 3}), SHARD, SOME),
    "manifest file without hash": (
        in_manifest(files={SHARD: {"config": "pause_handling-en", "split": "test", "rows": 1}}),
        "sha256",
        SOME,
    ),
    "manifest file outside": (
        in_manifest(files={"../x.parquet": {**FACTS, "config": "x-en"}}),
        "../x.parquet",
        SOME,
    ),
    "shard gone": (without(SHARD), SHARD, READ_ROWS),
    "shard empty": (emptied(SHARD), SHARD, READ_ROWS),
    "shard cut": (cut(SHARD), SHARD, READ_ROWS),
    "shard one bit": (flipped, SHARD, READ_ROWS),
    "shard a folder": (a_folder_at(SHARD), SHARD, READ_ROWS),
    "rejects bad line": (
        bad_line("rejects.jsonl"),
        "rejects.jsonl line 2",
        (*DESCRIBE, "select", "cache export"),
    ),
    "rejects no attempt": (
        with_text("rejects.jsonl", '{"id": "x", "attempts": []}\n'),
        "rejects.jsonl",
        (*DESCRIBE, "select", "cache export"),
    ),
    "quality a list": (with_text("quality.json", "[]"), "quality.json", (*DESCRIBE, "select")),
    "quality cut": (cut("quality.json"), "quality.json", (*DESCRIBE, "select")),
    "quality wrong": (
        with_text("quality.json", '{"measures": {"wer": 3}}'),
        "measures.wer",
        (*DESCRIBE, "select"),
    ),
    "listening cut": (cut("listening.json"), "listening.json", ("card", "publish")),
    "listening wrong": (
        with_text("listening.json", '{"dataset": "", "n_raters": 2}'),
        "n_items",
        ("card", "publish"),
    ),
    "listening of another": (
        with_text("listening.json", '{"dataset": "0", "n_raters": 1, "n_items": 1, "questions": {}}'),
        "the ratings are of another dataset",
        ("card", "publish"),
    ),
    "values bad line": (bad_line("quality/values.jsonl"), "values.jsonl line 3", (*DESCRIBE, "select")),
    "values a text": (
        with_text("quality/values.jsonl", '{"id": "x", "values": {"wer": "low"}}\n'),
        "values.jsonl line 1: values.wer",
        (*DESCRIBE, "select"),
    ),
    "measures cut": (cut("quality/measures.json"), "measures.json", (*DESCRIBE, "select")),
    "voice gate cut": (cut("quality/voice-gate.json"), "voice-gate.json", DESCRIBE),
    "release.toml cut": (cut("release.toml"), "release.toml", DESCRIBE),
    "release.toml no text": (with_bytes("release.toml"), "release.toml", DESCRIBE),
    "changelog no text": (with_bytes("CHANGELOG.md"), "CHANGELOG.md", DESCRIBE),
    "card no text": (with_bytes("README.md"), "README.md", ("publish", "diff from")),
    "card without head": (with_text("README.md", "---\na: [\n---\n"), "README.md", ("publish", "diff from")),
    "card another head": (
        with_text("README.md", "---\ndataset_info: 3\n---\n"),
        "README.md",
        ("publish", "diff from"),
    ),
    "croissant cut": (cut("croissant.json"), "croissant.json", ("publish",)),
    "croissant a list": (with_text("croissant.json", "[]"), "croissant.json", ("publish",)),
    "citation no YAML": (with_text("CITATION.cff", "a: ["), "CITATION.cff", ("publish",)),
    "citation a list": (with_text("CITATION.cff", "[1]"), "CITATION.cff", ("publish",)),
    "speech cut": (cut("stems/speech.json"), "speech.json", ("select", "variant")),
    "speech a list": (with_text("stems/speech.json", "[]"), "speech.json", ("select", "variant")),
    "said cut": (cut("stems/said.jsonl"), "said.jsonl line", ("select", "variant", "cache export")),
    "said a list": (
        with_text("stems/said.jsonl", "[]\n"),
        "said.jsonl line 1",
        ("select", "variant", "cache export"),
    ),
    "said gone": (without("stems/said.jsonl"), "said.jsonl", ("variant", "cache export")),
    "a stem cut": (stem_cut, ".flac", ("check", "measure")),
    "plots a file": (a_file_at("plots"), "plots", ("card", "listen answers")),
    "preview a file": (a_file_at("preview"), "preview", ("card", "listen answers", "preview")),
}
"""What is done to the folder, what the message names, and which commands read it."""

CASES = [
    pytest.param(command, damage, id=f"{command}: {damage}")
    for damage, (_, _, commands) in DAMAGES.items()
    for command in commands
]


def state(folder: Path) -> dict[str, str]:
    """Return what lies in a folder: the hash of every file, and every folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


def run(
    command: str, bad: Path, good: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run a command on a folder; return exit code, what it printed, and what it said went wrong."""
    place.mkdir()
    (place / "splits.toml").write_text(SPLITS, encoding="utf-8")
    rating = {
        "rater": "a",
        "dataset": dataset_digest(good),
        "answers": {drawn_ids(good, n=1, seed=1)[0]: {"event": "yes"}},
    }
    (place / "answers.json").write_text(json.dumps(rating), encoding="utf-8")
    (place / "cache").mkdir()
    code = main(COMMANDS[command](bad, good, place))
    said = capsys.readouterr()
    return code, said.out, said.err[said.err.find("duplexkit: ") :] if "duplexkit: " in said.err else ""


@pytest.mark.parametrize(("command", "damage"), CASES)
def test_a_command_that_reads_it_says_so(
    command: str, damage: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_it, named, _ = DAMAGES[damage]
    bad = Path(shutil.copytree(good, tmp_path / "bad"))
    break_it(bad)
    before = state(bad)
    code, printed, said = run(command, bad, good, tmp_path / "free", capsys)
    assert code in (1, 2)
    if command == "check" and not said:  # it goes on with the rest and lists what it found
        assert named in printed and printed.endswith("findings\n")
    else:
        assert said.startswith("duplexkit: ") and named in said and "\n\n" not in said
    assert "Traceback" not in printed + said
    assert state(bad) == before
    written = {path.name for path in (tmp_path / "free").iterdir()} - {"splits.toml", "answers.json", "cache"}
    assert written == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_good_folder_is_taken(
    command: str,
    good: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens: publish gets so far
    copy = Path(shutil.copytree(good, tmp_path / "copy"))
    code, printed, said = run(command, copy, good, tmp_path / "free", capsys)
    if command == "publish":
        assert "127.0.0.1:9" in printed + said and "may not go out" not in said
    elif command == "cache export":
        assert "clips are not in the cache" in said  # tones are in another one
    else:
        assert (code, said) == (0, ""), printed + said


def test_answers_that_are_taken_in_again_mend_their_file(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = Path(shutil.copytree(good, tmp_path / "bad"))
    cut("listening.json")(bad)
    assert run("listen answers", bad, good, tmp_path / "free", capsys)[0] == 0
    assert json.loads((bad / "listening.json").read_text("utf-8"))["n_raters"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", [MANIFEST, SHARD, "quality.json", "rejects.jsonl", "stems/said.jsonl"])
@pytest.mark.parametrize("command", ["card", "select", "publish"])
def test_files_that_may_not_be_read_are_named(
    command: str, name: str, good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "stems/said.jsonl" and command != "select":
        pytest.skip("not read")
    bad = Path(shutil.copytree(good, tmp_path / "bad"))
    (bad / name).chmod(0)
    code, _, said = run(command, bad, good, tmp_path / "free", capsys)
    assert code in (1, 2) and name in said and "Traceback" not in said
