"""Reading a recording of a conversation: one speaker a channel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ... import AudioError
from ...acoustics.sound_file import read_sound

Signal = NDArray[np.float32]


def read_channels(path: Path) -> tuple[Signal, int]:
    """Return all channels of an audio file, shape (channels, n), and its rate in hertz.

    Raises
    ------
    AudioError
        As `sound_file.read_sound`, and for nothing but silence in a channel.
    """
    channels, sample_rate_hz = read_sound(path)
    for i, channel in enumerate(channels):
        if not channel.any():
            raise AudioError(f"{path}: channel {i} is empty (all samples are zero); wanted speech in it")
    return channels, sample_rate_hz


def read_two_channels(path: Path) -> tuple[Signal, int]:
    """Return the two channels of a conversation, shape (2, n), and the rate in hertz.

    Raises
    ------
    AudioError
        As `read_channels`, and for any other number of channels.
    """
    channels, sample_rate_hz = read_channels(path)
    if channels.shape[0] != 2:
        raise AudioError(
            f"{path}: {channels.shape[0]} channel{'s' * (channels.shape[0] != 1)}; wanted two, one speaker in "
            f"each (a mixed mono recording cannot be labelled: who speaks is not in it)"
        )
    return channels, sample_rate_hz
