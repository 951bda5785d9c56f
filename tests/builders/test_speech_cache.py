"""The cache under two processes at once, its care, and its clips as one file."""

import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from duplexkit import ReleaseError, SpeechError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.cache_care import Entry, entries, to_prune
from duplexkit.builders.cli import main
from duplexkit.builders.speakers import SpeechRequest
from duplexkit.builders.speech_archive import clips_of_build, clips_of_cache, export_clips, import_clips
from duplexkit.builders.speech_cache import get_or_speak, is_whole
from tests.builders.test_build import shards_of
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]

RACER = """
import hashlib, os, sys, time
from pathlib import Path
import numpy as np
from duplexkit.builders.speakers import Clip, SpeechRequest
from duplexkit.builders.speech_cache import get_or_speak
from duplexkit.scenarios.conversation import Voice

folder = Path(sys.argv[1])

class Speaker:
    engine, version, uses_seed, licence = "racer", "1", False, "CC0-1.0"
    def speak(self, request):
        with (folder / "spoken").open("a") as log:
            log.write(request.text + "\\n")
        n = int(request.text)
        samples = np.random.default_rng(n).standard_normal(2000 + n).astype(np.float32)
        return Clip(samples=samples, sample_rate_hz=24000, words=None, word_time_source="")

voice = Voice(id="v", engine="racer", languages=("en",), gender="", accent="", licence="", attribution="",
              mix=(("v", 1.0),))
(folder / f"ready-{sys.argv[2]}").touch()
while not (folder / "go").exists():
    time.sleep(0.001)
start_s = float((folder / "go").read_text())
counts = {"spoken": 0, "cached": 0}
def count(what):
    counts[what] += 1
digest = hashlib.sha256()
for n in range(200):
    time.sleep(max(0.0, start_s + 0.008 * n - time.time()))
    request = SpeechRequest(text=str(n), language="en", voice=voice)
    _, clip = get_or_speak(folder / "cache", Speaker(), request, count)
    digest.update(clip.samples.tobytes())
print(digest.hexdigest(), counts["spoken"], counts["cached"])
"""


