"""ChatTTS: English and Chinese with breaks and laughter; its weights are for non-commercial use."""

from __future__ import annotations

import hashlib
import json
import logging
import lzma
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import EngineError, RecipeError, SpeechError
from ...scenarios.conversation import Voice
from ...scenarios.fields import IntRangeField, NameField, NumberField, by_name
from ...scenarios.reason import reason_of
from ...whole_file import put_text
from . import Clip, SpeechRequest
from .align import aligner_from, with_word_times
from .chattts_settings import Own, read_own, settings_of
from .chattts_text import SPOKEN_TOKENS, chattts_text
from .heard import can_hear, heard_words
from .options import WHERE, needed, read_options, read_voices, sets_of, speaks

LANGUAGES = ("en", "zh")
LICENCE = "CC-BY-NC-4.0"
ATTRIBUTION = "ChatTTS weights by 2noise, CC BY-NC 4.0"
INSTALL = "pip install 'duplexkit[chattts]'"
SAMPLE_RATE_HZ = 24_000
REVISION = 1

_FIELDS = by_name(
    NameField(name="source", meaning="where the weights come from", known=("huggingface", "custom")),
    NameField(name="model_dir", meaning="folder with the weights (asset/...), for source custom"),
    NameField(name="licence", meaning="SPDX id of weights of your own"),
    NameField(name="aligner", meaning="how word times are found: docs/engines.md"),
    NameField(name="asr_check", meaning="listen for tokens read out", known=("auto", "on", "off")),
    NameField(name="device", meaning="cpu or cuda; left out: ChatTTS chooses"),
    IntRangeField(name="n_voices", unit="voices", low=1, high=500, meaning="voices drawn at random"),
    IntRangeField(name="voice_seed", unit="seed", low=0, high=2**31, meaning="of the voices drawn"),
    IntRangeField(name="attempts", unit="attempts", low=1, high=10, meaning="times a text is tried"),
    IntRangeField(name="top_k", unit="tokens", low=1, high=600, meaning="sampling"),
    IntRangeField(name="max_new_token", unit="tokens", low=1, high=4096, meaning="46.9 a second"),
    NumberField(name="temperature", unit="", low=0.01, high=2.0, meaning="sampling"),
    NumberField(name="top_p", unit="share", low=0.01, high=1.0, meaning="sampling"),
)
_VOICE_FIELDS = by_name(NameField(name="speaker", meaning="ChatTTS's speaker string"))
_DEFAULTS = {
    "source": "huggingface", "asr_check": "auto", "n_voices": 10, "voice_seed": 0, "attempts": 4,
    "temperature": 0.3, "top_p": 0.7, "top_k": 20, "max_new_token": 2048,
}  # fmt: skip
_SOUND_KEYS = ("temperature", "top_p", "top_k", "max_new_token", "device")
_DEVICE = re.compile(r"(cpu|mps|(cuda|npu)(:\d{1,2})?)")


