"""CosyVoice 2 and 3: zero-shot voices, from a server or in this process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import EngineError, RecipeError, SpeechError
from ...scenarios.conversation import Voice
from ...scenarios.fields import IntRangeField, NameField, NumberField, by_name
from ...scenarios.reason import reason_of
from ..service import url_problem
from . import Clip, SpeechRequest
from .align import aligner_from, with_word_times
from .cosyvoice_http import UPSTREAM_RATE_HZ, OurClient, UpstreamClient, our_model
from .cosyvoice_request import CosyBackend, CosyRequest, check_reference
from .katakana import katakana
from .options import WHERE, read_options, read_voices, sets_of, speaks
from .slots import slot
from .written import written

LANGUAGES = ("zh", "en", "ja", "ko", "yue")
SOUNDS = {"laugh": "[laughter]", "breath": "[breath]", "sigh": "[sigh]", "cough": "[cough]"}
REVISION = 1

_FIELDS = by_name(
    NameField(name="url", meaning="address of the server; left out: the model runs in this process"),
    NameField(name="server", meaning="whose server it is", known=("auto", "duplexkit", "upstream")),
    NameField(name="model", meaning="name of the model, for the record: upstream's server does not say it"),
    NameField(name="model_dir", meaning="folder of the model, to run it in this process"),
    NameField(name="repo_dir", meaning="clone of the CosyVoice repository, to run it in this process"),
    NameField(name="licence", meaning="SPDX id of the model's weights"),
    NameField(name="aligner", meaning="how word times are found: docs/engines.md"),
    IntRangeField(name="sample_rate_hz", unit="hertz", low=8000, high=48_000, meaning="of upstream's server"),
    IntRangeField(name="concurrency", unit="requests", low=1, high=64, meaning="requests at once"),
    IntRangeField(name="attempts", unit="attempts", low=1, high=10, meaning="times a request is tried"),
    NumberField(name="timeout_s", unit="seconds", low=0.1, high=3600, meaning="longest wait for an answer"),
)
_VOICE_FIELDS = by_name(
    NameField(
        name="reference_path",
        meaning="mono WAV file of the voice, at most 30 s, of which half a second is speech; it stays where it is",
    ),
    NameField(name="reference_text", meaning="what is said in it"),
    NameField(name="speaker_id", meaning="voice that the model knows, instead of a reference"),
    NameField(name="instruct", meaning="how to speak, in words"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where a voice comes from."""

    reference: bytes
    reference_text: str
    speaker_id: str
    instruct: str


class CosyVoice:
    """The engine.

    Parameters
    ----------
    cache_dir : Path
        Where processes agree on how many requests run at once.
    options : mapping
        ``url`` or ``model_dir``, and ``voices``: docs/engines.md.

    Raises
    ------
    EngineError
        If the server does not answer, or the model cannot be loaded.
    """

    engine = "cosyvoice"

    def __init__(self, cache_dir: Path, options: Mapping[str, Any]) -> None:
        values = read_options(
            options, fields=_FIELDS, engine=self.engine, required=("voices",), also=("voices",)
        )
        self._cache_dir = cache_dir
        self._url: str | None = values.get("url")
        self._slots: int = values.get("concurrency", 1)
        self.licence: str = values.get("licence", "Apache-2.0")
        rows = read_voices(
            options["voices"], engine=self.engine, languages=LANGUAGES, licence="", fields=_VOICE_FIELDS
        )
        self._voices: dict[str, Voice] = {}
        self._sources: dict[str, _Source] = {}
        for name, (voice, own) in rows.items():
            self._sources[name] = source = _source(name, own)
            self._voices[name] = replace(voice, mix=_parts(source))
        self._aligner = aligner_from(values.get("aligner", "auto"))
        self._backend = _backend(values)
        self.uses_seed = self._backend.uses_seed
        self.takes_speed = self._backend.takes_speed
        self.version = f"model={self._backend.model} revision={REVISION} {self._aligner.version}"

    def voices(self) -> dict[str, Voice]:
        """Return the recipe's voices by id; a part is named by the reference's hash."""
        return dict(self._voices)

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return all voices of each language (``default``), and those of each gender."""
        return sets_of(self._voices)

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text, as the model gave it.

        Raises
        ------
        SpeechError
            If the voice does not speak the language, or the server or model refuses the text.
        EngineError
            If the server does not answer, or gives no whole sound after all attempts.
        """
        if request.voice.id not in self._sources:
            raise SpeechError(
                f"{WHERE}.voices has no {request.voice.id!r}; it has {', '.join(self._sources)}"
            )
        if not speaks(LANGUAGES, request.language) or not speaks(request.voice.languages, request.language):
            raise SpeechError(
                f"CosyVoice voice {request.voice.id!r} speaks {', '.join(request.voice.languages)}, not "
                f"{request.language!r} ({request.text!r})"
            )
        source = self._sources[request.voice.id]
        asked = CosyRequest(
            text=spoken_form(request),
            speaker_id=source.speaker_id,
            reference=source.reference,
            reference_text=source.reference_text,
            instruct=source.instruct,
            speed=request.speed,
            seed=request.seed,
            text_frontend=not speaks(("ja",), request.language),
        )
        if self._url is None:
            sound = self._backend.speak(asked)
        else:
            with slot(self._cache_dir, self._url, self._slots):
                sound = self._backend.speak(asked)
        clip = Clip(
            samples=sound.samples, sample_rate_hz=sound.sample_rate_hz, words=None, word_time_source=""
        )
        return with_word_times(clip, request, self._aligner)


