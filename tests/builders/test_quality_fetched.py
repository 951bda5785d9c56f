"""SQUIM, UTMOSv2 and COMETKiwi through their packages' own loaders, on random weights in the places of the real ones.

The real weights are on hubs and were never run here: these tests show that what is measured is what the package
says of the same sound or text, not that the numbers mean anything.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset
import pytest
import soundfile

from duplexkit.acoustics.level import from_pcm16
from duplexkit.builders.build import BuildResult, build
from duplexkit.builders.cli import main
from duplexkit.builders.quality import MEASURES
from duplexkit.builders.quality.kept import clip_key
from duplexkit.builders.quality.measure import SpokenClip, Tools
from duplexkit.builders.quality.sample_values import usable
from duplexkit.cards.card import write_card
from duplexkit.scenarios.recipe import load_recipe
from tests.conftest import tone_recipe_text

DIRECT = Path(__file__).with_name("direct_models.py")
NO_NETWORK = {"https_proxy": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1"}


def with_squim(test: Any) -> Any:
    """Mark a test of SQUIM on random weights."""
    return pytest.mark.slow(pytest.mark.extras("squim")(test))


def with_utmosv2(test: Any) -> Any:
    """Mark a test of UTMOSv2 on random weights."""
    return pytest.mark.slow(pytest.mark.extras("utmosv2")(test))


COMET_PYTHON = Path(shutil.which("comet-score") or "/absent").resolve().with_name("python")
_no_comet = pytest.mark.skipif(not COMET_PYTHON.exists(), reason="no comet-score on PATH (docs/quality.md)")


def with_comet(test: Any) -> Any:
    return pytest.mark.slow(pytest.mark.extras(_no_comet(test)))


def tone_folder(folder: Path, checks: str = "") -> Path:
    (folder / "r.toml").write_text(tone_recipe_text("user_interruption", count=1) + checks, encoding="utf-8")
    result: BuildResult = build(
        load_recipe(str(folder / "r.toml")),
        folder / "out",
        cache_dir=folder / "cache",
        workers=1,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    )
    return result.folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tone_folder(tmp_path_factory.mktemp("fetched"))


@pytest.fixture
def homes(tmp_path: Path) -> dict[str, str]:
    """Empty places for weights, and no way to fetch any."""
    return {
        "TORCH_HOME": str(tmp_path / "torch"),
        "HF_HOME": str(tmp_path / "hf"),
        "UTMOSV2_CHACHE": str(tmp_path / "utmosv2"),
        **NO_NETWORK,
    }


def direct(
    verb: str, name: str, homes: dict[str, str], given: object = None, python: Path = Path(sys.executable)
) -> Any:
    done = subprocess.run(
        [python, "-I", DIRECT, verb, name],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env=os.environ | homes,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if verb == "rate" else None


def check(folder: Path, name: str, homes: dict[str, str], *options: str) -> str:
    """Return what `duplexkit check` prints in a process of its own."""
    cache = str(Path(homes["TORCH_HOME"]).with_name("cache"))
    asked = ["check", str(folder), "--measure", name, "--cache", cache, *options]
    command = [sys.executable, "-m", "duplexkit.builders", *asked]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | homes)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return done.stdout


def values_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "values.jsonl").read_text(encoding="utf-8").splitlines()]


def rows_of(built: Path) -> dict[str, dict[str, Any]]:
    data = pyarrow.dataset.dataset(sorted(map(str, built.glob("*/*/*.parquet"))))
    return {row["id"]: row for row in data.to_table(columns=["id", "turns", "provenance"]).to_pylist()}


def stems_of(built: Path) -> dict[str, list[Path]]:
    return {
        name: [
            built / "stems" / turn["stem"][:2] / f"{turn['stem']}.flac" for turn in row["provenance"]["turns"]
        ]
        for name, row in rows_of(built).items()
    }


def the_line(printed: str, start: str) -> str:
    (line,) = [line for line in printed.splitlines() if line.startswith(start)]
    return line


@with_squim
def test_squim_is_what_torchaudio_says(built: Path, homes: dict[str, str]) -> None:
    direct("make", "squim", homes)
    check(built, "squim", homes, "--workers", "2")
    stems = stems_of(built)
    paths = [str(path) for one in stems.values() for path in one]
    said = dict(zip(paths, direct("rate", "squim", homes, paths), strict=True))
    assert min(np.ptp(list(said.values()), axis=0)) > 1e-3
    for line in values_in(built / "quality"):
        wanted = [said[str(path)] for path in stems[line["id"]]]
        found = [[turn["squim_stoi"], turn["squim_pesq"]] for turn in line["by_turn"]]
        assert found == pytest.approx(np.array(wanted), abs=1e-4)
        assert line["values"]["squim_stoi"] == pytest.approx(np.mean([stoi for stoi, _ in wanted]), abs=1e-4)
    write_card(built)
    card = (built / "README.md").read_text(encoding="utf-8")
    version = json.loads((built / "quality" / "measures.json").read_text())["squim"]["version"]
    assert f"version {version}" in card and "`squim_pesq`" in card and "`squim` (not asked" not in card


@with_squim
def test_other_weights_are_another_version(homes: dict[str, str], tmp_path: Path) -> None:
    """What one file of weights said is not taken for what another would say."""
    import torch

    sound = tmp_path / "sound"
    sound.mkdir()
    noise = np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)
    soundfile.write(sound / "noise.wav", noise, 16_000)
    direct("make", "squim", homes)
    check(sound, "squim", homes, "--language", "en")
    first = values_in(sound / "quality")[0]["values"]
    path = Path(homes["TORCH_HOME"], "hub", "torchaudio", "models", "squim_objective_dns2020.pth")
    weights = torch.load(path)
    weights["branches.0.2.2.bias"] += 1.0
    torch.save(weights, path)
    printed = check(sound, "squim", homes, "--language", "en")
    second = values_in(sound / "quality")[0]["values"]
    assert "1 new measurements" in printed
    # the last layer's sum goes through 1 / (1 + exp(-x))
    odds = [value["squim_stoi"] / (1 - value["squim_stoi"]) for value in (first, second)]
    assert odds[1] / odds[0] == pytest.approx(np.e, rel=1e-3)
    assert second["squim_pesq"] == pytest.approx(first["squim_pesq"], abs=1e-4)


@with_squim
def test_squim_has_nothing_to_say_of_silence_and_of_too_little(homes: dict[str, str], tmp_path: Path) -> None:
    sound = tmp_path / "sound"
    sound.mkdir()
    noise = np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)
    for name, samples in (("a", np.zeros(16_000)), ("b", noise[:6_000]), ("c", noise[:6_400])):
        soundfile.write(sound / f"{name}.wav", samples, 16_000)
    direct("make", "squim", homes)
    check(sound, "squim", homes, "--language", "en", "--workers", "1")
    values = [line["values"]["squim_stoi"] for line in values_in(sound / "quality")]
    assert values[:2] == [None, None] and 0 < values[2] < 1


@with_squim
@pytest.mark.parametrize("damage", [None, b"version https://git-lfs.github.com/spec/v1\n", b""])
def test_squim_weights_that_are_not_to_be_had(
    built: Path, homes: dict[str, str], tmp_path: Path, damage: bytes | None
) -> None:
    if damage is not None:
        path = Path(homes["TORCH_HOME"], "hub", "torchaudio", "models", "squim_objective_dns2020.pth")
        path.parent.mkdir(parents=True)
        path.write_bytes(damage)
    printed = check(built, "squim", homes, "--out", str(tmp_path / "out"))
    line = the_line(printed, "not measured: squim: ")
    assert "squim_objective_dns2020.pth" in line and "hub/torchaudio/models" in line
    assert all(sample["values"] == {} for sample in values_in(tmp_path / "out"))


@with_squim
def test_a_build_without_the_weights_says_so_in_the_card(
    homes: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in homes.items():
        monkeypatch.setenv(name, value)
    built = tone_folder(tmp_path, '[checks]\nmeasures = ["squim"]\n')
    line = the_line((built / "README.md").read_text(encoding="utf-8"), "Not measured: ")
    assert "`squim` (the weights of torchaudio's SQUIM_OBJECTIVE are not to be had (" in line


@with_utmosv2
def test_utmosv2_is_what_its_package_says(built: Path, homes: dict[str, str], tmp_path: Path) -> None:
    """Its package cuts pieces at random: the same from the same clip, and the number is of these pieces."""
    direct("make", "utmosv2", homes)
    asked = []
    for name, path in enumerate(stems_of(built)["user_interruption/en/ui-001/0"]):
        sound = tmp_path / "sound" / f"{name}.flac"
        sound.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, sound)
        pcm, rate = soundfile.read(sound, dtype="int16")
        clip = SpokenClip(
            samples=from_pcm16(pcm), sample_rate_hz=rate, text="", language="en", relation="user"
        )
        asked.append((str(sound), int(clip_key(clip)[:8], 16)))
    check(sound.parent, "utmosv2", homes, "--language", "en", "--workers", "1")
    found = [line["values"]["utmosv2"] for line in values_in(sound.parent / "quality")]
    *wanted, elsewhere = direct("rate", "utmosv2", homes, [*asked, (asked[0][0], asked[0][1] + 1)])
    assert found == pytest.approx(wanted, rel=1e-4)
    assert abs(elsewhere - wanted[0]) > 1e-3 * abs(wanted[0])


@with_utmosv2
def test_utmosv2_weights_that_are_not_to_be_had(built: Path, homes: dict[str, str], tmp_path: Path) -> None:
    printed = check(built, "utmosv2", homes, "--out", str(tmp_path / "out"))
    line = the_line(printed, "not measured: utmosv2: the weights of UTMOSv2 are not to be had (")
    assert "facebook/wav2vec2-base" in line


@with_comet
def test_comet_is_what_its_package_says(built: Path, homes: dict[str, str], tmp_path: Path) -> None:
    direct("make", "comet", homes, python=COMET_PYTHON)
    check(built, "comet", homes, "--out", str(tmp_path / "out"))
    lines = values_in(tmp_path / "out")
    texts = {
        name: [turn["reading"] or turn["text"] for turn in row["turns"]]
        for name, row in rows_of(built).items()
    }
    english, japanese = (texts[line["id"]] for line in lines)
    assert [line["language"] for line in lines] == ["en", "ja"]
    pairs = [{"src": a, "mt": b} for a, b in zip(english, japanese, strict=True)]
    scores = direct("rate", "comet", homes, pairs, python=COMET_PYTHON)
    assert abs(scores[0] - scores[1]) > 1e-3
    assert [line["values"]["comet_kiwi"] for line in lines] == pytest.approx([np.mean(scores)] * 2, abs=1e-5)
    # the same by the name of the file
    (file,) = Path(homes["HF_HOME"]).rglob("model.ckpt")
    check(built, "comet", homes, "--out", str(tmp_path / "by-file"), "--comet", str(file))
    assert values_in(tmp_path / "by-file") == lines


@with_comet
def test_comet_models_that_are_not_to_be_had(
    built: Path, homes: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = check(built, "comet", homes, "--out", str(tmp_path / "out"))
    line = the_line(
        printed, "not measured: comet: the COMET model 'Unbabel/wmt22-cometkiwi-da' is not to be had ("
    )
    assert (
        "HF_HUB_OFFLINE" in line and "licence" in line
    )  # the Hub's reason, not that of the place COMET asks next
    for name, value in homes.items():
        monkeypatch.setenv(name, value)
    lone = tmp_path / "checkpoints" / "lone.ckpt"
    lone.parent.mkdir()
    lone.write_bytes(b"none")
    _, reasons = usable([MEASURES["comet"]], Tools(cache_dir=tmp_path, comet=str(lone)))
    assert "hparams.yaml is missing" in reasons["comet"]
    (tmp_path / "hparams.yaml").write_text("class_identifier: unified_metric\n")
    _, reasons = usable([MEASURES["comet"]], Tools(cache_dir=tmp_path / "again", comet=str(lone)))
    assert "is not to be had" in reasons["comet"] and "\n" not in reasons["comet"]


def test_without_comet_the_refusal_says_how_to_install_it(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["check", str(built), "--measure", "comet", "--out", str(tmp_path / "out")]) == 2
    line = the_line(capsys.readouterr().err, "duplexkit: --measure: comet needs comet-score: ")
    assert "pip install unbabel-comet" in line
