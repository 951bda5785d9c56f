"""Exports open in the tools they are for, with the same lengths, texts and times."""

import io
import json
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.builders import exported as ex


def export(tmp_path_factory: pytest.TempPathFactory, to: str) -> Path:
    place = tmp_path_factory.mktemp(to) / "out"
    ex.run(ex.everything(), place, to)
    return place


@pytest.fixture(scope="module")
def named() -> dict[str, ex.Row]:
    return {row_id.replace("/", "-"): row for row_id, row in ex.rows(ex.everything()).items()}


# --- lhotse and NeMo


@pytest.fixture(scope="module")
def lhotse_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory, "lhotse")


@pytest.mark.extras("lhotse")
def test_lhotse_opens_recordings_and_supervisions(lhotse_out: Path, named: dict[str, ex.Row]) -> None:
    import lhotse

    recordings = lhotse.RecordingSet.from_file(lhotse_out / "recordings-test.jsonl.gz").with_path_prefix(
        lhotse_out
    )
    supervisions = lhotse.SupervisionSet.from_file(lhotse_out / "supervisions-test.jsonl.gz")
    lhotse.validate(recordings, read_data=True)
    lhotse.validate_recordings_and_supervisions(recordings, supervisions)
    assert set(recordings.ids) == set(named)
    for recording in recordings:
        row = named[recording.id]
        assert recording.duration == pytest.approx(row["duration_s"], abs=1e-6)
        assert recording.num_channels == (1 if row["system"] is None else 2)
        said = sorted(supervisions.find(recording.id), key=lambda s: s.id)
        assert [s.text for s in said] == [t["spoken_text"] for t in row["turns"]]
        for s, t in zip(said, row["turns"], strict=True):
            assert (s.start, s.end) == pytest.approx((t["onset_s"], t["offset_s"]), abs=1e-6)
            assert [a.symbol for a in s.alignment["word"]] == [w["text"] for w in t["words"]]
            ends = [a.end for a in s.alignment["word"]]
            assert ends == pytest.approx([w["offset_s"] for w in t["words"]], abs=1e-6)
        assert said[0].custom["events"] == row["events"]


@pytest.mark.extras("lhotse")
def test_nemo_cuts_open_in_lhotse(tmp_path_factory: pytest.TempPathFactory, named: dict[str, ex.Row]) -> None:
    import lhotse

    out = export(tmp_path_factory, "nemo")
    cuts = list(lhotse.CutSet.from_file(out / "cuts-test.jsonl.gz").with_recording_path_prefix(out))
    assert len(cuts) == 4
    for cut in cuts:
        row = named[cut.id]
        assert cut.sampling_rate == 16000 and cut.target_audio.sampling_rate == 22050
        assert cut.duration == pytest.approx(row["duration_s"], abs=1e-4)
        assert cut.load_audio().shape[1] == pytest.approx(row["duration_s"] * 16000, abs=1)
        turns = sorted(row["turns"], key=lambda t: t["onset_s"])
        roles = {"user": "user", "system": "agent"}
        assert [(s.speaker, s.text) for s in cut.supervisions] == [
            (roles[t["role"]], t["spoken_text"]) for t in turns
        ]
        agent = Path(cut.target_audio.sources[0].source)
        info = soundfile.info(str(agent if agent.is_absolute() else out / agent))
        assert info.samplerate == 22050 and info.duration == pytest.approx(row["duration_s"], abs=1e-4)


def test_lists_are_whole_without_lhotse(lhotse_out: Path, named: dict[str, ex.Row]) -> None:
    import gzip

    lines = gzip.decompress((lhotse_out / "supervisions-test.jsonl.gz").read_bytes()).decode().splitlines()
    said = [json.loads(line) for line in lines]
    assert len(said) == sum(len(row["turns"]) for row in named.values())
    for line in said:
        words = line["alignment"]["word"]
        assert line["start"] <= words[0][1] + 1e-7
        assert words[-1][1] + words[-1][2] <= line["start"] + line["duration"] + 1e-7


# --- praatio


def test_praatio_reads_the_text_grids(
    tmp_path_factory: pytest.TempPathFactory, named: dict[str, ex.Row]
) -> None:
    tgio = pytest.importorskip("praatio.textgrid", reason="praatio is not installed")
    out = export(tmp_path_factory, "textgrid")
    files = sorted(out.rglob("*.TextGrid"))
    assert {path.stem for path in files} == set(named)
    for path in files:
        grid, row = tgio.openTextgrid(str(path), includeEmptyIntervals=False), named[path.stem]
        assert grid.maxTimestamp == pytest.approx(row["duration_s"], abs=1e-6)
        for role in {turn["role"] for turn in row["turns"]}:
            turns = [t for t in row["turns"] if t["role"] == role]
            _same(
                grid.getTier(f"{role} turns").entries,
                [(t["onset_s"], t["offset_s"], t["spoken_text"]) for t in turns],
            )
            words = [(w["onset_s"], w["offset_s"], w["text"]) for t in turns for w in t["words"]]
            _same(grid.getTier(f"{role} words").entries, words)
        found = 0
        for name in grid.tierNames:
            if name.split()[1:] != ["turns"] and name.split()[1:] != ["words"]:
                found += len(grid.getTier(name).entries)
        assert found == len(row["events"])


