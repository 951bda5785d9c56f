"""Servers that answer anything but sound: one sentence of ours, nothing kept, and the key nowhere."""

import datetime
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from duplexkit import DuplexkitError, EngineError, RecipeError, SpeechError
from duplexkit.builders.speakers import Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.wav import wav_bytes
from duplexkit.builders.speech_cache import get_or_speak
from duplexkit.builders.writers.dialect import Dialect
from duplexkit.builders.writers.endpoint import Endpoint, EndpointError, Question, ask, open_client
from tests.builders import cosy_speaker
from tests.builders.local_server import Asked, pcm16, send, serving, tones

KEY = "sk-secret-0123456789"
SAMPLES = tones(0.4, 0.3)
WAV, PCM = wav_bytes(SAMPLES, sample_rate_hz=24_000), pcm16(SAMPLES)
HTML = (
    b"<!DOCTYPE html><html><body>" + b"<p>Please log in to the hotel network.</p>" * 500 + b"</body></html>"
)
JSON = json.dumps({"error": {"message": "quota exceeded: 枠を超えました"}}).encode() * 200
HEALTH = json.dumps({"server": "duplexkit-cosyvoice", "model": "m"}).encode()

Made = Callable[[Path, str], Speaker]


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.wav").write_bytes(cosy_speaker.REFERENCE)
    return tmp_path


def openai(response_format: str, **more: object) -> Made:
    def made(folder: Path, url: str) -> Speaker:
        options = {
            "base_url": f"{url}/v1", "model": "m", "licence": "CC0-1.0", "aligner": "estimated", "attempts": 1,
            "timeout_s": 5.0, "response_format": response_format, "voices": {"ann": {"languages": ["en"]}}, **more,
        }  # fmt: skip
        return make_speaker("openai_speech", folder, options)

    return made


def cosy(server: str) -> Made:
    return lambda folder, url: cosy_speaker.made(folder, url, server=server, attempts=1)


ENGINES = {
    "openai wav": openai("wav"),
    "openai pcm": openai("pcm"),
    "cosyvoice upstream": cosy("upstream"),
    "cosyvoice ours": cosy("duplexkit"),
}


def answering(data: bytes, content_type: str | None, status: int = 200, **headers: str) -> Callable:
    """Answer a text to speak with that; our server's health as it is."""

    def answer(handler: object, asked: Asked) -> None:
        if asked.path == "/health":
            send(handler, 200, HEALTH, "application/json")
        elif content_type is not None:
            send(handler, status, data, content_type, **headers)
        else:
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)

    return answer


def refused(folder: Path, made: Made, answers: Sequence[Callable]) -> list[DuplexkitError]:
    """Return the errors that speaking ends in, one for each way to answer; nothing may be kept."""
    errors, counts = [], []
    current = [answering(b"", None)]
    with serving(lambda handler, asked: current[0](handler, asked)) as server:
        speaker = made(folder, server.url)
        for k, answer in enumerate(answers):
            current[0] = answer
            request = SpeechRequest(text="Good morning.", language="en", voice=speaker.voices()["ann"])
            try:
                get_or_speak(folder / "cache", speaker, request, counts.append)
            except SpeechError as error:
                assert str(error).isprintable()
                errors.append(error)
            else:
                raise AssertionError(f"answer {k} was taken")
    assert counts == [] and not list(folder.rglob("*.zip"))
    return errors


