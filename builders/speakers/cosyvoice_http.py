"""Clients of two CosyVoice servers: upstream's FastAPI server, and ours (``duplexkit serve-cosyvoice``)."""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ... import EngineError, SpeechError
from ..service import ABOUT_THE_REQUEST, without_secrets
from .cosyvoice_request import CosyRequest
from .wav import BrokenSoundError, NoSoundError, Sound, check_content_type, read_pcm16, read_wav

UPSTREAM_RATE_HZ = 24_000
"""What CosyVoice2 and 3 make; upstream's server does not say it, and CosyVoice 1 makes 22 050."""
OUR_SERVER = "duplexkit-cosyvoice"
_MOST_SAID_BYTES = 300
_MOST_HEALTH_BYTES = 1 << 20
_WAIT_S = 0.5
_HANDLERS = (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.HTTPDefaultErrorHandler,
)
"""What urllib opens an address with, but for redirects."""
_RETRIED = frozenset({408, 429, 500, 502, 503, 504})


class UpstreamClient:
    """Upstream's routes: form fields in, raw 16-bit PCM out, no rate, no speed, no seed.

    Parameters
    ----------
    url : str
    model : str
        What the server has, for the record: it does not say.
    sample_rate_hz : int
    timeout_s : float
    attempts : int
    """

    uses_seed = False
    takes_speed = False

    def __init__(self, url: str, *, model: str, sample_rate_hz: int, timeout_s: float, attempts: int) -> None:
        self.url, self.model = url.rstrip("/"), f"{model} rate_hz={sample_rate_hz}"
        self._rate_hz, self._timeout_s, self._attempts = sample_rate_hz, timeout_s, attempts

    def speak(self, request: CosyRequest) -> Sound:
        """Return the spoken text, as the server sent it.

        Raises
        ------
        SpeechError
            If a speed is asked for, which the routes cannot take, or the server refuses the text.
        EngineError
            If the server cannot be reached, or answers with an error of its own, with nothing, with half a
            sample or with a stream that breaks off, at each attempt.
        """
        if request.speed != 1.0:
            raise SpeechError(
                f"speed {request.speed}: upstream's CosyVoice server takes none; set speech.speed = 1, or use "
                "duplexkit serve-cosyvoice"
            )
        fields = {"tts_text": request.text}
        if request.speaker_id:
            route, fields["spk_id"] = "inference_sft", request.speaker_id
        elif request.instruct:
            route, fields["instruct_text"] = "inference_instruct2", request.instruct
        elif request.reference_text:
            route, fields["prompt_text"] = "inference_zero_shot", request.reference_text
        else:
            route = "inference_cross_lingual"
        body, content_type = multipart(fields, request.reference)
        source = f"CosyVoice server {self.url}/{route}"

        def ask() -> Sound:
            try:
                data = post(f"{self.url}/{route}", body, content_type, self._timeout_s)
                return read_pcm16(data, sample_rate_hz=self._rate_hz, source=source)
            except NoSoundError:
                raise
            except BrokenSoundError as error:
                hint = (
                    ". Upstream's server since commit 622a3a1 (2025-12-08) breaks every request with a reference: "
                    "use duplexkit serve-cosyvoice, or an older commit"
                )
                raise BrokenSoundError(f"{error}{hint if request.reference else ''}") from error

        return persistently(ask, attempts=self._attempts, what=request.text)


class OurClient:
    """Our server's route: JSON in, a WAV file with its true rate out.

    Parameters
    ----------
    url : str
    model : str
        What the server says it has.
    timeout_s : float
    attempts : int
    """

    uses_seed = True
    takes_speed = True

    def __init__(self, url: str, *, model: str, timeout_s: float, attempts: int) -> None:
        self.url, self.model = url.rstrip("/"), model
        self._timeout_s, self._attempts = timeout_s, attempts

    def speak(self, request: CosyRequest) -> Sound:
        """Return the spoken text, as the server sent it.

        Raises
        ------
        SpeechError
            If the server refuses the text.
        EngineError
            If it cannot be reached, or answers with an error of its own or no whole WAV file, at each
            attempt.
        """
        asked: dict[str, Any] = {
            "model": self.model,
            "input": request.text,
            "voice": request.speaker_id,
            "response_format": "wav",
            "speed": request.speed,
            "seed": request.seed,
            "instructions": request.instruct,
            "text_frontend": request.text_frontend,
        }
        if request.reference:
            asked["ref_audio"] = base64.b64encode(request.reference).decode()
            asked["ref_text"] = request.reference_text
        url = f"{self.url}/v1/audio/speech"
        body = json.dumps(asked).encode()

        def ask() -> Sound:
            data = post(url, body, "application/json", self._timeout_s)
            return read_wav(data, source=f"CosyVoice server {url}")

        return persistently(ask, attempts=self._attempts, what=request.text)


