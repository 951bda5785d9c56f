"""Import: what went out comes back equal, other people's layouts are read, and check measures the rows."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit import AudioError, DuplexkitError, ReleaseError
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.flac import from_flac
from duplexkit.builders.imports import IMPORTS
from duplexkit.builders.imports.folder import write_imported
from duplexkit.builders.imports.origin import origin_of
from duplexkit.cards.describe import write_papers
from tests.builders import exported as ex
from tests.builders import fdb_reader, m3_reader

STEP_S = {"fdb": 1 / 16000, "m3": 0.0051}
"""FDB: 1e-6 s, but no time lies behind the last sample at 16 kHz. M3: two decimals."""


def imported(form: str, folder: Path, out: Path, **options: Any) -> Path:
    chosen = {"language": "en", "licence": "CC0-1.0", "source": "", "rate_hz": None, **options}
    origin = origin_of(folder, licence=chosen.pop("licence"), source=chosen.pop("source"))
    write_imported(
        IMPORTS[form](folder, chosen.pop("language")),
        out,
        name=form,
        origin=origin,
        describe=write_papers,
        progress=lambda done: None,
        **chosen,
    )
    return out


def times(event: dict[str, Any]) -> tuple[float, float]:
    return event["onset_s"], event["offset_s"]


@pytest.mark.parametrize("which", ["everything", "interruptions"])
def test_fdb_there_and_back(which: str, tmp_path: Path) -> None:
    folder = getattr(ex, which)()
    ex.run(folder, tmp_path / "fdb", "fdb")
    back = ex.rows(imported("fdb", tmp_path / "fdb", tmp_path / "back"))
    rows, places = ex.rows(folder), ex.places(tmp_path / "fdb")
    assert len(back) == len(places)
    for row_id, place in places.items():
        language, version, task, number = Path(place).parts
        row, got = rows[row_id], back[f"{'/'.join(row_id.split('/')[:2])}/fdb-{version}-{task}-{number}/0"]
        assert (got["scenario"], got["language"]) == (row["scenario"], language)
        heard = from_flac(got["input"])
        assert np.array_equal(heard * 32768, fdb_reader.read_wav(tmp_path / "fdb" / place / "input.wav"))
        if (tmp_path / "fdb" / place / "clean_input.wav").exists():
            clean = from_flac(got["clean_input"])
            assert np.array_equal(
                clean * 32768, fdb_reader.read_wav(tmp_path / "fdb" / place / "clean_input.wav")
            )
        kept = [e for e in row["events"] if e["kind"] != "trp"]  # FDB has no places, only their distribution
        assert [(e["kind"], e["role"]) for e in got["events"]] == [(e["kind"], e["role"]) for e in kept]
        for a, b in zip(got["events"], kept, strict=True):
            assert times(a) == pytest.approx(times(b), abs=STEP_S["fdb"])
            for field in ("expected_if_speaking", "expected_if_silent", "turn"):
                assert a[field] == b[field]
        if row["backchannel_q"] is not None:
            assert got["backchannel_q"] == pytest.approx(row["backchannel_q"], abs=1e-6)
        if version == "v1_5":
            assert [t["text"] for t in got["turns"]] == [t["text"] for t in row["turns"]]
            for a, b in zip(got["turns"], row["turns"], strict=True):
                assert [w["text"] for w in a["words"]] == [w["text"] for w in b["words"]]
                assert times(a) == pytest.approx(times(b), abs=STEP_S["fdb"])


DIALOGUES = "backchannel_rate = 0.5\nbarge_in_rate = 0.5\n"


def m3_pairs(out: Path, back: Path) -> list[tuple[ex.Row, ex.Row, Path]]:
    rows, got = ex.rows(ex.dataset("mt_qa", count=4, extra=DIALOGUES)), ex.rows(back)
    return [
        (rows[row_id], got[f"mt_qa/{rows[row_id]['language']}/m3-tones-{Path(place).name}/0"], out / place)
        for row_id, place in ex.places(out).items()
    ]


@pytest.mark.parametrize("gap_free", [True, False])
def test_m3_there_and_back(gap_free: bool, tmp_path: Path) -> None:
    out = tmp_path / "m3"
    ex.run(ex.dataset("mt_qa", count=4, extra=DIALOGUES), out, "m3", dataset="tones", gap_free=gap_free)
    for row, got, place in m3_pairs(out, imported("m3", out, tmp_path / "back")):
        samples, _ = m3_reader.read_wav(place.with_suffix(".wav"))
        for channel, track in ((0, "system"), (1, "input")):
            heard = from_flac(got[track])
            assert np.array_equal(heard * 32768, samples[channel])

        def key(e: dict[str, Any]) -> tuple[Any, ...]:
            return (e["role"], e["onset_s"], e["kind"], e["offset_s"])

        assert sorted(got["m3_events"], key=key) == sorted(row["m3_events"], key=key)
        for role in ("system", "user"):
            words = [w["text"] for t in got["turns"] for w in t["words"] if t["role"] == role]
            wanted = [w for t in row["turns"] for w in t["words"] if t["role"] == role]
            assert words == [w["text"] for w in sorted(wanted, key=lambda w: w["onset_s"])]
        if row["language"] == "ja":
            assert all(" " not in turn["text"] for turn in got["turns"])


def test_m3_brings_back_what_was_intended(tmp_path: Path) -> None:
    """By the rule a short answer is a BC; labels as intended carry our own events, to two decimals."""
    out = tmp_path / "m3"
    ex.run(ex.dataset("mt_qa", count=4, extra=DIALOGUES), out, "m3", dataset="tones", labels="intended")
    names = {"cut_off": "barge_in"}  # M3 makes no difference
    taking = ("shift", "barge_in", "cut_off", "backchannel", "hold")
    for row, got, _ in m3_pairs(out, imported("m3", out, tmp_path / "back")):
        wanted, found = (
            sorted(
                (e["onset_s"], e["offset_s"], e["role"], names.get(e["kind"], e["kind"]))
                for e in one["events"]
                if e["kind"] in taking
            )
            for one in (row, got)
        )
        assert sorted(e[2:] for e in found) == sorted(e[2:] for e in wanted)
        for a, b in zip(found, wanted, strict=True):
            n_times = 1 if a[3] == "barge_in" else 2  # a barge-in's own end is not in the format
            assert a[:n_times] == pytest.approx(b[:n_times], abs=STEP_S["m3"])


def test_what_comes_back_passes_check_and_is_measured(tmp_path: Path) -> None:
    for form, folder in (("fdb", ex.everything()), ("m3", ex.dataset("mt_qa"))):
        ex.run(folder, tmp_path / form, form)
        back = imported(form, tmp_path / form, tmp_path / f"{form}-back", licence="CC-BY-4.0")
        assert [str(f) for f in check_folder(back, lambda done, total: None)] == []
        for row in ex.rows(back).values():
            assert row["checks"]["true_peak_dbfs"] is not None and row["checks"]["onset_error_s"] is not None
            assert row["script"]["licence"] == "CC-BY-4.0"
            assert row["duration_s"] * row["sample_rate_hz"] == pytest.approx(from_flac(row["input"]).size)


def test_check_finds_labels_that_do_not_fit_their_sound(tmp_path: Path) -> None:
    ex.run(ex.dataset("pause_handling"), tmp_path / "fdb", "fdb")
    path = next(tmp_path.glob("fdb/en/v1_0/*/1/pause.json"))
    pause = json.loads(path.read_text("utf-8"))
    pause[0]["timestamp"] = [t - 0.2 for t in pause[0]["timestamp"]]
    path.write_text(json.dumps(pause), encoding="utf-8")
    back = imported("fdb", tmp_path / "fdb", tmp_path / "back")
    findings = list(check_folder(back, lambda done, total: None))
    assert [(f.name, f.sample_id.endswith("-1/0")) for f in findings] == [("pause", True)], findings


@pytest.mark.parametrize("which", ["everything", "interruptions"])
def test_a_second_export_of_an_import_is_the_first(which: str, tmp_path: Path) -> None:
    """fdb -> rows -> fdb: the same files, also under names of human sets."""
    ex.run(getattr(ex, which)(), tmp_path / "one", "fdb")
    for path in tmp_path.glob("one/*/v1_0/synthetic_turn_taking"):
        path.rename(path.with_name("candor_turn_taking"))
    back = imported("fdb", tmp_path / "one", tmp_path / "back")
    ex.run(back, tmp_path / "two", "fdb")
    one, two = (
        {
            p.relative_to(tmp_path / n).as_posix(): p.read_bytes()
            for p in (tmp_path / n).rglob("*.*")
            if p.is_file()
        }
        for n in ("one", "two")
    )
    assert set(one) == set(two) and len(one) > 20
    about = ("export.json", "ATTRIBUTION.txt")  # they say where the rows come from: a build, an import
    assert [name for name in one if one[name] != two[name] and name not in about] == []


def test_a_folder_as_published_is_read_without_transcripts(tmp_path: Path) -> None:
    """v1.5 as some copies have it: sound and metadata only; words are estimated, the context's end found."""
    source = ex.dataset("user_backchannel")
    ex.run(source, tmp_path / "fdb", "fdb")
    root = tmp_path / "mine" / "user_backchannel"
    shutil.copytree(next(tmp_path.glob("fdb/en/v1_5/*")), root)
    for path in root.glob("*/*"):
        if path.name not in ("input.wav", "clean_input.wav", "metadata.json"):
            path.unlink()
    rows = sorted(
        ex.rows(imported("fdb", tmp_path / "mine", tmp_path / "back")).values(), key=lambda r: r["id"]
    )
    originals = [row for row in ex.rows(source).values() if row["language"] == "en"]
    for got, row in zip(rows, originals, strict=True):
        assert got["turns"][0]["word_time_source"] == "estimated"
        assert got["events"][0]["onset_s"] == pytest.approx(row["events"][0]["onset_s"], abs=0.02)
        assert got["events"][1]["token"] == row["events"][1]["token"]
    assert [str(f) for f in check_folder(tmp_path / "back", lambda done, total: None)] == []


