"""The fast English engine: hibari, 60 times real time on one core, with the network's own word times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import RecipeError, SpeechError
from ...scenarios.conversation import Voice
from . import Clip, ClipWord, SpeechRequest
from .g2p_en import groups_en
from .options import WHERE, speaks
from .phonemes import PhonemeGroup, check_phonemes, joined, split_groups

if TYPE_CHECKING:
    import onnxruntime

SAMPLE_RATE_HZ = 24_000
FRAME_SAMPLES = 600
"""A token lasts a whole number of frames."""
MAX_TOKENS = 400
"""Longer texts are spoken in parts, as hibari itself does."""
BOUNDARY_LAG_S = 0.060
"""How much later the tokens' durations put a word's onset than it is heard: docs/engines.md."""
MODEL_SHA256 = "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"
REVISION = 1
"""Of this engine's own text processing: raised when the same request would sound different."""

_DURATIONS = "/Clip_output_0"  # of this model file: frames of each token, shape (1, tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A voice made of the one there is: its pitch and formants times `ratio`."""

    ratio: float
    gender: str
    age: str


_SHAPES = {
    "heart": _Shape(ratio=1.0, gender="female", age="adult"),
    "heart_low": _Shape(ratio=0.78, gender="male", age="adult"),
    "heart_deep": _Shape(ratio=0.70, gender="male", age="old"),
    "heart_high": _Shape(ratio=1.16, gender="female", age="child"),
}


class Hibari:
    """The engine. One real voice, and three shifted copies of it for bulk tests.

    Parameters
    ----------
    cache_dir : Path
        Not used: the model is in hibari's wheel.
    options : mapping
        None are known.
    """

    engine = "hibari"
    uses_seed = True
    takes_speed = True
    licence = "Apache-2.0"

    def __init__(self, cache_dir: Path, options: Mapping[str, Any]) -> None:
        if options:
            raise RecipeError(f"{WHERE}: engine 'hibari' has no options, got {', '.join(options)}")
        self._session: onnxruntime.InferenceSession | None = None
        self._ids: dict[str, int] = json.loads((files("hibari") / "assets" / "vocab.json").read_text("utf-8"))
        packages = " ".join(f"{name}={version(name)}" for name in ("hibari-tts", "onnxruntime", "soxr"))
        self.version = f"model={MODEL_SHA256[:8]} revision={REVISION} {packages}"

    def voices(self) -> dict[str, Voice]:
        """Return the voices by id. All but ``heart`` are that voice at another pitch."""
        return {
            name: Voice(
                id=name,
                engine=self.engine,
                languages=("en",),
                gender=shape.gender,
                accent="en-US",
                licence=self.licence,
                attribution="hibari, Apache-2.0, distilled from Kokoro-82M's af_heart",
                mix=(("af_heart" if name == "heart" else f"hibari:{name}", 1.0),),
                age=shape.age,
                dnsmos=3.45 if name == "heart" else None,
            )
            for name, shape in _SHAPES.items()
        }

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the lists of voice ids. ``bulk`` holds the shifted copies too: for tests, not for a release."""
        return {"en": {"default": ("heart",), "bulk": tuple(_SHAPES)}}

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text, as the network gave it, with the time of each word.

        Raises
        ------
        SpeechError
            If the language, the voice, the speed or the text cannot be spoken.
        """
        shape = self._shape(request)
        groups = groups_en(request.text, readings=request.readings, breaks=request.breaks)
        check_phonemes(groups, request.text)
        self._check_alphabet(groups, request.text)
        rng = np.random.default_rng(request.seed)
        parts: list[NDArray[np.float32]] = []
        spans: list[tuple[PhonemeGroup, float, float]] = []
        for run in split_groups(groups, MAX_TOKENS, request.text):
            before = sum(part.size for part in parts) / SAMPLE_RATE_HZ
            samples, times = self._run(run, request.speed / shape.ratio, rng)
            parts.append(samples)
            spans += [(g, before + a, before + b) for g, (a, b) in zip(run, times, strict=True)]
        samples = _shifted(np.concatenate(parts), shape.ratio)
        length_s = samples.size / SAMPLE_RATE_HZ
        return Clip(
            samples=samples,
            sample_rate_hz=SAMPLE_RATE_HZ,
            words=_words(request.text, spans, shape.ratio, length_s),
            word_time_source="token_durations",
        )

    def _shape(self, request: SpeechRequest) -> _Shape:
        if not speaks(("en",), request.language):
            raise SpeechError(f"hibari speaks en only, not {request.language!r} ({request.text!r})")
        if request.voice.id not in _SHAPES:
            raise SpeechError(f"hibari has no voice {request.voice.id!r}; known: {', '.join(_SHAPES)}")
        if not 0.5 <= request.speed <= 1.5:
            raise SpeechError(f"speed {request.speed} of {request.text!r} is outside 0.5 to 1.5")
        return _SHAPES[request.voice.id]

    def _check_alphabet(self, groups: list[PhonemeGroup], text: str) -> None:
        """Raise where hibari would leave a sound out."""
        for group in groups:
            lost = [char for char in str(group) if char not in self._ids]
            if lost:
                word = text[group.start_char : group.stop_char]
                raise SpeechError(
                    f"{lost[0]!r} in the phonemes {str(group)!r} of {word!r} is none of hibari's"
                )

    def _run(
        self, groups: list[PhonemeGroup], speed: float, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], list[tuple[float, float]]]:
        """Return the samples of one run of the network, and where each group's phonemes lie in it, in s."""
        from hibari import dsp

        if self._session is None:
            self._session = _open_session()
        ids = [0, *(self._ids[char] for char in joined(groups)), 0]
        *spectra, frames = self._session.run(
            ["lh", "theta", "ln", "lr", "phi", "f0", _DURATIONS],
            {"ids": np.array([ids], np.int64), "speed": np.array([speed], np.float32)},
        )
        audio = dsp.synth(*(spectrum[0] for spectrum in spectra), rng)
        edges_s = np.concatenate([[0.0], np.cumsum(frames.reshape(-1))]) * (FRAME_SAMPLES / SAMPLE_RATE_HZ)
        times, place = [], 1  # the first token is a pad
        for group in groups:
            first = place + len(group.lead)
            times.append((float(edges_s[first]), float(edges_s[first + len(group.phonemes)])))
            place += len(str(group))
        return np.asarray(audio, dtype=np.float32), times


