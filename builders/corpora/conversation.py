"""The noun of a recorded conversation: whose voice is on which channel, and what a transcript says of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ... import AudioError, ScriptError
from ...scenarios.word_file import TimedWord
from .audio_file import read_channels

OUT_OF_RANGE_S = 0.5
"""A transcript may end this much after its recording (rounding, lost padding)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Something said on channel 0 or 1, as a transcript has it. `where` is its file and line.

    `is_token`: the transcript itself calls it a backchannel (None: it does not say).
    """

    channel: int
    onset_s: float
    offset_s: float
    text: str
    words: tuple[TimedWord, ...] = ()
    is_token: bool | None = None
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFile:
    """One speaker's channel: a file and which of its channels."""

    path: Path
    channel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Two speakers, each on a channel of their own; `spoken` is empty where there is no transcript."""

    id: str
    corpus: str
    speakers: tuple[str, str]
    channels: tuple[ChannelFile, ChannelFile]
    spoken: tuple[Spoken, ...]

    @property
    def has_words(self) -> bool:
        """Return whether everything said has word times."""
        return bool(self.spoken) and all(said.words for said in self.spoken)


def load_audio(conversation: Conversation) -> tuple[NDArray[np.float32], int]:
    """Return the two channels, shape (2, n), and their rate in hertz; the transcript is checked against them.

    Raises
    ------
    AudioError
        If a file is not as it should be, or the two channels differ in rate, or by more than a second.
    ScriptError
        If the transcript lies outside the recording; names file and line.
    """
    loaded: dict[Path, tuple[NDArray[np.float32], int]] = {}
    signals, rates = [], []
    for file in conversation.channels:
        if file.path not in loaded:
            loaded[file.path] = read_channels(file.path)
        channels, rate = loaded[file.path]
        if file.channel >= channels.shape[0]:
            raise AudioError(
                f"{file.path}: {channels.shape[0]} channel{'s' * (channels.shape[0] != 1)}; wanted at least "
                f"{file.channel + 1}, one speaker in each"
            )
        signals.append(channels[file.channel])
        rates.append(rate)
    first, second = (file.path for file in conversation.channels)
    if rates[0] != rates[1]:
        raise AudioError(f"{first} has {rates[0]} Hz, {second} has {rates[1]} Hz; wanted one rate")
    n = min(signal.size for signal in signals)
    if max(signal.size for signal in signals) - n > rates[0]:
        raise AudioError(
            f"{first} and {second} differ in length by more than 1 s: "
            f"{signals[0].size / rates[0]:.2f} and {signals[1].size / rates[1]:.2f} s; are they one conversation?"
        )
    for said in conversation.spoken:
        if said.offset_s > n / rates[0] + OUT_OF_RANGE_S:
            raise ScriptError(
                f"{said.where}: {said.onset_s:.2f}-{said.offset_s:.2f} s lies outside the recording "
                f"({n / rates[0]:.2f} s): {first}"
            )
    return np.stack([signal[:n] for signal in signals]), rates[0]


def channel_of_speakers(
    channels: NDArray[np.float32],
    sample_rate_hz: int,
    spans: dict[str, list[tuple[float, float]]],
    *,
    where: str,
) -> dict[str, int]:
    """Return which channel each of two speakers is on, by where the sound is while a transcript has them speak.

    Parameters
    ----------
    channels : ndarray of float32, shape (2, n)
    sample_rate_hz : int
    spans
        Speaker to times in seconds.
    where
        What is named in the message.

    Raises
    ------
    ScriptError
        If the sound does not tell.
    """
    if len(spans) != 2:
        raise ScriptError(f"{where}: {len(spans)} speaker(s) ({', '.join(spans)}); wanted two")
    names = list(spans)
    energy = np.zeros((2, 2))
    for i, name in enumerate(names):
        for onset_s, offset_s in spans[name]:
            piece = channels[:, round(onset_s * sample_rate_hz) : round(offset_s * sample_rate_hz)]
            energy[i] += np.square(piece, dtype=np.float64).sum(axis=1)
    share = energy[:, 0] / np.maximum(energy.sum(axis=1), 1e-12)
    if not (share.min() < 0.35 and share.max() > 0.65):
        raise ScriptError(
            f"{where}: the sound does not tell which channel is whose ("
            + ", ".join(f"{n}: {s:.0%} on channel 0" for n, s in zip(names, share, strict=True))
            + "); name the speakers of channels 0 and 1 with --speakers A,B"
        )
    first = int(np.argmax(share))
    return {names[first]: 0, names[1 - first]: 1}