def test_mixed_rates_are_refused_or_resampled(tmp_path: Path) -> None:
    ex.run(ex.dataset("smooth_turn_taking"), tmp_path / "fdb", "fdb")
    path = next(tmp_path.glob("fdb/en/v1_0/*/1/input.wav"))
    samples, _ = soundfile.read(path, dtype="int16")
    soundfile.write(path, np.repeat(samples, 3), 48000, subtype="PCM_16")
    with pytest.raises(ReleaseError, match=r"48000 Hz, .* 16000 Hz.*--rate"):
        imported("fdb", tmp_path / "fdb", tmp_path / "back")
    back = imported("fdb", tmp_path / "fdb", tmp_path / "back", rate_hz=24000)
    assert {row["sample_rate_hz"] for row in ex.rows(back).values()} == {24000}


def test_wrong_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DuplexkitError, match="no task of Full-Duplex-Bench"):
        imported("fdb", tmp_path, tmp_path / "back")
    with pytest.raises(DuplexkitError, match="no data set of M3"):
        imported("m3", tmp_path, tmp_path / "back")
    ex.run(ex.dataset("smooth_turn_taking"), tmp_path / "fdb", "fdb")
    (sample,) = tmp_path.glob("fdb/ja/v1_0/*/0")
    samples, _ = soundfile.read(sample / "input.wav", dtype="int16")
    soundfile.write(sample / "input.wav", np.stack([samples, samples], 1), 16000, subtype="PCM_16")
    with pytest.raises(AudioError, match=r"ja/.*/0/input.wav: 2 channels"):
        imported("fdb", tmp_path / "fdb", tmp_path / "back")
    soundfile.write(sample / "input.wav", samples, 16000, subtype="PCM_16")
    (sample / "turn_taking.json").write_text('[{"text": "[TURN-TAKING]"}]')
    with pytest.raises(DuplexkitError, match=r"0/turn_taking.json: no timestamp"):
        imported("fdb", tmp_path / "fdb", tmp_path / "back")
    (sample / "transcription.json").write_text('[{"text": "a", "timestamp": [1.0, null]}]')
    with pytest.raises(DuplexkitError, match=r"0/transcription.json: no words with times"):
        imported("fdb", tmp_path / "fdb", tmp_path / "back")
    ex.run(ex.dataset("mt_qa"), tmp_path / "m3", "m3", dataset="tones")
    words = tmp_path / "m3/data/en/task/tones/txt_align/mt_qa-en-qa-001-0.txt"
    words.write_text("0\t0.1\n")
    with pytest.raises(DuplexkitError, match=r"mt_qa-en-qa-001-0.txt line 1: 2 fields"):
        imported("m3", tmp_path / "m3", tmp_path / "back")
    assert not (tmp_path / "back").exists()
