"""`duplexkit serve-cosyvoice`, our server, round a real engine in the model's place."""

import importlib.util
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from duplexkit import SpeechError
from duplexkit.builders.serve_cosyvoice import main, make_server, read_request
from duplexkit.builders.speakers import SpeechRequest, make_speaker
from duplexkit.builders.speakers.cosyvoice_request import CosyRequest
from duplexkit.builders.speakers.hibari import Hibari
from duplexkit.builders.speakers.wav import Sound
from tests.builders.cosy_speaker import REFERENCE, made, spoken
from tests.builders.local_server import LocalServer


class HibariModel:
    """The fast English engine in a CosyVoice model's place."""

    model, sample_rate_hz = "hibari", 24_000

    def __init__(self) -> None:
        self.engine = Hibari(Path(), {})
        self.asked: list[CosyRequest] = []

    def speakers(self) -> tuple[str, ...]:
        return tuple(self.engine.voices())

    def speak(self, request: CosyRequest) -> Sound:
        self.asked.append(request)
        if request.text == "crash":
            raise ZeroDivisionError("deep inside")
        if request.speaker_id and request.speaker_id not in self.speakers():
            raise SpeechError(f"the model has no speaker {request.speaker_id!r}")
        voice = self.engine.voices()[request.speaker_id or "heart"]
        clip = self.engine.speak(
            SpeechRequest(
                text=request.text, language="en", voice=voice, speed=request.speed, seed=request.seed
            )
        )
        return Sound(samples=clip.samples, sample_rate_hz=clip.sample_rate_hz)


@contextmanager
def our_server(model: HibariModel) -> Iterator[LocalServer]:
    server = make_server(model, port=0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield LocalServer(url=f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.wav").write_bytes(REFERENCE)
    return tmp_path


@pytest.fixture(scope="module")
def model() -> HibariModel:
    return HibariModel()


def test_our_server_gives_the_engines_very_samples(folder: Path, model: HibariModel) -> None:
    with our_server(model) as server:
        speaker = made(folder, server.url)
        clip = spoken(speaker, "known", seed=5, speed=1.1)
        spoken(speaker, "ann", seed=6)
    direct = model.engine.speak(
        SpeechRequest(
            text="Good morning.", language="en", voice=model.engine.voices()["heart"], speed=1.1, seed=5
        )
    )
    assert clip.samples.tobytes() == direct.samples.tobytes() and clip.sample_rate_hz == 24_000
    assert speaker.uses_seed and speaker.version.startswith("model=hibari ")
    assert model.asked[-1] == CosyRequest(
        text="Good morning.", reference=REFERENCE, reference_text="Hello.", seed=6, speed=1.0
    )


def test_our_server_switches_the_chinese_text_frontend_off_for_japanese(
    folder: Path, model: HibariModel
) -> None:
    with our_server(model) as server, pytest.raises(SpeechError, match=r"answered 422: .*no character"):
        spoken(
            made(folder, server.url), "ann_ja", "はい", language="ja"
        )  # hibari cannot speak it, and says so
    assert model.asked[-1].text == "ハイ" and not model.asked[-1].text_frontend


def test_our_server_speaks_to_the_openai_client(
    folder: Path, model: HibariModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    voices = {"heart_low": {"languages": ["en"]}}
    for response_format in ("wav", "pcm"):
        with our_server(model) as server:
            options = {
                "base_url": f"{server.url}/v1", "model": "hibari", "licence": "Apache-2.0", "voices": voices,
                "aligner": "estimated", "response_format": response_format, "extra_body": {"seed": 4},
            }  # fmt: skip
            clip = spoken(make_speaker("openai_speech", folder, options), "heart_low")
        assert model.asked[-1].seed == 4 and model.asked[-1].speaker_id == "heart_low"
        assert clip.samples.size / 24_000 > 0.8


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/audio/speech", b"{", 400, "Expecting"),
        ("/v1/audio/speech", b"[]", 400, "no JSON object"),
        ("/v1/audio/speech", b"[" * 100_000, 400, "nested too deeply"),
        ("/v1/audio/speech", b'{"input": ""}', 400, "input = ''"),
        ("/v1/audio/speech", b'{"input": "x"}', 400, "a speaker id or a reference"),
        ("/v1/audio/speech", b'{"input": "x", "voice": "heart", "speed": 9}', 400, "speed = 9"),
        ("/v1/audio/speech", b'{"input": "x", "voice": "heart", "seed": -1}', 400, "seed = -1"),
        ("/v1/audio/speech", b'{"input": "x", "ref_audio": "%%%"}', 400, "no base64"),
        ("/v1/audio/speech", b'{"input": "x", "voice": "heart", "response_format": "mp3"}', 400, "wav, pcm"),
        ("/v1/audio/speech", b'{"input": "x", "voice": "nobody"}', 422, "no speaker 'nobody'"),
        ("/v1/audio/speech", b'{"input": "crash", "voice": "heart"}', 500, "deep inside"),
        ("/elsewhere", b"{}", 404, "there is no /elsewhere"),
    ],
)
def test_our_server_says_what_is_wrong(
    model: HibariModel, path: str, body: bytes, status: int, message: str
) -> None:
    with our_server(model) as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(server.url + path, data=body), timeout=10)
        assert caught.value.code == status
        assert message in json.loads(caught.value.read())["error"]["message"]
        with urllib.request.urlopen(f"{server.url}/v1/audio/voices", timeout=10) as answer:  # and lives on
            assert json.loads(answer.read())["voices"] == list(model.speakers())


def test_a_reference_may_be_a_data_url() -> None:
    import base64

    body = {"input": "x", "ref_audio": "data:audio/wav;base64," + base64.b64encode(REFERENCE).decode()}
    assert read_request(json.dumps(body).encode())[0].reference == REFERENCE


@pytest.mark.parametrize("repo", [None, "repo"])
def test_serving_what_is_no_model_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture, repo: str | None
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "is no CosyVoice model: it has none of cosyvoice3.yaml" in capsys.readouterr().err
    (tmp_path / "cosyvoice2.yaml").write_text("")
    if repo is None:
        if importlib.util.find_spec("cosyvoice") is None:
            assert main([str(tmp_path)]) == 2
            assert "needs the package 'cosyvoice'" in capsys.readouterr().err
    else:
        (tmp_path / repo).mkdir()
        assert main([str(tmp_path), "--repo", str(tmp_path / repo)]) == 2
        assert "is no clone of CosyVoice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "is no CosyVoice model: it has none of cosyvoice3.yaml"),
        (["--port", "99999"], "--port 99999: wanted 0 (any free one) to 65535"),
        (["--port", "-1"], "--port -1: wanted 0"),
        (["--host", "no such host"], "--host no such host: no address of this machine"),
        (["--host", "a..b"], "--host a..b: no address of this machine"),
    ],
)
def test_what_cannot_be_served_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture, arguments: list[str], message: str
) -> None:
    from duplexkit.builders.cli import main as command

    assert command(["serve-cosyvoice", str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert main([str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err
