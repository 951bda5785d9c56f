"""Measuring folders: built ones, plain audio, Full-Duplex-Bench's layout; once, in any number of processes."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from duplexkit import ReleaseError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.cli import main
from duplexkit.builders.quality import measures_named
from duplexkit.builders.quality.clip_source import items_of, read_clip
from duplexkit.builders.quality.measure import Tools
from duplexkit.builders.quality.measure_folder import MeasuredSample, measure_folder, pairs_of
from duplexkit.builders.quality.table import histogram, interval, quality_lines
from duplexkit.builders.quality.worst_page import worst
from duplexkit.scenarios.gate_limits import CORE_MEASURES
from tests.conftest import tone_recipe_text
from tests.release import restated

CORE = measures_named(CORE_MEASURES, "here")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from duplexkit.builders.build import build
    from duplexkit.cards.card import write_card
    from duplexkit.scenarios.recipe import load_recipe

    folder = tmp_path_factory.mktemp("quality")
    (folder / "r.toml").write_text(tone_recipe_text("user_interruption", "mt_qa"), encoding="utf-8")
    result: BuildResult = build(
        load_recipe(str(folder / "r.toml")),
        folder / "out",
        cache_dir=folder / "cache",
        workers=1,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    )
    return result.folder


def run(folder: Path, cache: Path, workers: int = 1, **more: object) -> tuple[MeasuredSample, ...]:
    said: list[tuple[int, int]] = []
    found = measure_folder(
        folder,
        CORE,
        Tools(cache_dir=cache),
        workers=workers,
        progress=lambda done, total: said.append((done, total)),
        **more,  # type: ignore[arg-type]
    )
    assert said == [(i + 1, len(found)) for i in range(len(found))], "progress over every sample"
    return found


def test_a_folder_has_the_values_of_its_rows(built: Path, tmp_path: Path) -> None:
    rows = {
        row["id"]: row["checks"]
        for path in built.glob("*/*/*.parquet")
        for row in pq.read_table(path, columns=["id", "checks"]).to_pylist()
    }
    found = run(built, tmp_path)
    assert {sample.id for sample in found} == set(rows)
    for sample in found:
        for name, value in sample.values.items():
            assert value == rows[sample.id][name], name


def test_one_and_two_processes_agree_and_nothing_is_measured_twice(built: Path, tmp_path: Path) -> None:
    one, two = run(built, tmp_path / "a"), run(built, tmp_path / "b", workers=2)
    assert [(s.id, s.values, s.by_turn) for s in one] == [(s.id, s.values, s.by_turn) for s in two]
    assert sum(s.n_new for s in one) > 0
    assert sum(s.n_new for s in run(built, tmp_path / "a")) == 0


def test_without_stems_turns_are_cut_from_the_tracks(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    shutil.rmtree(copy / "stems")
    whole, cut = run(built, tmp_path / "a"), run(copy, tmp_path / "b")
    for a, b in zip(whole, cut, strict=True):
        for one, other in zip(a.by_turn, b.by_turn, strict=True):
            assert other["f0_hz"] == pytest.approx(one["f0_hz"], rel=0.01)
            # the gaps of the tones are as long as the shortest hush that counts: some fall on either side
            assert other["active_level_dbov"] == pytest.approx(one["active_level_dbov"], abs=1.5)


def test_without_stems_it_is_measured_only_as_heard_and_apart(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    shutil.rmtree(copy / "stems")
    before = sorted(p for p in copy.rglob("*"))
    arguments = ["check", str(copy), "--measure", "active_level", "--cache", str(tmp_path / "cache")]
    for more in ([], ["--as-heard"]):
        assert main([*arguments, *more]) == 2
        assert "its stems are not there" in capsys.readouterr().err
    assert sorted(p for p in copy.rglob("*")) == before
    assert main([*arguments, "--as-heard", "--out", str(tmp_path / "heard")]) == 0
    assert "the limits are for dry speech and were not asked" in capsys.readouterr().out
    assert len((tmp_path / "heard" / "values.jsonl").read_text().splitlines()) == len(items_of(copy))


def test_options_that_would_do_nothing_are_refused(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "q")]
    assert main(["check", str(built), "--as-heard", *out]) == 2
    assert "--out, --as-heard: only with --measure" in capsys.readouterr().err
    assert main(["check", str(built), "--measure", "clipping", "--as-heard", *out]) == 2
    assert "--as-heard is for built folders without their stems" in capsys.readouterr().err
    assert not (tmp_path / "q").exists()


def test_what_was_measured_nowhere_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tone(tmp_path / "set" / "a.wav", 2.0)
    arguments = ["check", str(tmp_path / "set"), "--measure", "speaking_rate", "--language", "ja"]
    assert main([*arguments, "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "q")]) == 0
    assert "not measured in ja: speaking_rate_hz: no clip is of the kind" in capsys.readouterr().out


def test_languages_pair_by_script(built: Path) -> None:
    pairs = [(a.id, b.id) for a, b in pairs_of(items_of(built))]
    assert pairs and all(a.replace("/en/", "/ja/") == b for a, b in pairs)


def tone(path: Path, seconds: float, n_channels: int = 1, level: float = 0.1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    wave = level * np.sin(2 * np.pi * 200 * np.arange(round(seconds * 16000)) / 16000)
    soundfile.write(path, np.stack([wave * (k + 1) for k in range(n_channels)], axis=1), 16000)


def test_plain_audio_with_texts(tmp_path: Path) -> None:
    tone(tmp_path / "set" / "a.wav", 2.0)
    (tmp_path / "set" / "a.txt").write_text("eleven plus nine")
    (sample,) = run(tmp_path / "set", tmp_path / "cache", language="en")
    assert sample.id == "a.wav" and sample.values["speaking_rate_hz"] == pytest.approx(14 / 2, rel=0.02)
    with pytest.raises(ReleaseError, match=r"a.wav: nothing says which language it is; give --language"):
        items_of(tmp_path / "set")


def test_full_duplex_bench_gives_context_and_turn_by_its_json(tmp_path: Path) -> None:
    folder = tmp_path / "user_interruption" / "0"
    tone(folder / "input.wav", 10.0)
    tone(folder / "output.wav", 10.0)
    meta = {"context_text": "tell me all", "current_turn_text": "stop it", "timestamps": [6.0, 7.5]}
    (folder / "metadata.json").write_text(json.dumps(meta))
    (item,) = items_of(tmp_path, "en")
    assert [(c.text, c.start_s, c.stop_s) for c in item.clips] == [("tell me all", 0, 6), ("stop it", 6, 7.5)]
    assert read_clip(item.clips[1], "en").samples.size == 1.5 * 16000
    assert item.config == "user_interruption"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("[]", r"metadata.json: it is an empty list|metadata.json: .*wanted an object"),
        ("{}", r"metadata.json: timestamps is missing"),
        (
            '{"timestamps": [-1.0, -0.2]}',
            r"timestamps is \[-1.0, -0.2\]; wanted \[start, end\] in seconds within the 10",
        ),
        ('{"timestamps": [7.5, 6.0]}', r"timestamps is \[7.5, 6.0\]"),
        ('{"timestamps": [6.0, 75]}', r"timestamps is \[6.0, 75\]"),
        ('{"timestamps": ["6", "7"]}', r"timestamps\[0\]"),
        ('{"timestamps": [6.0', r"metadata.json"),
    ],
)
def test_labels_that_cannot_be_are_refused(tmp_path: Path, labels: str, message: str) -> None:
    tone(tmp_path / "0" / "input.wav", 10.0)
    (tmp_path / "0" / "metadata.json").write_text(labels)
    with pytest.raises(ReleaseError, match=message):
        items_of(tmp_path, "en")


def test_parts_of_a_sample_and_hidden_files_are_no_samples(tmp_path: Path) -> None:
    for name in ("input", "context", "interrupt", "output", "._input"):
        tone(tmp_path / "0" / f"{name}.wav", 10.0)
    labels = [{"context": "tell me", "interrupt": "stop", "timestamp": [6.0, 7.5]}]
    (tmp_path / "0" / "interrupt.json").write_text(json.dumps(labels))
    (item,) = items_of(tmp_path, "en")
    assert item.id == "0/input.wav" and [c.text for c in item.clips] == ["tell me", "stop"]


def test_a_transcript_is_that_of_the_input_alone(tmp_path: Path) -> None:
    tone(tmp_path / "input.wav", 2.0)
    tone(tmp_path / "b.wav", 2.0)
    (tmp_path / "b.txt").write_text("my own")
    (tmp_path / "transcription.json").write_text(json.dumps([{"text": " one ", "timestamp": [0, 1]}]))
    assert [item.clips[0].text for item in items_of(tmp_path, "en")] == ["my own", "one"]


def test_two_channels_are_two_speakers_and_the_folder_says_the_language(tmp_path: Path) -> None:
    tone(tmp_path / "data" / "ja" / "chat" / "x" / "audio" / "1.wav", 2.0, n_channels=2)
    (item,) = items_of(tmp_path)
    assert item.language == "ja" and [clip.channel for clip in item.clips] == [0, 1]
    quiet, loud = (read_clip(clip, "ja").samples for clip in item.clips)
    assert np.allclose(loud, 2 * quiet, atol=1e-4)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="nothing to measure"):
        items_of(tmp_path)


def test_the_interval_is_students() -> None:
    """t(0.975, 3) = 3.1824 from the tables; the deviation of 1, 2, 3, 4 is 1.29099."""
    mean, low, high = interval([1.0, 2.0, 3.0, 4.0])
    assert mean == 2.5 and high - mean == pytest.approx(3.1824 * 1.29099 / 2, abs=1e-4)
    assert mean - low == pytest.approx(high - mean)
    assert interval([5.0]) == (5.0, None, None)


def test_the_table_leaves_out_what_was_not_measured() -> None:
    samples = [("a", "test", {"wer": 0.1}), ("a", "test", {"wer": None}), ("a", "train", {"wer": 0.3})]
    lines = quality_lines(samples, ["wer", "cer"])
    assert [(line.split, line.n, line.mean) for line in lines] == [("test", 1, 0.1), ("train", 1, 0.3)]


def test_a_histogram_counts_everything() -> None:
    edges, counts = histogram([0.0, 0.5, 1.0, 1.0], n_bins=2)
    assert edges == [0.0, 0.5, 1.0] and counts == [1, 3]


def sample(id_: str, **values: float) -> MeasuredSample:
    return MeasuredSample(
        id=id_, config="c", split="s", language="en", values={}, by_turn=(values,), notes={}, n_new=0
    )


def test_the_worst_come_first_by_the_value_s_own_sense() -> None:
    samples = [sample("a", wer=0.1, dnsmos_ovrl=3.0), sample("b", wer=0.3, dnsmos_ovrl=3.5)]
    assert [s.id for _, s, _ in worst(samples, "wer", 50)] == ["b", "a"]
    assert [s.id for _, s, _ in worst(samples, "dnsmos_ovrl", 50)] == ["a", "b"]
    assert len(worst(samples, "wer", 1)) == 1


@pytest.mark.parametrize("target", ["other/quality", "file/values"])
def test_values_are_not_written_where_they_do_not_belong(
    target: str, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(built, tmp_path / "other")
    (tmp_path / "other" / "quality").mkdir(exist_ok=True)
    (tmp_path / "other" / "quality" / "values.jsonl").write_text("")
    (tmp_path / "file").write_text("mine")
    tone(tmp_path / "set" / "a.wav", 2.0)
    arguments = ["check", str(tmp_path / "set"), "--measure", "clipping", "--language", "en"]
    assert main([*arguments, "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / target)]) == 2
    said = capsys.readouterr().err
    assert f"--out {tmp_path / target}" in said and "name " in said
    assert (tmp_path / "other" / "quality" / "values.jsonl").read_text() == ""
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("measure", ["active_level", "clipping", "pitch"])
@pytest.mark.parametrize("samples", [np.zeros(0), np.full(16000, 1.5)], ids=["none", "too loud"])
def test_sound_that_cannot_be_measured_is_named(
    samples: np.ndarray, measure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soundfile.write(tmp_path / "odd.wav", samples, 16000, subtype="FLOAT")
    arguments = ["check", str(tmp_path), "--measure", measure, "--language", "en", "--workers", "1"]
    assert main([*arguments, "--cache", str(tmp_path / "cache")]) == 2
    assert "odd.wav" in capsys.readouterr().err
    assert not (tmp_path / "quality").exists()


def test_the_command_writes_values_and_pages(built: Path, tmp_path: Path) -> None:
    arguments = ["check", str(built), "--measure", "clipping", "--measure", "active_level", "--out"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "duplexkit.builders",
            *arguments,
            str(tmp_path / "q"),
            "--cache",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "q" / "values.jsonl").read_text().splitlines()]
    mean = (
        math.fsum(line["values"]["active_level_dbov"] for line in lines if line["config"] == "mt_qa-en") / 2
    )
    assert f"{mean:.3f}" in done.stdout
    page = (tmp_path / "q" / "worst-clipped_share.html").read_text()
    assert page.count("<audio") == min(50, sum(len(line["by_turn"]) for line in lines))
    assert 'src="http' not in page


def test_the_command_names_the_extra(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("duplexkit.builders.quality.measure.find_spec", lambda name: None)
    assert main(["check", str(built), "--measure", "wer", "--cache", str(tmp_path)]) == 2
    assert "pip install 'duplexkit[quality]'" in capsys.readouterr().err
    assert main(["list", "measures"]) == 0


def test_a_fault_in_a_built_folder_is_found_by_its_gate(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stem 20 dB too quiet, put in under its own hash: the labels still fit, the level does not."""
    import hashlib

    from duplexkit.builders.stems import stem_path, write_stem

    options = ["--measure", "active_level", "--cache", str(tmp_path)]
    assert main(["check", str(built), *options, "--out", str(tmp_path / "a")]) == 0
    capsys.readouterr()
    folder = tmp_path / "copy"
    shutil.copytree(built, folder)
    shard = next(folder.glob("user_interruption/en/*.parquet"))
    table = pq.read_table(shard)
    rows = table.to_pylist()
    made = rows[0]["provenance"]["turns"][1]
    pcm, rate = soundfile.read(stem_path(folder, made["stem"]), dtype="int16")
    quiet = (pcm / 10).astype(np.int16)
    made["stem"] = hashlib.sha256(quiet.tobytes()).hexdigest()
    write_stem(folder, made["stem"], quiet, rate)
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), shard)
    restated(folder, shard.relative_to(folder).as_posix())
    assert main(["check", str(folder), *options, "--out", str(tmp_path / "b")]) == 1
    said = capsys.readouterr().out
    assert f"{rows[0]['id']}: active_level_dbov at turn 1: -4" in said and "1 findings" in said


def test_what_was_measured_before_stays(built: Path, tmp_path: Path) -> None:
    """Two commands, a measure each, leave what one command with both leaves."""

    def left(name: str, *calls: tuple[str, ...]) -> tuple[str, str]:
        folder = tmp_path / name
        shutil.copytree(built, folder)
        for call in calls:
            asked = [part for measure in call for part in ("--measure", measure)]
            assert main(["check", str(folder), *asked, "--cache", str(tmp_path)]) == 0
        return tuple((folder / "quality" / file).read_text() for file in ("values.jsonl", "measures.json"))

    apart = left("apart", ("pitch",), ("clipping",))
    together = left("together", ("pitch", "clipping"))
    assert apart[0] == together[0] and json.loads(apart[1]) == json.loads(together[1])
    assert "f0_hz" in apart[0] and "clipped_share" in apart[0]