@pytest.mark.parametrize("engine", ENGINES)
def test_a_text_with_status_200_is_no_sound(folder: Path, engine: str) -> None:
    latin, japanese = "<p>Café</p>".encode("latin-1") * 10, ("待機中です。" * 60).encode()
    texts = [HTML, JSON, b"<?xml version='1.0'?> ", b"no", latin, japanese]
    even = [text[: len(text) // 2 * 2] for text in texts]
    answers = [answering(t, kind) for t in even for kind in ("text/html", "application/octet-stream", None)]
    others = [
        "application/json; charset=utf-8",
        "TEXT/plain",
        "application/xhtml+xml",
        "application/problem+json",
    ]
    others += ["text/event-stream", "application/xml", "audio/mpeg", "video/mp4", "audio/webm"]
    answers += [answering(PCM, kind) for kind in others]
    assert all(isinstance(error, EngineError) for error in refused(folder, ENGINES[engine], answers))


@pytest.mark.parametrize("engine", ENGINES)
def test_sound_without_a_type_is_sound(folder: Path, engine: str) -> None:
    data = PCM if engine in ("openai pcm", "cosyvoice upstream") else WAV
    for content_type in (None, "application/octet-stream", "audio/x-wav"):
        with serving(answering(data, content_type)) as server:
            speaker = ENGINES[engine](folder, server.url)
            clip = speaker.speak(
                SpeechRequest(text="Good morning.", language="en", voice=speaker.voices()["ann"])
            )
        assert clip.samples.size == SAMPLES.size


@pytest.mark.parametrize("engine", ENGINES)
def test_what_would_be_refused_for_every_text_stops_the_build(folder: Path, engine: str) -> None:
    statuses = (301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 410, 451, 501)

    def refusing(status: int) -> Callable:
        def answer(handler: object, asked: Asked) -> None:
            if asked.path == "/elsewhere":  # where a client that follows would find sound, its text lost
                send(handler, 200, WAV, "audio/wav")
            else:
                answering(b"no", "text/plain", status, Location="/elsewhere")(handler, asked)

        return answer

    errors = refused(folder, ENGINES[engine], [refusing(status) for status in statuses])
    for error, status in zip(errors, statuses, strict=True):
        assert isinstance(error, EngineError) and str(status) in str(error)
        assert ("/elsewhere" in str(error)) == (status < 400)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refusal_of_one_text_rejects_its_sample(folder: Path, engine: str) -> None:
    answers = [answering(b"too long", "text/plain", status) for status in (400, 413, 422)]
    for error in refused(folder, ENGINES[engine], answers):
        assert not isinstance(error, EngineError) and re.search("answered (400|413|422)", str(error))


def raw(data: bytes) -> Callable:
    def answer(handler: object, asked: Asked) -> None:
        if asked.path == "/health":
            send(handler, 200, HEALTH, "application/json")
            return
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


BROKEN = (
    b"", b"\0\1nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\nabc",
    b"HTTP/1.1 500 No\r\nContent-Length: 9000\r\n\r\noops", b"HTTP/1.1 404 No\r\nContent-Length: 9000\r\n\r\n",
    b"HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", b"HTTP/1.1 204 No\r\n\r\n",
    b"HTTP/1.1 304 No\r\n\r\n", b"HTTP/1.1 302 No\r\nLocation: http://[bad\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\nnogzip",
    b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 500 + b"\r\n",
)  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_that_is_broken_is_one_sentence(folder: Path, engine: str) -> None:
    for error in refused(folder, ENGINES[engine], [raw(data) for data in BROKEN]):
        assert isinstance(error, EngineError) or "answered 422" in str(error)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (b'{"server": "duplexkit-cosyvoice"}', "not which model it has .model = None"),
        (b'{"server": "duplexkit-cosyvoice", "model": ["m"]}', "not which model it has"),
        (b"[1]", "what answers there is not duplexkit"),
        (b"\xff\xfe{", "what answers there is not duplexkit"),
        (HTML, "what answers there is not duplexkit"),
        (b"[" * 100_000, "what answers there is not duplexkit"),
    ],
)
def test_a_server_that_says_nonsense_of_itself(folder: Path, said: bytes, message: str) -> None:
    def answer(handler: object, asked: Asked) -> None:
        send(handler, 200, said, "application/json")

    with serving(answer) as server, pytest.raises(EngineError, match=message):
        cosy("duplexkit")(folder, server.url)


@pytest.mark.parametrize("url", ["", "127.0.0.1:1", "http://[::1", "http://h:99999", "http://me:secret@h"])
def test_an_address_that_is_none_is_the_recipes_fault(folder: Path, url: str) -> None:
    for key, made in {"url": cosy("auto"), "base_url": openai("wav", base_url=url)}.items():
        with pytest.raises(RecipeError, match=rf"speech\.options\.{key}: ") as caught:
            made(folder, url)
        assert "secret" not in str(caught.value)
    with pytest.raises(EndpointError, match="base URL: ") as raised:
        Endpoint(model="m", base_url=url)
    assert "secret" not in str(raised.value)


def test_a_proxy_that_is_none_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http:/me:secret@h")
    request = SpeechRequest(
        text="Hi.", language="en", voice=cosy("upstream")(folder, "http://h").voices()["ann"]
    )
    for engine, made in ENGINES.items():
        with pytest.raises(EngineError) as caught:
            made(folder, "http://h.invalid").speak(request)
        assert "secret" not in str(caught.value), engine