class _Warnings(logging.Handler):
    """Keeps what ChatTTS only logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class ChatTts:
    """The engine. The weights are loaded when the first text is spoken.

    Parameters
    ----------
    cache_dir : Path
        Where the strings of drawn voices are kept.
    options : mapping
        All optional: docs/engines.md.
    """

    engine = "chattts"
    uses_seed = True
    takes_speed = True

    def __init__(self, cache_dir: Path, options: Mapping[str, Any]) -> None:
        read = read_options(options, fields=_FIELDS, engine=self.engine, also=("voices",))
        if not _DEVICE.fullmatch(read.get("device", "cpu")):
            raise RecipeError(f"{WHERE}.device = {read['device']!r}: wanted cpu, cuda, cuda:1, mps or npu")
        self._values = {**_DEFAULTS, **read}
        if (self._values["source"] == "custom") != ("model_dir" in read):
            raise RecipeError(f"{WHERE}.model_dir: wanted with source = 'custom', and only then")
        self._package = needed("ChatTTS", engine=self.engine, install=INSTALL)
        self._torch = needed("torch", engine=self.engine, install=INSTALL)
        self.licence: str = self._values.get("licence", LICENCE)
        self._own = read_own(Path(read["model_dir"])) if "model_dir" in read else Own(config={}, sha256=None)
        self._config = settings_of(self._package.config.Config(), self._own.config)
        self._listens = self._values["asr_check"] == "on" or (
            self._values["asr_check"] == "auto" and can_hear()
        )
        self._aligner = aligner_from(self._values.get("aligner", "auto"))
        self._chat: Any = None
        self._warnings = _Warnings()
        self._speakers: dict[str, str] = {}
        self._voices = self._make_voices(cache_dir, options)
        self.version = self._version()

    def _version(self) -> str:
        weights = "own" if self._own.sha256 is None else _digest(self._own.sha256)
        model = weights if self._values["source"] == "custom" else "2noise/ChatTTS"
        asked = options_digest(self._values, config=self._own.config, listens=self._listens)
        packages = " ".join(f"{name}={version(name)}" for name in ("chattts", "torch", "transformers"))
        return f"model={model} options={asked} revision={REVISION} {packages} {self._aligner.version}"

    def _make_voices(self, cache_dir: Path, options: Mapping[str, Any]) -> dict[str, Voice]:
        if "voices" in options:
            rows = read_voices(
                options["voices"],
                engine=self.engine,
                languages=LANGUAGES,
                licence=self.licence,
                fields=_VOICE_FIELDS,
            )
            voices = {name: voice for name, (voice, _) in rows.items()}
            for name, (_, own) in rows.items():
                if "speaker" not in own:
                    raise RecipeError(f"{WHERE}.voices.{name}.speaker is missing: ChatTTS's speaker string")
                self._check_speaker(own["speaker"], f"{WHERE}.voices.{name}.speaker")
                self._speakers[name] = own["speaker"]
        else:
            self._speakers = self._drawn(cache_dir)
            voices = {
                name: Voice(
                    id=name,
                    engine=self.engine,
                    languages=LANGUAGES,
                    gender="unknown",
                    accent="",
                    licence=self.licence,
                    attribution=ATTRIBUTION,
                    mix=(),
                )
                for name in self._speakers
            }
        return {
            name: replace(voice, mix=((f"speaker:sha256:{_digest(self._speakers[name])}", 1.0),))
            for name, voice in voices.items()
        }

    def _check_speaker(self, speaker: str, where: str) -> None:
        """Refuse what is no speaker string of this model."""
        wanted = f"wanted {self._config.gpt.hidden_size} numbers as ChatTTS's Speaker encodes them"
        try:
            values = self._package.model.Speaker._decode(speaker)  # it has no public way to read one
        except (lzma.LZMAError, ValueError, OSError, RuntimeError):
            raise RecipeError(
                f"{where} = {speaker[:12]!r}…: no speaker string of ChatTTS; {wanted}"
            ) from None
        if values.size != self._config.gpt.hidden_size or not np.isfinite(values).all():
            raise RecipeError(f"{where} = {speaker[:12]!r}…: it holds {values.size} numbers; {wanted}")

    def _drawn(self, cache_dir: Path) -> dict[str, str]:
        """Return speaker strings drawn from the model's statistics; kept, since torch may draw others later."""
        seed, n_voices = self._values["voice_seed"], self._values["n_voices"]
        statistics = _digest(self._config.spk_stat)
        path = cache_dir / "chattts" / f"voices-{statistics}-{seed}.json"
        kept = _kept(path)
        names = [f"chattts-{seed}-{k:03d}" for k in range(n_voices)]
        if not all(name in kept for name in names):
            source = self._package.model.Speaker(self._config.gpt.hidden_size, self._config.spk_stat)
            for k, name in enumerate(names):
                self._torch.manual_seed(seed * 1000 + k)  # sample_random takes no generator
                kept.setdefault(name, source.sample_random())
            put_text(path, json.dumps(kept, ensure_ascii=False, indent=1))
        return {name: kept[name] for name in names}

    def voices(self) -> dict[str, Voice]:
        """Return the voices by id; the part of each is named by the hash of its speaker string."""
        return dict(self._voices)

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return all voices of each language (``default``), and those of each gender."""
        return sets_of(self._voices)

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text, tried again with other seeds where the model does not come to an end.

        Raises
        ------
        SpeechError
            If the language, the voice or the text cannot be spoken, or no attempt gave a whole clip without
            a token read out.
        EngineError
            If the weights cannot be loaded.
        """
        if request.voice.id not in self._speakers:
            raise SpeechError(
                f"ChatTTS has no voice {request.voice.id!r}; known: {', '.join(self._speakers)}"
            )
        if not 0.5 <= request.speed <= 1.4:
            raise SpeechError(f"speed {request.speed} of {request.text!r} is outside ChatTTS's 0.5 to 1.4")
        text = chattts_text(request)
        if self._chat is None:
            self._chat = self._load()
        problems = []
        for attempt in range(self._values["attempts"]):
            seed = int.from_bytes(hashlib.sha256(f"{request.seed}/{attempt}".encode()).digest()[:7], "big")
            samples, problem = self._infer(text, request, seed)
            if problem is None:
                clip = Clip(samples=samples, sample_rate_hz=SAMPLE_RATE_HZ, words=None, word_time_source="")
                return with_word_times(clip, request, self._aligner)
            problems.append(problem)
        raise SpeechError(
            f"ChatTTS could not speak {text!r} in {len(problems)} attempts ({'; '.join(problems)}): "
            f"shorten the text, raise {WHERE}.attempts or max_new_token, or take another voice"
        )

    def _infer(self, text: str, request: SpeechRequest, seed: int) -> tuple[NDArray[np.float32], str | None]:
        """Return the samples, and what is wrong with them."""
        self._warnings.messages.clear()
        self._torch.manual_seed(
            seed
        )  # ChatTTS draws from torch's global generator; its own seed repeats draws
        chat = self._package.Chat
        step = max(0, min(9, round(5 + 10 * (request.speed - 1.0))))
        code = chat.InferCodeParams(
            prompt=f"[speed_{step}]",
            spk_emb=self._speakers[request.voice.id],
            temperature=self._values["temperature"],
            top_P=self._values["top_p"],
            top_K=self._values["top_k"],
            max_new_token=self._values["max_new_token"],
            show_tqdm=False,
        )
        clips = self._chat.infer(
            [text],
            lang="zh" if speaks(("zh",), request.language) else "en",
            skip_refine_text=True,
            split_text=False,
            params_refine_text=chat.RefineTextParams(show_tqdm=False),
            params_infer_code=code,
        )
        samples = np.asarray(clips[0] if clips else [], dtype=np.float32).reshape(-1)
        for message in self._warnings.messages:
            if "incomplete result" in message or "interrupted" in message:
                return samples, message
        if not samples.size or not np.isfinite(samples).all():
            return samples, f"{samples.size} samples, not all finite numbers"
        return samples, self._heard_problem(samples, text, request)

    def _heard_problem(self, samples: NDArray[np.float32], text: str, request: SpeechRequest) -> str | None:
        """Return which token is heard as a word, if one is."""
        if "[" not in text or not self._listens or not speaks(("en",), request.language):
            return None
        said = SPOKEN_TOKENS - set(text.lower().replace(",", " ").replace(".", " ").split())
        heard = [word for word in heard_words(samples, sample_rate_hz=SAMPLE_RATE_HZ) if word in said]
        return f"{heard[0]!r} is heard, which is a token" if heard else None

    def _load(self) -> Any:
        log = logging.getLogger(f"{__name__}.model")
        log.propagate = False
        log.addHandler(self._warnings)
        chat = self._package.Chat(log)
        chat.config = self._config
        if self._own.sha256 is not None:
            chat.sha256_map = dict(self._own.sha256)
        source = self._values["source"]
        try:
            device = self._torch.device(self._values["device"]) if "device" in self._values else None
            loaded = chat.load(source=source, custom_path=self._values.get("model_dir"), device=device)
        except (OSError, RuntimeError, KeyError, ValueError, AssertionError) as error:  # torch without CUDA
            raise EngineError(f"ChatTTS's weights cannot be loaded: {reason_of(error)}") from error
        if not loaded:
            said = "; ".join(self._warnings.messages[-3:]) or "no reason given"
            raise EngineError(
                f"ChatTTS's weights cannot be loaded from {self._values.get('model_dir', source)}: {said}. Give "
                f"{WHERE}.source = 'custom' and model_dir with all nine files, or a way to the hub"
            )
        return chat


def _kept(path: Path) -> dict[str, str]:
    """Return the speaker strings kept in a file; none where it is not there, or damaged: they are drawn anew."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(kept, dict) or not all(isinstance(speaker, str) for speaker in kept.values()):
        return {}
    return kept


def options_digest(values: Mapping[str, Any], *, config: Mapping[str, Any], listens: bool) -> str:
    """Return a hash of all the options that decide the sound of a voice's clip; it goes into the version.

    Left out are those that decide which voices there are, and how often and whether a clip comes at all.
    """
    decide = {key: values.get(key) for key in _SOUND_KEYS}
    return _digest(decide | {"listens": listens, "config": dict(config)})


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
