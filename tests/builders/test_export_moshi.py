"""moshi-finetune: channels, rate, sorted words, lists."""

import json
import wave
from pathlib import Path

import numpy as np
import pytest

from duplexkit.builders.flac import from_flac
from tests.builders import exported as ex


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("moshi") / "out"
    ex.run(ex.everything(), place, "moshi")
    return place


def test_it_validates_and_rows_without_a_system_side_stay_out(out: Path) -> None:
    assert ex.findings(out, "moshi") == []
    assert {row_id.split("/")[0] for row_id in ex.places(out)} == {"mt_qa"}
    with pytest.raises(Exception, match="no reference of the system's side"):
        ex.run(ex.interruptions(), out.with_name("none"), "moshi")


def test_the_list_is_the_only_file_that_ends_in_jsonl_and_paths_are_relative_to_it(out: Path) -> None:
    lists = sorted(path for path in out.rglob("*") if path.name.endswith("jsonl"))
    assert [path.relative_to(out).as_posix() for path in lists] == [
        "en/test/data.jsonl",
        "ja/test/data.jsonl",
    ]
    for path in lists:
        for line in path.read_text("utf-8").splitlines():
            entry = json.loads(line)
            assert set(entry) == {"path", "duration"} and not Path(entry["path"]).is_absolute()
            with wave.open(str(path.parent / entry["path"])) as file:
                assert file.getframerate() == 24000 and file.getnchannels() == 2
                assert file.getnframes() / 24000 == pytest.approx(entry["duration"], abs=1e-6)


def test_channel_0_is_the_system_bit_by_bit(out: Path) -> None:
    rows = ex.rows(ex.everything())
    for row_id, place in ex.places(out).items():
        with wave.open(str(out / place)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").reshape(-1, 2).T
        for channel, track in ((0, "system"), (1, "input")):
            wanted = from_flac(rows[row_id][track])
            assert wanted is not None
            assert np.array_equal(samples[channel] / np.float32(32768), wanted)


def test_words_are_the_systems_sorted_by_start(out: Path) -> None:
    rows = ex.rows(ex.everything())
    for row_id, place in ex.places(out).items():
        listed = json.loads((out / place).with_suffix(".json").read_text("utf-8"))["alignments"]
        words = [w for t in rows[row_id]["turns"] if t["role"] == "system" for w in t["words"]]
        assert [item[0] for item in listed] == [w["text"] for w in words]
        assert [item[1][0] for item in listed] == sorted(item[1][0] for item in listed)
        for (_, span, speaker), w in zip(listed, words, strict=True):
            assert span == pytest.approx([w["onset_s"], w["offset_s"]], abs=1e-6)
            assert speaker == "SPEAKER_MAIN"
        if "/ja/" in row_id:
            assert all(" " not in item[0] for item in listed)