def our_model(url: str, timeout_s: float) -> str | None:
    """Return what our server says it has, or None where another server answers.

    Raises
    ------
    EngineError
        If nothing answers, or ours does not say.
    """
    try:
        with _opened(urllib.request.Request(f"{url.rstrip('/')}/health"), timeout_s) as answer:
            said = json.loads(answer.read(_MOST_HEALTH_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        return None  # a server without this route
    except (OSError, http.client.HTTPException) as error:
        raise EngineError(
            f"the CosyVoice server {url} does not answer ({_reason(error)}): start it "
            "(duplexkit serve-cosyvoice MODEL_DIR), or mend speech.options.url. What was spoken is kept"
        ) from error
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.get("server") != OUR_SERVER:
        return None
    model = said.get("model")
    if not isinstance(model, str) or not model:
        raise EngineError(
            f"the CosyVoice server {url} says that it is {OUR_SERVER}, but not which model it has (model = "
            f"{model!r}): start duplexkit serve-cosyvoice of this version there"
        )
    return model


def multipart(fields: Mapping[str, str], reference: bytes) -> tuple[bytes, str]:
    """Return a form's body and content type (RFC 7578): text fields, and the file ``prompt_wav`` if any."""
    boundary = uuid.uuid5(uuid.NAMESPACE_OID, repr(sorted(fields.items()))).hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    if reference:
        head = 'Content-Disposition: form-data; name="prompt_wav"; filename="reference.wav"'
        parts.append(
            f"--{boundary}\r\n{head}\r\nContent-Type: audio/wav\r\n\r\n".encode() + reference + b"\r\n"
        )
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def post(url: str, body: bytes, content_type: str, timeout_s: float) -> bytes:
    """Return the whole answer, whose header does not say that it is something else than sound.

    Raises
    ------
    BrokenSoundError
        If the answer breaks off, or is no sound by what its header says.
    RetriableError
        If the server is busy, has failed, is too slow, or cannot be reached.
    SpeechError
        If it refuses this request.
    EngineError
        If it would refuse every request: no such route, a key wanted, another place named.
    """
    request = urllib.request.Request(url, data=body, headers={"Content-Type": content_type}, method="POST")
    try:
        with _opened(request, timeout_s) as answer:
            data: bytes = answer.read()
            said_type, coding = (answer.headers.get(f"Content-{name}", "") for name in ("Type", "Encoding"))
    except urllib.error.HTTPError as error:
        raise _refusal(url, error) from error
    except http.client.IncompleteRead as error:
        raise BrokenSoundError(f"{url} broke off its answer after {len(error.partial)} bytes") from error
    except TimeoutError as error:
        raise RetriableError(f"{url} gave no answer in {timeout_s:g} s") from error
    except (OSError, http.client.HTTPException) as error:
        raise RetriableError(
            f"{url} cannot be reached ({_reason(error)}): start the server, or mend speech.options.url"
        ) from error
    check_content_type(said_type, data, source=url)
    if coding not in ("", "identity"):
        raise NoSoundError(f"{url} sent its answer as {coding}, which was not asked for")
    return data


def _opened(request: urllib.request.Request, timeout_s: float) -> Any:
    """Return the open answer; a redirect is an error like others: to follow it would lose the text on the way."""
    opener = urllib.request.OpenerDirector()
    for kind in _HANDLERS:
        opener.add_handler(kind())
    try:
        return opener.open(request, timeout=timeout_s)
    except ValueError:  # not shown: a proxy's address may hold a password
        raise urllib.error.URLError("the proxy that the environment names has no address") from None


def _refusal(url: str, error: urllib.error.HTTPError) -> SpeechError:
    """Return what a status that is not 2xx means, and what to do."""
    message = f"{url} answered {error.code}: {_said(error)}"
    if error.code in _RETRIED:
        return RetriableError(message)
    if error.code in ABOUT_THE_REQUEST:
        return SpeechError(message)
    if 300 <= error.code < 400:
        there = without_secrets(error.headers.get("Location", "nowhere"))[:_MOST_SAID_BYTES]
        return EngineError(f"{url} answered {error.code} and sends to {there}: mend speech.options.url")
    cures = {
        401: "it wants a key, and CosyVoice servers are asked without one: let it answer this machine",
        403: "it refuses this machine: look at its settings",
        404: "it has no such route: mend speech.options.url or speech.options.server",
    }
    return EngineError(f"{message}; {cures.get(error.code, 'look at the server')}. What was spoken is kept")


def _said(error: urllib.error.HTTPError) -> str:
    """Return the beginning of the server's words, or its short reason where they do not come."""
    with error:
        try:
            body = error.read(_MOST_SAID_BYTES)
        except (OSError, http.client.HTTPException):
            body = b""
    return without_secrets(body.decode("utf-8", "replace") or str(error.reason))


class RetriableError(SpeechError):
    """A failure that may pass."""


def persistently(ask: Callable[[], Sound], *, attempts: int, what: str) -> Sound:
    """Return what `ask` returns, asked up to `attempts` times while it fails in a way that may pass.

    Raises
    ------
    EngineError
        The last failure, with the number of attempts and the text.
    """
    for attempt in range(1, attempts + 1):
        try:
            return ask()
        except (BrokenSoundError, RetriableError) as error:
            if attempt == attempts:
                raise EngineError(
                    f"{error} (tried {attempts} times, for {what!r}). What was spoken is kept"
                ) from error
            time.sleep(_WAIT_S * attempt)
    raise AssertionError("the last attempt returns or raises")


def _reason(error: BaseException) -> str:
    return without_secrets(str(getattr(error, "reason", error) or error.__class__.__name__))