@pytest.mark.parametrize(
    ("extra_body", "message"),
    [
        *(({key: "zzz"}, f"extra_body.{key}: the request says that itself") for key in
          ("model", "input", "voice", "response_format", "speed", "instructions")),
        ({"when": datetime.date(2026, 1, 1)}, "extra_body.when = 2026-01-01: JSON has no such value"),
        ({"a": {"b": [1, float("nan")]}}, r"extra_body\.a\.b\[1\] = nan: JSON has no such value"),
        ({"a": float("inf")}, "extra_body.a = inf"),
        ({"auth": f"Bearer {KEY}"}, "holds the key of OPENAI_API_KEY"),
        ([1], "wanted a table"),
    ],
)  # fmt: skip
def test_what_is_sent_besides_may_not_change_what_is_said(
    folder: Path, extra_body: object, message: str
) -> None:
    for sends_speed in (True, False):
        with pytest.raises(RecipeError, match=message) as caught:
            openai("wav", extra_body=extra_body, sends_speed=sends_speed)(folder, "http://127.0.0.1:1")
        assert KEY not in str(caught.value)


class TestKey:
    """A server that repeats the key it was sent, in every way and place: it stands in no message and no file."""

    @pytest.mark.parametrize("response_format", ["wav", "pcm"])
    def test_of_speech(self, folder: Path, response_format: str) -> None:
        def repeating(status: int, content_type: str) -> Callable:
            def answer(handler: object, asked: Asked) -> None:
                sent = asked.headers["Authorization"]
                assert sent == f"Bearer {KEY}"
                body = (
                    f"{'x' * 110}{sent} {'x' * 150}{sent}"  # it lies across the places where messages are cut
                )
                if content_type != "text/html":
                    body = json.dumps({"error": {"message": body, "key": sent}})
                send(handler, status, body.encode(), content_type, Location=f"http://x/{sent.split()[1]}")

            return answer

        statuses, types = (
            (200, 400, 401, 403, 404, 422, 429, 500, 302),
            ("text/html", "application/json", "audio/x"),
        )
        answers = [repeating(status, kind) for status in statuses for kind in types]
        errors = refused(folder, openai(response_format), answers)
        assert all("secr" not in str(error) for error in errors)
        assert sum("[key]" in str(error) for error in errors) > 6

    @pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 302])
    def test_of_writing(self, status: int) -> None:
        def answer(handler: object, asked: Asked) -> None:
            sent = asked.headers["Authorization"]
            body = json.dumps({"error": {"message": f"{'x' * 390}{sent}"}})
            send(handler, status, body.encode(), "application/json", Location="/elsewhere")

        with serving(answer) as server:
            endpoint = Endpoint(model="m", base_url=f"{server.url}/v1", max_attempts=1, first_wait_s=0.01)
            with open_client(endpoint) as client, pytest.raises(EndpointError) as caught:
                ask(client, endpoint, Question(system="s", user="u"), Dialect())
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize("raw_key", [f"{KEY}\n", f" {KEY} "])
    def test_white_space_round_it_is_not_sent(
        self, folder: Path, raw_key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", raw_key)
        with serving(answering(WAV, "audio/wav")) as server:
            speaker = openai("wav")(folder, server.url)
            speaker.speak(SpeechRequest(text="Hi.", language="en", voice=speaker.voices()["ann"]))
        assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize("raw_key", ["sk-secret\nb", "sk-secret b", "sk-secrét", "sk-secret\x01"])
    def test_one_that_cannot_be_sent_stops_all(
        self, folder: Path, raw_key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", raw_key)
        error = refused(folder, openai("wav"), [answering(WAV, "audio/wav")])[0]
        assert isinstance(error, EngineError) and "secr" not in str(error)
        with pytest.raises(EndpointError) as caught:
            open_client(Endpoint(model="m", base_url="http://127.0.0.1:1/v1"))
        assert "secr" not in str(caught.value)

    def test_one_in_the_place_of_its_name_is_not_shown(self) -> None:
        with pytest.raises(EndpointError, match="wanted the name of an environment variable") as caught:
            Endpoint(model="m", key_env=KEY)
        assert KEY not in str(caught.value)
