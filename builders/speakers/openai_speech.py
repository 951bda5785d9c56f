"""Speech from any server with OpenAI's ``/v1/audio/speech`` route, through the `openai` client."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ... import EngineError, RecipeError, SpeechError
from ...scenarios.conversation import Voice
from ...scenarios.fields import FlagField, IntRangeField, NameField, NumberField, by_name
from ..service import (
    ABOUT_THE_REQUEST,
    KEY_ENV,
    OPENAI_URL,
    ServiceError,
    openai_client,
    url_problem,
    without_secrets,
)
from . import Clip, SpeechRequest
from .align import aligner_from, with_word_times
from .extra_body import read_extra_body
from .options import WHERE, needed, read_options, read_voices, sets_of, speaks
from .slots import slot
from .wav import BrokenSoundError, Sound, check_content_type, is_text, read_pcm16, read_wav
from .written import written

PCM_RATE_HZ = 24_000
"""Rate of headerless PCM where the recipe does not say another: OpenAI's."""
MAX_CHARS = 4096
REVISION = 1

_FIELDS = by_name(
    NameField(name="base_url", meaning="address of the server, with /v1; left out: OpenAI's own"),
    NameField(name="model", meaning="the server's name of the model"),
    NameField(name="licence", meaning="SPDX id under which the service lets you publish its speech"),
    NameField(name="attribution", meaning="who is to be named"),
    NameField(name="response_format", meaning="what is asked for", known=("wav", "pcm")),
    NameField(name="instructions", meaning="how to speak, for models that take it"),
    NameField(name="aligner", meaning="how word times are found: docs/engines.md"),
    IntRangeField(name="sample_rate_hz", unit="hertz", low=8000, high=192_000, meaning="rate of the sound"),
    IntRangeField(name="concurrency", unit="requests", low=1, high=64, meaning="requests at once"),
    IntRangeField(name="attempts", unit="attempts", low=1, high=10, meaning="times a request is tried"),
    NumberField(name="timeout_s", unit="seconds", low=0.1, high=3600, meaning="longest wait for an answer"),
    NumberField(
        name="usd_per_million_chars", unit="dollars", low=0, high=10_000, meaning="the service's price"
    ),
    FlagField(name="sends_speed", meaning="whether the server takes speed; false leaves it out"),
)
_VOICE_FIELDS = by_name(
    NameField(name="voice", meaning="the server's name of the voice; left out: the table's name"),
    NameField(name="instructions", meaning="how this voice is to speak"),
)


