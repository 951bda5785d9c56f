"""A row's `input` again, byte for byte, from its numbers and stems: no audio of the row is read."""

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit import AudioError
from duplexkit.acoustics.noise import samples_sha256
from duplexkit.builders.build import BuildResult
from duplexkit.builders.check import check_row
from duplexkit.builders.rebuild import rebuild_input, rebuild_tracks
from duplexkit.builders.stems import read_stem
from duplexkit.builders.write import read_rows
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.recipe import Checks
from tests.conftest import tone_recipe_text

Build = Callable[..., BuildResult]

TELEPHONE = 'noise_snr_db = [15, 30]\ncodecs = ["g711_mulaw", "g711_alaw"]\n'
EXTRA = {
    "pause_handling": "noise_snr_db = [10, 20]\n",
    "smooth_turn_taking": 'codecs = "opus"\n',
    "backchannel": "microphone_gain_db = [-12, -3]\nmicrophone_clip_dbfs = [-30, -24]\n",
    "user_interruption": TELEPHONE,
    "user_backchannel": 'preset = "natural"\nnoise_snr_db = 20\nnoise_colours = ["brown", "white"]\n',
    "talking_to_others": 'preset = "natural"\ntreatment = "turned_away_room@1"\n' + TELEPHONE,
    "background_speech": 'preset = "natural"\nmicrophone_gain_db = [-6, 3]\ncodecs = ["vorbis", "mp3"]\n',
    "mt_qa": "leakage_db = [-30, -20]\nnoise_snr_db = 30\nmicrophone_gain_db = -3\n",
}
"""Every kind of effect, with and without rooms, over all scenarios."""

WITHOUT = {
    "talking_to_others": 'treatment = "off_axis_gain_first@1"\n',
    "background_speech": 'preset = "natural"\ntreatment = "second_talker_room@1"\n',
    "user_backchannel": 'preset = "natural"\n',
}


def build_rows(build: Build, folder: Path, text: str) -> tuple[Path, list[dict[str, Any]]]:
    result = build(text, folder)
    assert not result.rejects, result.rejects
    return result.folder, [
        row for path in sorted(result.folder.glob("*/*/*.parquet")) for row in read_rows(path)
    ]


