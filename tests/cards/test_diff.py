"""What changed between two releases, and the version that asks for."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from duplexkit import ReleaseError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.write import sha256_of, write_split
from duplexkit.cards.changelog import versions
from duplexkit.cards.diff import diff_folders
from duplexkit.cards.write_entry import open_release, write_entry
from tests.release import release_folder

EN = "pause_handling/en/test-00000-of-00001.parquet"
made: dict[str, Path] = {}


@pytest.fixture
def old(tone_build: Callable[..., BuildResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not made:
        made["old"] = release_folder(
            tone_build, tmp_path_factory.mktemp("diff") / "old", "pause_handling", "mt_qa"
        )
    return made["old"]


@pytest.fixture
def new(old: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(old, tmp_path / "new"))


def edit(folder: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    path = folder / EN
    rows = change(pq.read_table(path).to_pylist())
    write_split(path.parent, "test", iter(rows), 24000)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][EN].update(sha256=sha256_of(path), bytes=path.stat().st_size, rows=len(rows))
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_nothing(old: Path, new: Path) -> None:
    found = diff_folders(old, new)
    assert found.level == "none" and found.lines() == ("Audio unchanged.",)


def test_a_card_only_change_is_a_patch(old: Path, new: Path) -> None:
    (new / "README.md").write_text("other")
    assert (diff_folders(old, new).level, diff_folders(old, new).papers) == ("patch", ("README.md",))


def test_a_corrected_label_is_major(old: Path, new: Path) -> None:
    def relabel(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[0]["turns"][0]["text"] = "other"
        return rows

    edit(new, relabel)
    found = diff_folders(old, new)
    assert found.level == "major" and found.columns == {"turns": 1} and found.audio == {}
    assert found.lines() == ("Column `turns` changed in 1 rows.", "Audio unchanged.")


def test_one_changed_sample_is_changed_audio(old: Path, new: Path) -> None:
    def louder(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        samples, rate = soundfile.read(io.BytesIO(rows[0]["input"]["bytes"]), dtype="int16")
        samples[100] += 1
        rows[0]["input"]["bytes"] = encoded(samples, rate)
        return rows

    edit(new, louder)
    found = diff_folders(old, new)
    assert found.level == "major" and found.audio == {"input": 1} and found.columns == {}


def test_a_new_encoding_of_the_same_samples_is_no_change(old: Path, new: Path) -> None:
    def again(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        samples, rate = soundfile.read(io.BytesIO(rows[0]["input"]["bytes"]), dtype="int16")
        before = rows[0]["input"]["bytes"]
        rows[0]["input"]["bytes"] = encoded(samples, rate, compression_level=0.0)
        assert rows[0]["input"]["bytes"] != before
        return rows

    edit(new, again)
    assert diff_folders(old, new).audio == {}


def encoded(samples: np.ndarray, rate: int, **options: Any) -> bytes:
    data = io.BytesIO()
    soundfile.write(data, samples, rate, format="FLAC", subtype="PCM_16", **options)
    return data.getvalue()


def test_added_rows_are_minor_and_removed_ones_major(old: Path, new: Path) -> None:
    def more(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*rows, {**rows[0], "id": "pause_handling/en/new/0"}]

    edit(new, more)
    forth, back = diff_folders(old, new), diff_folders(new, old)
    assert (forth.level, forth.added) == ("minor", ("pause_handling/en/new/0",))
    assert (back.level, back.removed) == ("major", ("pause_handling/en/new/0",))


def test_a_moved_split_is_major(old: Path, new: Path) -> None:
    edit(new, lambda rows: [{**rows[0], "split": "train"}, *rows[1:]])
    assert len(diff_folders(old, new).moved) == 1 and diff_folders(old, new).level == "major"


def test_other_origin_alone_is_minor(old: Path, new: Path) -> None:
    edit(new, lambda rows: [{**row, "provenance": {**row["provenance"], "attempt": 9}} for row in rows])
    assert (diff_folders(old, new).level, diff_folders(old, new).columns) == ("minor", {"provenance": 2})


def test_the_command_writes_the_entry(old: Path, new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    from duplexkit.cards.commands import add_commands

    edit(new, lambda rows: rows[1:])
    app = typer.Typer()
    add_commands(app)
    app(["diff", str(old), str(new), "--write"], standalone_mode=False)
    assert "MAJOR: 1.0.0 -> 2.0.0" in capsys.readouterr().out
    text = (new / "CHANGELOG.md").read_text(encoding="utf-8")
    assert versions(text) == ("2.0.0", "1.0.0") and "- Rows removed: 1 (pause_handling/en/" in text
    write_entry(new, old, version="2.0.0", lines=("again",))
    assert versions((new / "CHANGELOG.md").read_text(encoding="utf-8")) == ("2.0.0", "1.0.0")


def test_what_is_no_release_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"neither a folder nor ORG/NAME@vX\.Y\.Z"):
        open_release(str(tmp_path / "none"))