def _open_session() -> onnxruntime.InferenceSession:
    """Return the network on one thread, its token durations made an output."""
    import onnx
    import onnxruntime

    data = (files("hibari") / "assets" / "hibari.onnx").read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != MODEL_SHA256:
        raise SpeechError(
            f"hibari's model has SHA-256 {found[:12]}…, wanted {MODEL_SHA256[:12]}…: install hibari-tts==0.2.1"
        )
    model = onnx.load_from_string(data)
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(_DURATIONS))
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )


def _shifted(samples: NDArray[np.float32], ratio: float) -> NDArray[np.float32]:
    """Return the sound as if recorded `ratio` times faster: pitch and formants times `ratio`."""
    import soxr

    if ratio == 1.0:
        return samples
    shifted: NDArray[np.float32] = soxr.resample(samples, ratio, 1.0, quality="HQ")
    return shifted


def _words(
    text: str, spans: list[tuple[PhonemeGroup, float, float]], ratio: float, length_s: float
) -> tuple[ClipWord, ...]:
    """Return the words, in order and inside the clip, each ended by the next one's onset at the latest."""
    onsets_s = [max(0.0, (onset_s - BOUNDARY_LAG_S) / ratio) for _, onset_s, _ in spans] + [length_s]
    return tuple(
        ClipWord(
            text=text[group.start_char : group.stop_char],
            start_char=group.start_char,
            stop_char=group.stop_char,
            onset_s=onsets_s[k],
            offset_s=min(max((offset_s - BOUNDARY_LAG_S) / ratio, onsets_s[k]), onsets_s[k + 1]),
        )
        for k, (group, _, offset_s) in enumerate(spans)
    )
