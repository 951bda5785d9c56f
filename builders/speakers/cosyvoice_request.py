"""What is asked of a CosyVoice model, in process or behind a server, and who answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ... import SpeechError
from ...acoustics.activity import speech_spans
from ...acoustics.level import span_level_dbov
from .wav import BrokenSoundError, Sound, read_wav

MAX_REFERENCE_S = 30.0
MIN_REFERENCE_RATE_HZ = 16_000
MIN_REFERENCE_SPEECH_S = 0.5
"""Our choice: a word or two. Upstream sets no limit, and clones silence without a word; it advises 3 s and more."""
MIN_REFERENCE_DBOV, MAX_REFERENCE_PEAK = -50.0, 4.0
"""Our choice: 24 dB below the normal level; 12 dB above full scale, which no recording reaches but as float."""
_MIN_HUSH_S = 0.12


@dataclass(frozen=True, slots=True, kw_only=True)
class CosyRequest:
    """One text for the model.

    The voice is `speaker_id` (one that the model knows) or `reference`, the bytes of a WAV file, with
    `reference_text`, what is said in it. Without the text the model clones across languages; with
    `instruct` it is told how to speak instead.
    """

    text: str
    speaker_id: str = ""
    reference: bytes = b""
    reference_text: str = ""
    instruct: str = ""
    speed: float = 1.0
    seed: int = 0
    text_frontend: bool = True

    def __post_init__(self) -> None:
        """Check that there is one voice, and that the reference is one a model can use."""
        if bool(self.speaker_id) == bool(self.reference):
            raise SpeechError(
                f"CosyVoice wants a speaker id or a reference for {self.text!r}, one of the two"
            )
        if self.reference:
            check_reference(self.reference, "the reference")


class CosyBackend(Protocol):
    """A model, or a server that has one. `model` names it in the record."""

    model: str
    uses_seed: bool
    takes_speed: bool

    def speak(self, request: CosyRequest) -> Sound:
        """Return the spoken text, or raise SpeechError."""
        ...


def check_reference(data: bytes, name: str) -> Sound:
    """Return the reference's sound.

    Raises
    ------
    SpeechError
        If it is no mono WAV file of at most 30 s at 16 kHz or more (upstream's limits), or does not hold
        `MIN_REFERENCE_SPEECH_S` of speech at `MIN_REFERENCE_DBOV` or more.
    """
    try:
        sound = read_wav(data, source=name)
    except BrokenSoundError as error:
        raise SpeechError(f"{error}; wanted a mono WAV file of somebody speaking") from error
    length_s = sound.samples.size / sound.sample_rate_hz
    if length_s > MAX_REFERENCE_S or sound.sample_rate_hz < MIN_REFERENCE_RATE_HZ:
        raise SpeechError(
            f"{name} lasts {length_s:.1f} s at {sound.sample_rate_hz} Hz; wanted at most {MAX_REFERENCE_S:g} s "
            f"and at least {MIN_REFERENCE_RATE_HZ} Hz"
        )
    peak = float(np.abs(sound.samples).max())
    if peak > MAX_REFERENCE_PEAK:
        raise SpeechError(
            f"{name} reaches {peak:.3g}; wanted samples from -1 to 1 (at most {MAX_REFERENCE_PEAK:g})"
        )
    _check_speech(sound, name)
    return sound


def _check_speech(sound: Sound, name: str) -> None:
    rate_hz = sound.sample_rate_hz
    spans = speech_spans(sound.samples, sample_rate_hz=rate_hz, min_hush_s=_MIN_HUSH_S)
    speech_s = sum(stop - start for start, stop in spans) / rate_hz
    level_dbov = span_level_dbov(sound.samples, spans) if spans else -np.inf
    if speech_s < MIN_REFERENCE_SPEECH_S or level_dbov < MIN_REFERENCE_DBOV:
        level = f" at {level_dbov:.0f} dBov" if spans else ""
        raise SpeechError(
            f"{name} holds {speech_s:.2f} s of speech{level}; wanted at least {MIN_REFERENCE_SPEECH_S:g} s at "
            f"{MIN_REFERENCE_DBOV:g} dBov or more, best 3 to 10 s of one person speaking"
        )
