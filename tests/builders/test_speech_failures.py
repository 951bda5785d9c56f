"""What stops a build from speaking: one clear line each, and the same command goes on where it stopped."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duplexkit.builders.cli import main
from duplexkit.builders.speakers.wav import wav_bytes
from duplexkit.builders.workshop import _workshops
from tests.builders.local_server import Asked, LocalServer, send, serving, tones
from tests.builders.test_build import rows_of
from tests.conftest import tone_recipe_text

SERVICE = """
name = "service"
version = "1.0.0"
seed = 5
languages = ["en"]
licence = "CC0-1.0"
[speech]
engine = "openai_speech"
[speech.options]
base_url = "{url}/v1"
model = "tts"
licence = "CC0-1.0"
aligner = "estimated"
attempts = 1
timeout_s = 5.0
[speech.options.voices.nova]
languages = ["en"]
[scenarios.user_backchannel]
count = 6
length_s = [0.05, 120.0]
"""


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Each build of these tests stands for a process of its own."""
    _workshops.clear()
    yield
    _workshops.clear()


def run(tmp_path: Path, text: str, out: str = "out") -> int:
    path = tmp_path / "r.toml"
    path.write_text(text)
    _workshops.clear()
    return main(
        [
            "build",
            str(path),
            "--out",
            str(tmp_path / out),
            "--cache",
            str(tmp_path / "cache"),
            "--workers",
            "1",
        ]
    )


def line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the message of a command that failed: one line, from nobody else."""
    told = [text for text in capsys.readouterr().err.splitlines() if not text.startswith("building ")]
    assert len(told) == 1 and told[0].startswith("duplexkit: "), told
    return told[0]


class Service:
    """A local speech service that refuses after some answers."""

    def __init__(self, n_good: int, status: int) -> None:
        self.n_good, self.status = n_good, status
        self.n_spoken = 0

    def __call__(self, handler: object, asked: Asked) -> None:
        if self.n_good == 0:
            error = {"error": {"message": "no", "type": "x", "code": "y"}}
            send(handler, self.status, json.dumps(error).encode(), "application/json")
            return
        self.n_good -= 1
        self.n_spoken += 1
        words = json.loads(asked.body)["input"].split()
        samples = tones(*(0.07 * len(word) for word in words), gap_s=0.06)
        send(handler, 200, wav_bytes(samples, sample_rate_hz=24_000), "audio/wav")


def goes_on(tmp_path: Path, server: LocalServer, service: Service) -> None:
    """The refusal over, the same command speaks what is left, and nothing twice."""
    before = service.n_spoken
    service.n_good = 10_000
    assert run(tmp_path, SERVICE.format(url=server.url)) == 0
    assert len(rows_of(tmp_path / "out")) == 6
    n_clips = len(list((tmp_path / "cache" / "openai_speech").rglob("*.zip")))
    assert service.n_spoken == n_clips > before


@pytest.mark.parametrize(("status", "said"), [(401, "OPENAI_API_KEY"), (403, "403")])
def test_a_refused_key(tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int, said: str) -> None:
    service = Service(n_good=5, status=status)
    with serving(service) as server:
        assert run(tmp_path, SERVICE.format(url=server.url)) == 1
        told = line(capsys)
        assert said in told and server.url in told
        assert not (tmp_path / "out").exists() and service.n_spoken == 5
        goes_on(tmp_path, server, service)


def test_a_dead_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Service(n_good=0, status=500)) as server:
        url = server.url
    assert run(tmp_path, SERVICE.format(url=url)) == 1
    assert url in line(capsys)
    cosy = SERVICE.replace('"openai_speech"', '"cosyvoice"').split("[speech.options]")[0]
    cosy += (
        f'[speech.options]\nurl = "{url}"\n[speech.options.voices.a]\nspeaker_id = "a"\nlicence = "CC0-1.0"\n'
    )
    assert run(tmp_path, cosy + "[scenarios.user_backchannel]\ncount = 1\n") == 1
    assert url in line(capsys)


def test_a_server_that_dies_on_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    service = Service(n_good=7, status=503)
    with serving(service) as server:
        assert run(tmp_path, SERVICE.format(url=server.url)) == 1
        assert "503" in line(capsys) and service.n_spoken == 7
        goes_on(tmp_path, server, service)


def test_a_missing_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ChatTTS", None)  # what Python itself does with a missing package
    text = tone_recipe_text("user_backchannel").replace('"tone"', '"chattts"').replace(', "ja"', "")
    assert run(tmp_path, text) == 1
    assert "pip install 'duplexkit[chattts]'" in line(capsys)


def test_an_unknown_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, tone_recipe_text("mt_qa").replace('"tone"', '"kokroo"')) == 2
    told = line(capsys)
    assert "did you mean 'kokoro'" in told and str(tmp_path / "r.toml") in told


def test_an_unknown_voice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voices = '"tone"\n[speech.voices.en]\nuser = ["tone-x"]\n'
    assert run(tmp_path, tone_recipe_text("user_backchannel").replace('"tone"\n', voices)) == 2
    told = line(capsys)
    assert "speech.voices.en.user: 'tone-x': unknown voice; did you mean" in told


def test_a_language_the_engine_cannot_speak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, tone_recipe_text("user_backchannel").replace('"tone"', '"hibari"')) == 2
    assert "engine 'hibari' has no voices for 'ja'; it has en" in line(capsys)


def test_a_voice_that_does_not_speak_the_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voices = '"kokoro"\n[speech.voices.en]\nuser = ["jf_alpha"]\n'
    assert run(tmp_path, tone_recipe_text("user_backchannel").replace('"tone"\n', voices)) == 2
    assert "voice 'jf_alpha' does not speak 'en', only ja" in line(capsys)
