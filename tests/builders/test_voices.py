"""The command `voices`: filters, JSON, and a voice to be heard."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from duplexkit.builders.cli import main
from duplexkit.builders.speakers import engines
from tests.tone import ToneSpeaker


def objects(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main(["voices", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_a_list_of_objects_with_all_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    voices = objects(capsys, "--language", "ja", "--set", "default")
    assert len(voices) >= 10
    for voice in voices:
        assert {"id", "engine", "languages", "gender", "accent", "licence", "attribution", "dnsmos"} <= set(
            voice
        )
        assert voice["engine"] == "kokoro" and "ja" in voice["languages"] and voice["dnsmos"] > 3.0
        assert sum(part["weight"] for part in voice["mix"]) == pytest.approx(1.0)
        assert "ja:default" in voice["sets"]
    credited = [voice for voice in voices if "CC-BY-3.0" in voice["licence"]]
    assert credited and all("Koniwa" in voice["attribution"] for voice in credited)
    assert len(objects(capsys, "--language", "en", "--set", "default")) >= 26


def test_filters_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    every = objects(capsys)
    for option, value, key in (("--gender", "female", "gender"), ("--accent", "en-GB", "accent")):
        some = objects(capsys, option, value)
        assert some == [voice for voice in every if voice[key] == value] and 0 < len(some) < len(every)
    assert objects(capsys, "--dnsmos", "3.5") == [v for v in every if (v["dnsmos"] or 0) >= 3.5]
    assert [v["id"] for v in objects(capsys, "--voice", "af_heart")] == ["af_heart"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--language", "xx"], "unknown language"),
        (["--set", "defualt"], "did you mean 'default'"),
        (["--voice", "af_hart"], "did you mean 'af_heart'"),
        (["--engine", "kokro"], "did you mean 'kokoro'"),
        (["--gender", "female", "--voice", "am_adam"], "the other options leave it out"),
        (["--dnsmos", "4.9"], "no such voice"),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["voices", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_table_names_them(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["voices", "--engine", "tone", "--language", "en"]) == 0
    shown = capsys.readouterr().out
    assert "4 voices of tone" in shown and all(name in shown for name in ("tone-a", "tone-d", "not measured"))
    assert "tone: languages en, ja; part of the tests" in shown and "speech CC0-1.0" in shown
    assert "pauses: asked for by punctuation; word times: its own; takes no seed" in shown


def test_play_writes_what_the_voice_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wav = tmp_path / "x.wav"
    said = ["--text", "one two three", "--language", "en", "--voice", "tone-c"]
    assert main(["voices", "--engine", "tone", "--play", str(wav), *said]) == 0
    assert "tone-c says 'one two three'" in capsys.readouterr().out
    samples, rate_hz = soundfile.read(wav)
    spectrum = np.abs(np.fft.rfft(samples))
    loudest_hz = float(np.fft.rfftfreq(samples.size, 1 / rate_hz)[int(np.argmax(spectrum))])
    assert rate_hz == 24000 and loudest_hz == pytest.approx(700, abs=10), "the third tone"
    assert main(["voices", "--engine", "tone", "--play", str(tmp_path / "no" / "x.wav")]) == 2


def test_a_language_without_a_sentence_wants_a_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    class Foreign(ToneSpeaker):
        def voices(self):
            return {name: replace(v, languages=("qaa",)) for name, v in super().voices().items()}

    monkeypatch.setitem(engines(), "foreign", replace(engines()["tone"], name="foreign", make=Foreign))
    assert main(["voices", "--engine", "foreign", "--play", str(tmp_path / "x.wav")]) == 2
    assert "give one with --text" in capsys.readouterr().err


def test_serving_a_model_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve-cosyvoice", str(tmp_path / "nothing"), "--port", "0"]) != 0
    assert "duplexkit: " in capsys.readouterr().err


@pytest.mark.slow
def test_a_default_voice_is_heard(tmp_path: Path) -> None:
    wav = tmp_path / "x.wav"
    assert main(["voices", "--voice", "jm_kumo", "--play", str(wav), "--cache", str(tmp_path)]) == 0
    samples, rate_hz = soundfile.read(wav)
    assert 2.0 < samples.size / rate_hz < 8.0 and np.abs(samples).max() > 0.05
