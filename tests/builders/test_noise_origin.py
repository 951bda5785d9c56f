"""Recorded noise has a licence and a source, which go from the recipe into rows, card and exports."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from duplexkit import RecipeError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.check import check_export
from duplexkit.builders.noise_origin import NoiseOrigin, noise_origin
from duplexkit.builders.rebuild import rebuild_input
from duplexkit.builders.stems import read_stem
from duplexkit.cards.card import attributions, licence_problems
from duplexkit.cards.licenses import Part
from duplexkit.cards.summarize import summarize
from duplexkit.scenarios.effects import effects_of
from tests.builders import exported as ex
from tests.conftest import tone_recipe_text


@pytest.fixture
def street(tmp_path: Path) -> Path:
    folder = tmp_path / "street"
    folder.mkdir()
    noise = np.random.default_rng(3).uniform(-0.2, 0.2, 48_000).astype(np.float32)
    soundfile.write(folder / "a.wav", noise, 24_000, subtype="PCM_16")
    return folder


def noisy(tone_build: Callable[..., BuildResult], street: Path, out: Path, *lines: str) -> Path:
    asked = "\n".join(("noise_snr_db = 30", f'noise_folder = "{street}"', *lines)) + "\n"
    text = tone_recipe_text("pause_handling", count=1, extra={"pause_handling": asked})
    return tone_build(text, out, only=("pause_handling-en",)).folder


def test_licence_and_source_are_in_rows_card_and_export(
    tone_build: Callable[..., BuildResult], street: Path, tmp_path: Path
) -> None:
    folder = noisy(
        tone_build, street, tmp_path / "out", 'noise_licence = "CC-BY-4.0"', 'noise_source = "Street, by Eve"'
    )
    (row,) = ex.rows(folder).values()
    assert noise_origin(row) == NoiseOrigin(folder="street", licence="CC-BY-4.0", source="Street, by Eve")
    summary = summarize(folder)
    part = Part(kind="noise", name="street", licence="CC-BY-4.0", attribution="Street, by Eve")
    assert part in summary.all_parts
    assert "Street, by Eve, CC-BY-4.0: noise `street`" in attributions(summary)
    assert "Street, by Eve, CC-BY-4.0: noise `street`" in (folder / "README.md").read_text("utf-8")
    assert any("CC0-1.0 is looser than noise 'street'" in problem for problem in licence_problems(summary))
    ex.run(folder, tmp_path / "rttm", "rttm")
    assert "- noise street (CC-BY-4.0); Street, by Eve: 1 samples" in (
        tmp_path / "rttm" / "ATTRIBUTION.txt"
    ).read_text("utf-8")
    assert list(check_export(tmp_path / "rttm", FORMATS["rttm"])) == []


def test_noise_of_which_nobody_said_it_may_not_go_out(
    tone_build: Callable[..., BuildResult], street: Path, tmp_path: Path
) -> None:
    problems = licence_problems(summarize(noisy(tone_build, street, tmp_path / "out")))
    assert any("noise 'street' (no licence given)" in problem for problem in problems)


def test_the_row_still_makes_its_sound_again(
    tone_build: Callable[..., BuildResult], street: Path, tmp_path: Path
) -> None:
    folder = noisy(tone_build, street, tmp_path / "out", 'noise_licence = "CC0-1.0"')
    (row,) = ex.rows(folder).values()
    sha256 = json.loads(row["provenance"]["room"])["effects"]["noise"]["recording"]
    noise, _ = soundfile.read(street / "a.wav", dtype="float32")
    made = rebuild_input(row, lambda stem: read_stem(folder, stem), recordings={sha256: noise})
    assert made == row["input"]["bytes"]


def test_made_noise_has_no_origin(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    asked = {"pause_handling": "noise_snr_db = 30\n"}
    text = tone_recipe_text("pause_handling", count=1, extra=asked)
    (row,) = ex.rows(tone_build(text, tmp_path / "out", only=("pause_handling-en",)).folder).values()
    assert noise_origin(row) is None


@pytest.mark.parametrize("key", ["noise_licence", "noise_source"])
def test_they_say_nothing_without_a_folder(key: str) -> None:
    from duplexkit.scenarios.scenario import Entry

    entry = Entry(
        scenario="pause_handling",
        preset="tailed",
        fdb_relation="own",
        count=1,
        languages=("en",),
        splits={"test": 1.0},
        tags=(),
        values={"noise_snr_db": (20.0, 20.0), key: "x"},
    )
    with pytest.raises(RecipeError, match=rf"pause_handling\.{key}: says nothing without noise_folder"):
        effects_of(entry)