def test_two_processes_race_200_times(tmp_path: Path) -> None:
    """Both want the same 200 clips at the same moment: each is spoken once, and none is torn."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(i)], stdout=subprocess.PIPE, text=True
        )
        for i in range(2)
    ]
    while len(list(tmp_path.glob("ready-*"))) < 2:
        assert all(racer.poll() is None for racer in racers)
    (tmp_path / "go.tmp").write_text(str(time.time() + 0.1))
    (tmp_path / "go.tmp").rename(tmp_path / "go")
    said = [racer.communicate(timeout=120)[0].split() for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0]
    (first, *n_first), (second, *n_second) = said
    assert first == second, "both heard the same"
    assert int(n_first[0]) + int(n_second[0]) == 200 and int(n_first[1]) + int(n_second[1]) == 200
    assert min(int(n_first[0]), int(n_second[0])) > 0, "they did race"
    assert sorted(map(int, (tmp_path / "spoken").read_text().split())) == list(range(200))
    found = list(entries(tmp_path / "cache"))
    assert len(found) == 200 and all(is_whole(entry.path) for entry in found)
    assert not list((tmp_path / "cache").rglob("*.tmp"))


@pytest.mark.slow
def test_two_builds_at_once_speak_nothing_twice(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'name = "race"\nversion = "1.0.0"\nseed = 1\nlanguages = ["en"]\nlicence = "CC0-1.0"\n'
        '[speech]\nengine = "hibari"\n[scenarios.user_backchannel]\ncount = 12\n'
    )
    builds = [
        subprocess.Popen(
            [sys.executable, "-m", "duplexkit.builders", "build", str(recipe), "--out", str(tmp_path / name),
             "--cache", str(tmp_path / "cache"), "--workers", "2"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]  # fmt: skip
    told = [build.communicate(timeout=300)[0] for build in builds]
    assert [build.returncode for build in builds] == [0, 0]
    n_spoken = [int(text.split(" utterances spoken")[0].split()[-1]) for text in told]
    assert sum(n_spoken) == len(list(entries(tmp_path / "cache")))
    assert shards_of(tmp_path / "a") == shards_of(tmp_path / "b") != {}


def fill(cache: Path, n: int) -> list[str]:
    speaker = ToneSpeaker(cache)
    voice = speaker.voices()["tone-a"]
    return [
        get_or_speak(
            cache,
            speaker,
            SpeechRequest(text=f"word {i}", language="en", voice=voice, speed=1 + i / 10),
            lambda what: None,
        )[0]
        for i in range(n)
    ]


def test_an_archive_brings_all_clips_and_the_same_bytes(tmp_path: Path) -> None:
    keys = fill(tmp_path / "cache", 5)
    clips = clips_of_cache(tmp_path / "cache")
    assert clips == tuple(sorted(f"tone/{key}" for key in keys))
    assert export_clips(clips, tmp_path / "cache", tmp_path / "a.zip") == tuple(sorted(clips))
    os.utime(next(iter(entries(tmp_path / "cache"))).path, (1, 1))
    export_clips(reversed(clips), tmp_path / "cache", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert import_clips(tmp_path / "a.zip", tmp_path / "there") == (5, 0)
    assert import_clips(tmp_path / "a.zip", tmp_path / "there") == (0, 5)
    for entry in entries(tmp_path / "cache"):
        there = tmp_path / "there" / entry.path.relative_to(tmp_path / "cache")
        assert there.read_bytes() == entry.path.read_bytes()


def test_a_build_with_the_archive_of_another_speaks_nothing(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_interruption", "mt_qa")
    first = tone_build(text, tmp_path / "first")
    clips = clips_of_build(first.folder)
    assert len(clips) == len(list(entries(tmp_path / "cache"))) == first.n_spoken
    export_clips(clips, tmp_path / "cache", tmp_path / "clips.zip")
    for entry in entries(tmp_path / "cache"):
        entry.path.unlink()
    import_clips(tmp_path / "clips.zip", tmp_path / "cache")
    before = ToneSpeaker.n_spoken
    second = tone_build(text, tmp_path / "second")
    assert second.n_spoken == 0 and ToneSpeaker.n_spoken == before
    assert shards_of(second.folder) == shards_of(first.folder)


def test_an_archive_holds_what_rejected_samples_listened_to(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_backchannel", count=8).replace("[0.05, 120.0]", "[0.05, 0.12]")
    text = text.replace("[speech]", "[checks]\nmax_rejected_fraction = 1.0\nattempts = 2\n[speech]")
    made = tone_build(text, only=("user_backchannel-en",))
    assert made.rejects, "some tokens cannot be that short"
    assert len(clips_of_build(made.folder)) == len(list(entries(tmp_path / "cache")))


def test_a_broken_archive_is_refused_and_leaves_nothing_bad(tmp_path: Path) -> None:
    fill(tmp_path / "cache", 2)
    archive = tmp_path / "a.zip"
    clips = clips_of_cache(tmp_path / "cache")
    export_clips(clips, tmp_path / "cache", archive)
    with pytest.raises(ReleaseError, match="exists"):
        export_clips(clips, tmp_path / "cache", archive)
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SpeechError, match="no speech archive of duplexkit, or a damaged one"):
        import_clips(archive, tmp_path / "there")
    with pytest.raises(SpeechError, match="no speech archive"):
        import_clips(tmp_path / "nothing.zip", tmp_path / "there")

    def rewritten(change: Callable[[str, bytes], tuple[str, bytes]]) -> None:
        archive.write_bytes(whole)
        with zipfile.ZipFile(archive) as file:
            parts = [change(name, file.read(name)) for name in file.namelist()]
        with zipfile.ZipFile(archive, "w") as file:
            for name, data in parts:
                file.writestr(name, data)

    def flipped(name: str, data: bytes) -> tuple[str, bytes]:
        middle = len(data) // 2
        flip = bytes([data[middle] ^ 1])
        return name, data if name == "archive.json" else data[:middle] + flip + data[middle + 1 :]

    rewritten(flipped)
    with pytest.raises(SpeechError, match="is damaged, or is another one; copy the archive again"):
        import_clips(archive, tmp_path / "there")
    rewritten(lambda name, data: (name if name == "archive.json" else f"../{name}", data))
    with pytest.raises(SpeechError, match="is no clip's name"):
        import_clips(archive, tmp_path / "there")
    rewritten(lambda name, data: (name, b'{"format": 9, "clips": 2}' if name == "archive.json" else data))
    with pytest.raises(SpeechError, match="format 9, wanted 1"):
        import_clips(archive, tmp_path / "there")
    assert not list(entries(tmp_path / "there")) and not list(tmp_path.rglob("*.tmp"))


def test_a_clip_that_is_not_there_cannot_be_exported(tmp_path: Path) -> None:
    fill(tmp_path / "cache", 3)
    clips = clips_of_cache(tmp_path / "cache")
    next(iter(entries(tmp_path / "cache"))).path.write_bytes(b"no zip")
    with pytest.raises(SpeechError, match=r"1 of 3 clips are not in the cache .*--cache"):
        export_clips(clips, tmp_path / "cache", tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def entry(day: int, n_bytes: int) -> Entry:
    return Entry(engine="x", path=Path(f"{day}.zip"), n_bytes=n_bytes, spoken_at_s=day * 86400.0)


def test_what_may_go() -> None:
    found = [entry(day, 100) for day in (3, 1, 2, 4)]
    common = {"now_s": 5 * 86400.0, "damaged": False}
    old = to_prune(found, older_than_days=2.5, at_most_bytes=None, **common)
    assert [e.path.stem for e in old] == ["1", "2"], "4 and 3 days old"
    large = to_prune(found, older_than_days=None, at_most_bytes=150, **common)
    assert [e.path.stem for e in large] == ["1", "2", "3"], "the oldest, until 150 bytes are enough"
    assert to_prune(found, older_than_days=None, at_most_bytes=400, **common) == []


def test_the_cache_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = ["--cache", str(tmp_path / "cache")]
    keys = fill(tmp_path / "cache", 4)
    assert main(["cache", *cache]) == 0
    size = sum(e.n_bytes for e in entries(tmp_path / "cache"))
    shown = capsys.readouterr().out
    assert "tone" in shown and " 4 " in shown and f"{size / 1000:.1f} kB" in shown
    assert main(["cache", *cache, "prune"]) == 2
    assert "which clips?" in capsys.readouterr().err
    damaged = next(iter(entries(tmp_path / "cache"))).path
    damaged.write_bytes(damaged.read_bytes()[:-40])
    assert main(["cache", *cache, "prune", "--damaged"]) == 0
    assert "1 of 4 clips" in capsys.readouterr().out and damaged.exists(), "only shown"
    young, old = (damaged.with_name(f".{name * 32}.tmp") for name in ("a", "b"))
    foreign = damaged.with_name(".mine.tmp")
    for path in (young, old, foreign):
        path.write_bytes(b"half")
    for path in (old, foreign):
        os.utime(path, (0, 0))
    assert main(["cache", *cache, "prune", "--damaged", "--delete"]) == 0 and not damaged.exists()
    assert "1 files that a killed process left half written: deleted" in capsys.readouterr().out
    assert young.exists() and not old.exists(), "a young one may be another process's"
    assert foreign.exists(), "not written by us"
    assert main(["cache", *cache, "export", str(tmp_path / "a.zip"), "--engine", "tone"]) == 0
    assert main(["cache", *cache, "prune", "--engine", "tone", "--delete"]) == 0
    assert not list(entries(tmp_path / "cache"))
    assert main(["cache", *cache, "import", str(tmp_path / "a.zip")]) == 0
    assert {e.path.stem for e in entries(tmp_path / "cache")} == set(keys) - {damaged.stem}
    assert main(["cache", *cache, "prune", "--to-size", "two"]) == 2
    assert main(["cache", *cache, "prune", "--to-size", "0MB"]) == 0
    assert "3 of 3 clips" in capsys.readouterr().out


def test_build_writes_and_reads_an_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, archive = tmp_path / "r.toml", tmp_path / "clips.zip"
    recipe.write_text(tone_recipe_text("user_interruption", count=1))
    for name, told in (("a", "4 clips written"), ("b", "4 clips taken, 0 were in the cache")):
        arguments = [
            "build",
            str(recipe),
            "--out",
            str(tmp_path / name),
            "--cache",
            str(tmp_path / f"c-{name}"),
        ]
        assert main([*arguments, "--workers", "1", "--speech-archive", str(archive)]) == 0
        assert told in capsys.readouterr().out
    with zipfile.ZipFile(archive) as file:
        assert json.loads(file.read("archive.json")) == {"format": 1, "made_by": "duplexkit", "clips": 4}
        clip = next(name for name in file.namelist() if name != "archive.json")
        file.extract(clip, tmp_path)
    with zipfile.ZipFile(tmp_path / clip) as inner:
        inner.extract("samples.npy", tmp_path)
    assert np.load(tmp_path / "samples.npy").dtype == np.float32
