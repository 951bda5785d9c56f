"""Same recipe, same bytes: whatever else is built, in whatever order, and however often it is killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.write import read_rows
from duplexkit.scenarios.bank import load_scripts
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    rows = [row for path in sorted(folder.glob("*/*/*.parquet")) for row in read_rows(path)]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


def shards_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*/*/*.parquet"))
    }


def test_only_gives_the_rows_of_the_full_build(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text()
    full = rows_of(tone_build(text, tmp_path / "full").folder)
    part = rows_of(tone_build(text, tmp_path / "part", only=("user_interruption-en", "mt_qa")).folder)
    assert {row["language"] for row in part.values() if row["scenario"] == "user_interruption"} == {"en"}
    assert {row["scenario"] for row in part.values()} == {"user_interruption", "mt_qa"}
    assert part == {id_: full[id_] for id_ in part}


def test_growing_a_recipe_changes_no_earlier_row(tone_build: Build, tmp_path: Path) -> None:
    small = rows_of(
        tone_build(tone_recipe_text("pause_handling", "user_backchannel"), tmp_path / "small").folder
    )
    text = tone_recipe_text("mt_qa", "user_backchannel", "pause_handling", count=130)
    text = text.replace("[scenarios.mt_qa]\ncount = 130", "[scenarios.mt_qa]\ncount = 1")
    large = rows_of(tone_build(text, tmp_path / "large").folder)
    assert small == {id_: large[id_] for id_ in small}
    assert any(id_.endswith("/1") for id_ in large), "a count above the bank becomes further takes"


def test_takes_of_a_script_differ_in_voice_or_timing(tone_build: Build) -> None:
    text = tone_recipe_text("user_backchannel", count=100)
    rows = rows_of(tone_build(text, only=("user_backchannel-en",)).folder)
    first, second = (rows[f"user_backchannel/en/ub-001/{take}"] for take in (0, 1))
    assert first["turns"][0]["text"] == second["turns"][0]["text"]
    assert first["input"]["bytes"] != second["input"]["bytes"]


def test_a_finished_folder_is_never_replaced_unasked(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_backchannel")
    before = shards_of(tone_build(text).folder)
    with pytest.raises(ReleaseError, match="--overwrite"):
        tone_build(tone_recipe_text("user_backchannel", seed=6))
    assert shards_of(tmp_path / "out") == before
    after = shards_of(tone_build(tone_recipe_text("user_backchannel", seed=6), overwrite=True).folder)
    assert set(after) == set(before) and all(after[name] != before[name] for name in before)


def test_a_build_finds_nothing_wrong_with_itself_and_planted_faults(tone_build: Build) -> None:
    folder = tone_build(tone_recipe_text("talking_to_others", "mt_qa", "pause_handling")).folder
    assert list(check_folder(folder, lambda done, total: None)) == []
    stem = next(folder.glob("stems/*/*.flac"))
    stem.write_bytes(stem.read_bytes()[:-100])
    assert {finding.name for finding in check_folder(folder, lambda done, total: None)} == {"stem"}
    shard = next(folder.glob("mt_qa/en/*.parquet"))
    shard.write_bytes(shard.read_bytes() + b"x")
    assert {"file"} <= {finding.name for finding in check_folder(folder, lambda done, total: None)}


def test_bad_samples_are_tried_again_then_listed(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_backchannel", count=12).replace("[0.05, 120.0]", "[0.05, 0.15]")
    text = text.replace("[speech]", "[checks]\nmax_rejected_fraction = 0.9\nattempts = 2\n[speech]")
    result = tone_build(text, only=("user_backchannel-en",))
    rejects = [json.loads(line) for line in (result.folder / "rejects.jsonl").read_text().splitlines()]
    assert len(rejects) == len(result.rejects) > 0
    assert all(len(reject["attempts"]) == 2 for reject in rejects)
    assert "speech_length" in rejects[0]["attempts"][-1]["reasons"][0]
    kept = rows_of(result.folder)
    for row in kept.values():
        assert row["events"][-1]["offset_s"] - row["events"][-1]["onset_s"] <= 0.15
    assert not {reject["id"] for reject in rejects} & set(kept)
    with pytest.raises(ReleaseError, match="max_rejected_fraction"):
        tone_build(text.replace("0.9", "0.01"), tmp_path / "strict", only=("user_backchannel-en",))
    assert not (tmp_path / "strict").exists()


def test_nothing_is_spoken_twice(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_interruption")
    ToneSpeaker.n_spoken = 0
    first = tone_build(text)
    assert first.n_spoken == ToneSpeaker.n_spoken > 0
    second = tone_build(text, overwrite=True)
    assert second.n_spoken == 0 and ToneSpeaker.n_spoken == first.n_spoken


def test_a_damaged_cache_entry_is_spoken_anew(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_interruption")
    before = shards_of(tone_build(text).folder)
    entries = sorted((tmp_path / "cache" / "tone").rglob("*.zip"))
    damaged = bytearray(entries[0].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    entries[0].write_bytes(bytes(damaged))
    again = tone_build(text, overwrite=True)
    assert again.n_spoken == 1 and shards_of(again.folder) == before


HIBARI = """
name = "bytes"
version = "1.0.0"
seed = 11
languages = ["en"]
licence = "CC-BY-4.0"
[speech]
engine = "hibari"
[checks]
max_rejected_fraction = 1.0
[scenarios.user_interruption]
count = 6
[scenarios.pause_handling]
count = 6
preset = "tailed"
[scenarios.backchannel]
count = 4
"""


def command(recipe: Path, out: Path, cache: Path, workers: int) -> list[str]:
    arguments = ["build", str(recipe), "--out", str(out), "--cache", str(cache), "--workers", str(workers)]
    return [sys.executable, "-m", "duplexkit.builders", *arguments]


def n_entries(cache: Path) -> int:
    return len(list(cache.glob("hibari/*/*.zip")))


@pytest.mark.slow
def test_workers_and_kills_change_nothing(tmp_path: Path) -> None:
    """Two builds, with 1 and 2 workers, and one killed half-way and resumed; each with its own cache."""
    recipe = tmp_path / "bytes.toml"
    recipe.write_text(HIBARI)
    for workers in (1, 2):
        done = subprocess.run(
            command(recipe, tmp_path / f"w{workers}", tmp_path / f"cache{workers}", workers),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert shards_of(tmp_path / "w1") == shards_of(tmp_path / "w2") != {}

    killed = command(recipe, tmp_path / "k", tmp_path / "cachek", 2)
    process = subprocess.Popen(
        killed, start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "k.partial").glob("rows/*/*.parquet"))) < 5:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "k").exists(), "no half-written dataset under its final name"
    spoken_before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cachek").glob("hibari/*/*.zip")}
    assert 0 < len(spoken_before) < n_entries(tmp_path / "cache1")

    (tmp_path / f"k.partial/stems/.{'0' * 32}.tmp").write_bytes(b"what a kill may leave")
    resumed = subprocess.run(killed, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    assert not list((tmp_path / "k").rglob("*.tmp"))
    assert shards_of(tmp_path / "k") == shards_of(tmp_path / "w1")
    n_spoken = int(resumed.stdout.split(" utterances spoken")[0].split()[-1])
    assert n_spoken == n_entries(tmp_path / "cachek") - len(spoken_before), "no utterance is spoken twice"
    assert all(path.stat().st_mtime_ns == at for path, at in spoken_before.items())


def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the ray extra")
    recipe = tmp_path / "bytes.toml"
    recipe.write_text(HIBARI.split("[scenarios.pause_handling]")[0])
    for engine in ("local", "ray"):
        arguments = [*command(recipe, tmp_path / engine, tmp_path / "cache", 2), "--engine", engine]
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert shards_of(tmp_path / "local") == shards_of(tmp_path / "ray") != {}


def test_a_changed_script_is_spoken_anew_on_resume(tone_build: Build, tmp_path: Path) -> None:
    """What lies in the unfinished folder is taken up only where text and all else are the same."""
    bank = tmp_path / "bank" / "en"
    bank.mkdir(parents=True)
    script = {
        "turns": [{"role": "user", "text": "One two three."}],
        "domain": "music",
        "register": "neutral",
        "source": "tests",
        "licence": "CC0-1.0",
    }
    lines = [json.dumps({"id": f"st-00{i}", **script}) for i in (1, 2)]
    (bank / "smooth_turn_taking.jsonl").write_text("\n".join(lines))
    text = tone_recipe_text("smooth_turn_taking").replace('["en", "ja"]', '["en"]')
    text = 'scripts = "bank"\n' + text
    partial = tmp_path / "out.partial"

    def stop(folder: Path) -> None:
        raise KeyboardInterrupt  # after all samples are made, before the folder has its name

    with pytest.raises(KeyboardInterrupt):
        tone_build(text, describe=stop)
    assert len(list(partial.glob("rows/*/*.parquet"))) == 2
    (bank / "smooth_turn_taking.jsonl").write_text(lines[0] + "\n" + lines[1].replace("three", "four"))
    load_scripts.cache_clear()
    result = tone_build(text)
    assert result.n_resumed == 1 and result.n_spoken == 1
    assert {row["turns"][0]["text"] for row in rows_of(result.folder).values()} == {
        "One two three.",
        "One two four.",
    }
    assert not partial.exists()


def test_a_folder_of_somebody_elses_is_never_replaced(tone_build: Build, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError, match="no folder that duplexkit wrote"):
        tone_build(tone_recipe_text("user_backchannel"), overwrite=True)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"
