"""The command `voices`: filters, JSON, and a voice to be heard."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from duplexkit import RecipeError
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


def test_play_overwrites_nothing_and_says_so_before_it_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[str] = []
    monkeypatch.setattr(ToneSpeaker, "speak", lambda self, request: spoken.append(request.text))
    recipe, wav, link = tmp_path / "mine.toml", tmp_path / "mine.wav", tmp_path / "link.wav"
    recipe.write_text("name = 1")
    wav.write_text("notes")
    link.symlink_to(tmp_path / "nowhere")
    (tmp_path / "dir.wav").mkdir()
    for path, message in (
        (recipe, "wanted the name of a WAV file to write"),
        (tmp_path / "new", "wanted the name of a WAV file to write"),
        (wav, "it exists; give another name, or --overwrite"),
        (link, "it exists"),
        (tmp_path / "dir.wav", "it exists"),
        (tmp_path / "no" / "x.wav", "cannot be written: there is no folder"),
    ):
        assert main(["voices", "--engine", "tone", "--play", str(path)]) == 2
        assert message in capsys.readouterr().err
    assert (recipe.read_text(), wav.read_text(), spoken) == ("name = 1", "notes", [])


def test_only_a_wav_file_may_be_replaced(tmp_path: Path) -> None:
    from duplexkit.builders.speakers.wav import wav_bytes
    from duplexkit.builders.voice_table import refuse_unplayable

    wav = tmp_path / "x.wav"
    wav.write_bytes(wav_bytes(np.zeros(9, dtype=np.float32), sample_rate_hz=24_000))
    refuse_unplayable(wav, overwrite=True)
    wav.write_text("notes")
    with pytest.raises(RecipeError, match="is no WAV file, so it is left"):
        refuse_unplayable(wav, overwrite=True)


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