def spoken_form(request: SpeechRequest) -> str:
    """Return the text as the model gets it: Japanese in katakana, since it reads kanji as Chinese."""
    if not speaks(("ja",), request.language):
        comma = "，" if speaks(("zh", "yue"), request.language) else ","
        return written(request, comma=comma, sounds=SOUNDS)
    pieces = written(request, comma="、", sounds={kind: f"\0{kind}\0" for kind in SOUNDS}).split("\0")
    return "".join(
        SOUNDS[piece] if k % 2 else katakana(piece) if piece else "" for k, piece in enumerate(pieces)
    )


def _source(name: str, own: Mapping[str, Any]) -> _Source:
    where = f"{WHERE}.voices.{name}"
    if ("reference_path" in own) == ("speaker_id" in own):
        raise RecipeError(f"{where}: wanted either reference_path or speaker_id")
    reference = b""
    if "reference_path" in own:
        path = Path(own["reference_path"])
        try:
            reference = path.read_bytes()
        except FileNotFoundError:
            raise RecipeError(f"{where}.reference_path: there is no file {path}") from None
        except OSError as error:
            raise RecipeError(f"{where}.reference_path: {path} cannot be read: {reason_of(error)}") from None
        check_reference(reference, f"{where}.reference_path {path}")
    return _Source(
        reference=reference,
        reference_text=own.get("reference_text", ""),
        speaker_id=own.get("speaker_id", ""),
        instruct=own.get("instruct", ""),
    )


def _parts(source: _Source) -> tuple[tuple[str, float], ...]:
    """Return the parts of a voice: what it is made of, and, without weight, all that it is asked with.

    So voices of one reference are related, whatever else is asked, and the cache tells them apart.
    """
    digest = hashlib.sha256(source.reference).hexdigest()
    origin = f"speaker:{source.speaker_id}" if source.speaker_id else f"reference:sha256:{digest}"
    asked = repr((origin, source.reference_text, source.instruct))
    return (origin, 1.0), (f"asked:sha256:{hashlib.sha256(asked.encode()).hexdigest()[:16]}", 0.0)


def _backend(values: Mapping[str, Any]) -> CosyBackend:
    if ("url" in values) == ("model_dir" in values):
        raise RecipeError(f"{WHERE}: engine 'cosyvoice' wants either url or model_dir")
    if "model_dir" in values:
        from .cosyvoice_model import CosyModel

        repo = values.get("repo_dir")
        return CosyModel(Path(values["model_dir"]), Path(repo) if repo else None)
    if problem := url_problem(values["url"]):
        raise RecipeError(f"{WHERE}.url: {problem}")
    timeout_s, attempts = values.get("timeout_s", 300.0), values.get("attempts", 3)
    server = values.get("server", "auto")
    ours = None if server == "upstream" else our_model(values["url"], timeout_s=min(timeout_s, 10.0))
    if ours is not None:
        return OurClient(values["url"], model=ours, timeout_s=timeout_s, attempts=attempts)
    if server == "duplexkit":
        raise EngineError(
            f"{WHERE}.url = {values['url']!r}: what answers there is not duplexkit serve-cosyvoice"
        )
    if "model" not in values:
        raise RecipeError(
            f"{WHERE}.model is missing: upstream's server does not say what it has; name it, for the record"
        )
    return UpstreamClient(
        values["url"],
        model=values["model"],
        sample_rate_hz=values.get("sample_rate_hz", UPSTREAM_RATE_HZ),
        timeout_s=timeout_s,
        attempts=attempts,
    )