def without_audio(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its audio replaced by what cannot be decoded, nulls kept."""
    tracks = ("input", "clean_input", "untreated_input", "system")
    return {**row, **{name: row[name] and {"bytes": b"", "path": ""} for name in tracks}}


def loose(text: str) -> str:
    return text.replace("[speech]", "[checks]\nattempts = 1\n[speech]")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """All scenarios with effects, and three without, in one list of rows with one folder of stems."""
    from duplexkit.builders.build import build
    from duplexkit.scenarios.recipe import load_recipe

    folder = tmp_path_factory.mktemp("rebuild")

    def run(text: str, out: Path) -> BuildResult:
        recipe = out.with_suffix(".toml")
        recipe.write_text(text, encoding="utf-8")
        return build(
            load_recipe(str(recipe)),
            out,
            cache_dir=folder / "cache",
            workers=1,
            describe=lambda folder: None,
            progress=lambda outcome, done, total: None,
        )

    rows = []
    for name, text in (
        ("effects", tone_recipe_text(count=1, extra=EXTRA)),
        ("plain", tone_recipe_text(*WITHOUT, count=1, extra=WITHOUT)),
    ):
        text = text.replace("length_s =", "tail_s = 1.0\nlength_s =")
        out, more = build_rows(run, folder / name, loose(text))
        rows += [{**row, "_folder": str(out)} for row in more]
    return folder, rows


def stem_of(row: dict[str, Any]) -> Callable[[str], np.ndarray]:
    return partial(read_stem, Path(row["_folder"]))


def test_input_is_made_again_byte_for_byte(built: tuple[Path, list[dict[str, Any]]]) -> None:
    _, rows = built
    assert len(rows) >= 20 and {row["scenario"] for row in rows} == set(SCENARIOS)
    kinds = {kind for row in rows for kind in json.loads(row["provenance"]["room"])["effects"]}
    assert {"noise", "leakage", "loudspeaker", "microphone", "codec", "clipped_share"} <= kinds
    for row in rows:
        assert rebuild_input(without_audio(row), stem_of(row)) == row["input"]["bytes"], row["id"]


def test_the_other_tracks_are_made_again_too(built: tuple[Path, list[dict[str, Any]]]) -> None:
    seen = set()
    for row in built[1]:
        tracks = rebuild_tracks(without_audio(row), stem_of(row))
        for name in ("clean_input", "untreated_input", "system"):
            made = getattr(tracks, name)
            assert (made is None) == (row[name] is None)
            if made is not None:
                pcm, _ = soundfile.read(io.BytesIO(row[name]["bytes"]), dtype="int16")
                assert np.array_equal(made, pcm), (row["id"], name)
                seen.add(name)
    assert len(seen) == 3


def test_every_number_counts(built: tuple[Path, list[dict[str, Any]]]) -> None:
    """Another number in the row gives other bytes: nothing of the sound is taken from elsewhere."""
    row = next(row for row in built[1] if row["scenario"] == "mt_qa")
    record = json.loads(row["provenance"]["room"])

    def changed(**change: Any) -> dict[str, Any]:
        room = json.dumps({**record, **change})
        return {**row, "provenance": {**row["provenance"], "room": room}}

    effects = record["effects"]
    others = [
        changed(noise_seed=record["noise_seed"] + 1),
        changed(noise_floor_dbov=record["noise_floor_dbov"] + 1.0),
        changed(params={**record["params"], "rt60_s": record["params"]["rt60_s"] * 1.1}),
        changed(
            clips=[{**record["clips"][0], "start": record["clips"][0]["start"] + 1}, *record["clips"][1:]]
        ),
        *(
            changed(effects={**effects, kind: {**effects[kind], key: effects[kind][key] + step}})
            for kind, key, step in (
                ("noise", "snr_db", 0.5),
                ("noise", "seed", 1),
                ("leakage", "level_db", 0.5),
                ("leakage", "delay_s", 0.001),
                ("microphone", "gain_db", 0.1),
            )
        ),
    ]
    for other in others:
        assert rebuild_input(without_audio(other), stem_of(row)) != row["input"]["bytes"]


def test_check_finds_what_effects_would_hide(built: tuple[Path, list[dict[str, Any]]]) -> None:
    """Shifted labels, and audio that is not what the numbers say, in rows where no detector could tell."""
    rows = [row for row in built[1] if json.loads(row["provenance"]["room"])["effects"]]
    assert len(rows) >= 16
    for row in rows:
        assert check_row(row, Checks(), stem_of(row))[0] == []
    for row in (row for row in rows if row["language"] == "en"):
        for shift_s, wanted in ((0.05, {"onset"}), (-0.05, {"onset", "rebuild", "times"})):
            turns = [{**turn, "onset_s": turn["onset_s"] + shift_s} for turn in row["turns"]]
            found = {f.name for f in check_row({**row, "turns": turns}, Checks(), stem_of(row))[0]}
            assert found & wanted, (row["id"], found)
        pcm, rate = soundfile.read(io.BytesIO(row["input"]["bytes"]), dtype="int16")
        moved = io.BytesIO()
        soundfile.write(moved, np.roll(pcm, 100), rate, format="FLAC", subtype="PCM_16")
        other = {**row, "input": {**row["input"], "bytes": moved.getvalue()}}
        assert "rebuild" in {finding.name for finding in check_row(other, Checks(), stem_of(row))[0]}, row[
            "id"
        ]


def test_recorded_noise_is_made_again_from_its_samples(
    tone_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noises = tmp_path / "noises"
    noises.mkdir()
    rng = np.random.default_rng(8)
    samples = (0.05 * rng.standard_normal(30_000)).astype(np.float32)
    soundfile.write(noises / "fan.wav", samples, 24000, subtype="FLOAT")
    monkeypatch.chdir(tmp_path)
    extra = {"user_interruption": 'noise_snr_db = 12\nnoise_folder = "noises"\n'}
    folder, rows = build_rows(
        tone_build, tmp_path / "out", loose(tone_recipe_text("user_interruption", count=1, extra=extra))
    )
    recordings = {samples_sha256(samples): samples}
    for row in rows:
        named = json.loads(row["provenance"]["room"])["effects"]["noise"]["recording"]
        assert named in recordings
        stem = partial(read_stem, folder)
        assert rebuild_input(without_audio(row), stem, recordings=recordings) == row["input"]["bytes"]
        with pytest.raises(AudioError, match=named):
            rebuild_input(row, stem)
        assert check_row(row, Checks(), stem)[0] == []