class OpenAiSpeech:
    """The engine.

    Parameters
    ----------
    cache_dir : Path
        Where processes agree on how many requests run at once.
    options : mapping
        ``model``, ``licence`` and ``voices`` are required; all are in docs/engines.md. The key is not among
        them: the client takes it from its own place, ``OPENAI_API_KEY``.
    """

    engine = "openai_speech"
    uses_seed = False

    def __init__(self, cache_dir: Path, options: Mapping[str, Any]) -> None:
        values = read_options(
            options,
            fields=_FIELDS,
            engine=self.engine,
            required=("model", "licence", "voices"),
            also=("voices", "extra_body"),
        )
        self._cache_dir = cache_dir
        self._values = values
        self._base_url: str = self._values.get("base_url", OPENAI_URL)
        if problem := url_problem(self._base_url):
            raise RecipeError(f"{WHERE}.base_url: {problem}, up to the /v1")
        self._extra_body = read_extra_body(options.get("extra_body", {}))
        self.licence: str = values["licence"]
        rows = read_voices(
            options["voices"], engine=self.engine, languages=(), licence=self.licence, fields=_VOICE_FIELDS
        )
        self._voices = {
            name: (replace(voice, mix=_parts(name, own)), own) for name, (voice, own) in rows.items()
        }
        self._aligner = aligner_from(values.get("aligner", "auto"))
        self._client: Any = None
        self.takes_speed: bool = self._values.get("sends_speed", True)
        self.version = self._version()

    def _version(self) -> str:
        """Return what decides the sound besides the request: two servers may call two models by one name."""
        own = {
            key: self._values.get(key)
            for key in (
                *("base_url", "model", "response_format", "instructions", "sample_rate_hz", "sends_speed"),
            )
        }
        asked = json.dumps([own, self._extra_body], sort_keys=True)
        digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
        return (
            f"model={self._values['model']} options={digest} revision={REVISION} "
            f"openai={version('openai')} {self._aligner.version}"
        )

    def voices(self) -> dict[str, Voice]:
        """Return the recipe's voices by id."""
        return {name: voice for name, (voice, _) in self._voices.items()}

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return all voices of each language (``default``), and those of each gender."""
        return sets_of(self.voices())

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text, as the server sent it.

        Raises
        ------
        SpeechError
            If the voice does not speak the language, or the server refuses the text.
        EngineError
            If the key is refused, the server does not answer, or gives no whole sound after all attempts.
        """
        if request.voice.id not in self._voices:
            raise SpeechError(f"{WHERE}.voices has no {request.voice.id!r}; it has {', '.join(self._voices)}")
        if not speaks(request.voice.languages, request.language):
            raise SpeechError(
                f"voice {request.voice.id!r} speaks {', '.join(request.voice.languages)}, not "
                f"{request.language!r} ({request.text!r})"
            )
        comma = "、" if speaks(("ja", "zh"), request.language) else ","
        text = written(request, comma=comma, sounds={})
        if len(text) > MAX_CHARS:
            raise SpeechError(f"{text[:60]!r}… has {len(text)} characters; the route takes {MAX_CHARS}")
        attempts = self._values.get("attempts", 4)
        for attempt in range(1, attempts + 1):
            with slot(self._cache_dir, self._source(), self._values.get("concurrency", 4)):
                data, content_type = self._ask(request, text, attempts)
            try:
                sound = self._read(data, content_type)
            except BrokenSoundError as error:
                if attempt == attempts:
                    raise EngineError(f"{error} (tried {attempts} times, for {text!r})") from error
                continue
            clip = Clip(
                samples=sound.samples, sample_rate_hz=sound.sample_rate_hz, words=None, word_time_source=""
            )
            return with_word_times(clip, request, self._aligner)
        raise AssertionError("the last attempt returns or raises")

    def _source(self) -> str:
        return f"speech server {self._values.get('base_url', 'OpenAI')} (model {self._values['model']})"

    def _ask(self, request: SpeechRequest, text: str, attempts: int) -> tuple[bytes, str]:
        """Return the answer's bytes and their declared type; the client itself waits and tries again."""
        openai = needed("openai", engine=self.engine, install="pip install 'openai>=2'")
        if self._client is None:
            self._client = self._open(attempts)
        own = self._voices[request.voice.id][1]
        asked: dict[str, Any] = {
            "model": self._values["model"],
            "input": text,
            "voice": own.get("voice", request.voice.id),
            "response_format": self._values.get("response_format", "wav"),
        }
        if self.takes_speed:
            asked["speed"] = request.speed
        elif not math.isclose(request.speed, 1.0):
            raise SpeechError(f"speed {request.speed}: {WHERE}.sends_speed is false, so it must be 1")
        instructions = own.get("instructions", self._values.get("instructions"))
        if instructions:
            asked["instructions"] = instructions
        try:
            answer = self._client.audio.speech.create(**asked, extra_body=dict(self._extra_body) or None)
            return answer.content, answer.response.headers.get("content-type", "")
        except openai.AuthenticationError:
            raise EngineError(
                f"{self._source()} refused the key (401): set {KEY_ENV} to a key that it accepts"
            ) from None
        except openai.APITimeoutError:
            raise EngineError(
                f"{self._source()} gave no answer in {self._timeout_s():g} s, tried {attempts} times: raise "
                f"{WHERE}.timeout_s, or look at the server. What was spoken is kept"
            ) from None
        except openai.APIConnectionError as error:
            raise EngineError(
                f"{self._source()} cannot be reached ({without_secrets(str(error.__cause__ or error))}), tried "
                f"{attempts} times: start it, or mend {WHERE}.base_url. What was spoken is kept"
            ) from None
        except openai.APIStatusError as error:
            kind = SpeechError if error.status_code in ABOUT_THE_REQUEST else EngineError
            raise kind(
                f"{self._source()} answered {error.status_code} to {text!r}, tried up to {attempts} times: "
                f"{_said(error)}"
            ) from None
        except openai.APIError as error:
            raise EngineError(f"{self._source()}: {without_secrets(error.message)[:300]}") from None

    def _open(self, attempts: int) -> Any:
        try:
            return openai_client(
                self._base_url, key_env=KEY_ENV, timeout_s=self._timeout_s(), max_retries=attempts - 1
            )
        except ServiceError as error:
            raise EngineError(f"{self._source()}: {error}") from None

    def _timeout_s(self) -> float:
        timeout_s: float = self._values.get("timeout_s", 120.0)
        return timeout_s

    def _read(self, data: bytes, content_type: str) -> Sound:
        source = self._source()
        wanted_hz = self._values.get("sample_rate_hz")
        if is_text(data):  # it will be quoted
            data = without_secrets(data.decode("utf-8", "replace")).encode()
        check_content_type(content_type, data, source=source)
        if self._values.get("response_format", "wav") == "pcm":
            return read_pcm16(data, sample_rate_hz=wanted_hz or PCM_RATE_HZ, source=source)
        sound = read_wav(data, source=source)
        if wanted_hz is not None and sound.sample_rate_hz != wanted_hz:
            raise EngineError(
                f"{source} sent sound of {sound.sample_rate_hz} Hz; {WHERE}.sample_rate_hz says {wanted_hz}"
            )
        return sound


def _said(error: Any) -> str:
    """Return the server's words, without the key; where it sends the request elsewhere, to where."""
    if 300 <= error.status_code < 400:
        there = without_secrets(error.response.headers.get("location", "nowhere"))
        return f"it sends to {there[:300]}; mend {WHERE}.base_url"
    return without_secrets(error.message)[:300]


def _parts(name: str, own: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the parts of a voice: the server's voice, and, without weight, how it is told to speak."""
    origin = f"openai_speech:{own.get('voice', name)}"
    asked = hashlib.sha256(repr((origin, own.get("instructions", ""))).encode()).hexdigest()[:16]
    return (origin, 1.0), (f"asked:sha256:{asked}", 0.0)
