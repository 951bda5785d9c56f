"""A small server round a CosyVoice model: ``/v1/audio/speech`` with speed, seed and reference, WAV out."""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import logging
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from .. import DuplexkitError, EngineError, RecipeError, SpeechError
from ..scenarios.reason import reason_of
from .speakers.cosyvoice_http import OUR_SERVER
from .speakers.cosyvoice_request import CosyRequest
from .speakers.wav import Sound, wav_bytes

HOST, PORT = "127.0.0.1", 50000
_MAX_BODY_BYTES = 64 << 20
_MOST_PORT = 65535
_FORMATS = ("wav", "pcm")
_LOG = logging.getLogger(__name__)


class Model(Protocol):
    """What the server needs of a model: `speakers.cosyvoice_model.CosyModel` is one."""

    model: str
    sample_rate_hz: int

    def speakers(self) -> tuple[str, ...]:
        """Return the speaker ids it knows."""
        ...

    def speak(self, request: CosyRequest) -> Sound:
        """Return the spoken text."""
        ...


def make_server(model: Model, *, host: str = HOST, port: int = PORT) -> ThreadingHTTPServer:
    """Return a server that is ready for ``serve_forever``; port 0 takes any free one.

    The model speaks one text at a time; other requests wait.
    """
    lock = threading.Lock()

    class Handler(_Handler):
        pass

    Handler.model, Handler.lock = model, lock
    return ThreadingHTTPServer((host, port), Handler)


class _Handler(BaseHTTPRequestHandler):
    model: Model
    lock: threading.Lock
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/health":
            self._json(
                200,
                {
                    "server": OUR_SERVER,
                    "model": self.model.model,
                    "sample_rate_hz": self.model.sample_rate_hz,
                    "voices": self.model.speakers(),
                },
            )
        elif self.path == "/v1/audio/voices":
            self._json(200, {"voices": self.model.speakers()})
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": self.model.model, "object": "model"}]})
        else:
            self._refuse(
                404, f"there is no {self.path}; GET /health, /v1/audio/voices, POST /v1/audio/speech"
            )

    def do_POST(self) -> None:
        try:
            body = self._body()
        except ValueError as error:
            self.close_connection = True  # what is left of the body would be taken for the next request
            self._refuse(400, str(error))
            return
        if self.path != "/v1/audio/speech":
            self._refuse(404, f"there is no {self.path}; POST /v1/audio/speech")
            return
        try:
            request, wanted = read_request(body)
        except (ValueError, SpeechError) as error:
            self._refuse(400, str(error))
            return
        except RecursionError:
            self._refuse(400, "the body is nested too deeply")
            return
        try:
            with self.lock:
                sound = self.model.speak(request)
        except SpeechError as error:
            self._refuse(422, str(error))
            return
        except Exception as error:
            _LOG.exception("the model failed")
            self._refuse(500, f"the model failed: {reason_of(error)}")
            return
        self._send(sound, wanted)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MAX_BODY_BYTES:
            raise ValueError(f"Content-Length {length!r}: wanted a number up to {_MAX_BODY_BYTES}")
        return self.rfile.read(int(length))

    def _send(self, sound: Sound, wanted: str) -> None:
        if wanted == "wav":
            data, content_type = wav_bytes(sound.samples, sample_rate_hz=sound.sample_rate_hz), "audio/wav"
        else:
            scaled = (sound.samples * 32768).round().clip(-32768, 32767)
            data, content_type = scaled.astype("<i2").tobytes(), f"audio/pcm; rate={sound.sample_rate_hz}"
        self._answer(200, data, content_type)

    def _json(self, status: int, value: Any) -> None:
        self._answer(status, json.dumps(value).encode(), "application/json")

    def _refuse(self, status: int, message: str) -> None:
        self._json(status, {"error": {"message": message, "type": "invalid_request_error", "code": status}})

    def _answer(self, status: int, data: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        _LOG.info("%s %s", self.address_string(), format % args)


def read_request(body: bytes) -> tuple[CosyRequest, str]:
    """Return what is asked of the model, and in which format.

    Raises
    ------
    ValueError
        For what is no JSON object, or a key with a wrong value; names it.
    SpeechError
        For a reference that cannot be used.
    """
    asked = json.loads(body)
    if not isinstance(asked, dict):
        raise ValueError("the body is no JSON object")
    text = asked.get("input")
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"input = {text!r}: wanted the text to speak")
    wanted = asked.get("response_format", "wav")
    if wanted not in _FORMATS:
        raise ValueError(f"response_format = {wanted!r}: wanted one of {', '.join(_FORMATS)}")
    speed, seed = asked.get("speed", 1.0), asked.get("seed", 0)
    if not isinstance(speed, int | float) or not 0.25 <= speed <= 4.0:
        raise ValueError(f"speed = {speed!r}: wanted 0.25 to 4")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise ValueError(f"seed = {seed!r}: wanted a whole number from 0")
    try:
        reference = base64.b64decode(str(asked.get("ref_audio") or "").rpartition(",")[2], validate=True)
    except binascii.Error as error:
        raise ValueError(f"ref_audio is no base64 (a data: URL is fine): {error}") from None
    request = CosyRequest(
        text=text,
        speaker_id="" if reference else str(asked.get("voice") or ""),
        reference=reference,
        reference_text=str(asked.get("ref_text") or ""),
        instruct=str(asked.get("instructions") or ""),
        speed=float(speed),
        seed=seed,
        text_frontend=bool(asked.get("text_frontend", True)),
    )
    return request, str(wanted)


def serve(model_dir: Path, *, repo_dir: Path | None = None, host: str = HOST, port: int = PORT) -> None:
    """Load the model and answer until interrupted.

    Raises
    ------
    RecipeError
        If the folder holds no model, or there is no such port or address.
    EngineError
        If the model cannot be loaded, or the port is taken.
    """
    if not 0 <= port <= _MOST_PORT:
        raise RecipeError(f"--port {port}: wanted 0 (any free one) to {_MOST_PORT}")
    try:
        socket.getaddrinfo(host or None, port, family=socket.AF_INET, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # ValueError: no name that can be written
        raise RecipeError(f"--host {host}: no address of this machine, such as {HOST} or 0.0.0.0") from None
    from .speakers.cosyvoice_model import CosyModel

    model = CosyModel(model_dir, repo_dir)
    try:
        server = make_server(model, host=host, port=port)
    except OSError as error:
        raise EngineError(f"cannot listen on {host}:{port}: {error.strerror}; give another --port") from error
    _LOG.info("%s at http://%s:%d, %d Hz", model.model, host, server.server_port, model.sample_rate_hz)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def main(argv: list[str] | None = None) -> int:
    """Serve the model named on the command line; 0 after an interrupt, 2 if it cannot be served."""
    parser = argparse.ArgumentParser(prog="duplexkit serve-cosyvoice", description=__doc__)
    parser.add_argument("model_dir", type=Path, help="folder of a CosyVoice 2 or 3 model")
    parser.add_argument("--repo", type=Path, help="clone of the CosyVoice repository, with submodules")
    parser.add_argument("--host", default=HOST)
    parser.add_argument("--port", type=int, default=PORT)
    given = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        serve(given.model_dir, repo_dir=given.repo, host=given.host, port=given.port)
    except DuplexkitError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