def _same(entries: list[tuple[float, float, str]], wanted: list[tuple[float, float, str]]) -> None:
    wanted = sorted(wanted)
    assert [e[2] for e in entries] == [w[2].strip() for w in wanted]
    assert [t for e in entries for t in e[:2]] == pytest.approx([t for w in wanted for t in w[:2]], abs=1e-6)


def test_quotes_survive_in_text_grids() -> None:
    from duplexkit.builders.export.textgrid import text_grid

    turn = {"role": "user", "onset_s": 0.5, "offset_s": 1.0, "spoken_text": 'say "no"', "words": []}
    assert 'text = "say ""no"""' in text_grid({"duration_s": 2.0, "turns": [turn], "events": []})


# --- webdataset


def test_webdataset_opens_the_shards(
    tmp_path_factory: pytest.TempPathFactory, named: dict[str, ex.Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    wds = pytest.importorskip("webdataset", reason="webdataset is not installed")
    from duplexkit.builders.export import webdataset

    monkeypatch.setattr(webdataset, "SAMPLES_PER_SHARD", 10)
    out = export(tmp_path_factory, "webdataset")
    shards = sorted(str(path) for path in out.glob("*.tar"))
    assert len(shards) == 4
    samples = list(wds.WebDataset(shards, shardshuffle=False))
    assert [sample["__key__"] for sample in samples] == list(named)
    for sample in samples:
        row, labels = named[sample["__key__"]], json.loads(sample["json"])
        assert labels["turns"] == row["turns"] and labels["events"] == row["events"]
        for track in ("input", "clean_input", "untreated_input", "system"):
            assert sample.get(f"{track}.flac") == (row[track] and row[track]["bytes"])
        assert soundfile.info(io.BytesIO(sample["input.flac"])).duration == pytest.approx(row["duration_s"])


# --- RTTM, CTM, Audacity: formats of lines


def test_rttm_and_ctm_say_who_and_what(
    tmp_path_factory: pytest.TempPathFactory, named: dict[str, ex.Row]
) -> None:
    out = export(tmp_path_factory, "rttm")
    turns = [line.split() for line in (out / "test.rttm").read_text("utf-8").splitlines()]
    words = [line.split() for line in (out / "test.ctm").read_text("utf-8").splitlines()]
    assert all(len(t) == 10 and t[0] == "SPEAKER" for t in turns) and all(len(w) == 6 for w in words)
    for name, row in named.items():
        mine = [t for t in turns if t[1] == name]
        assert [t[7].partition(":")[0] for t in mine] == [t["role"] for t in row["turns"]]
        got = [(float(t[3]), float(t[3]) + float(t[4])) for t in mine]
        for (start, end), t in zip(got, row["turns"], strict=True):
            assert (start, end) == pytest.approx((t["onset_s"], t["offset_s"]), abs=1e-4)
        said = [w for w in words if w[0] == name]
        assert sorted(w[4] for w in said) == sorted(w["text"] for t in row["turns"] for w in t["words"])
        assert [(w[1], float(w[2])) for w in said] == sorted((w[1], float(w[2])) for w in said)
        with wave.open(str(out / "audio" / f"{name}.wav")) as file:
            assert file.getnchannels() == max(int(t[2]) for t in mine)


def test_audacity_labels_hold_every_turn_word_and_event(
    tmp_path_factory: pytest.TempPathFactory, named: dict[str, ex.Row]
) -> None:
    out = export(tmp_path_factory, "audacity")
    for name, row in named.items():
        for kind, wanted in (
            ("turns", [(t["onset_s"], t["offset_s"]) for t in row["turns"]]),
            ("words", [(w["onset_s"], w["offset_s"]) for t in row["turns"] for w in t["words"]]),
            ("events", [(e["onset_s"], e["offset_s"]) for e in row["events"]]),
        ):
            lines = (out / "test" / f"{name}.{kind}.txt").read_text("utf-8").splitlines()
            times = np.array([line.split("\t")[:2] for line in lines], dtype=float)
            assert times.ravel() == pytest.approx(np.array(sorted(wanted)).ravel(), abs=1e-6)


def test_another_rate_on_request(tmp_path: Path) -> None:
    ex.run(ex.dataset("mt_qa", count=1), tmp_path / "out", "lhotse", rate_hz=8000)
    assert ex.findings(tmp_path / "out", "lhotse") == []
    for path in tmp_path.glob("out/audio/*.wav"):
        assert soundfile.info(str(path)).samplerate == 8000
