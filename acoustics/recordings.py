"""Read a user's own WAV files: measured impulse responses and recorded noise."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_rate_hz, check_signal
from .resample import resample
from .sound_file import read_sound

DIRECT_DB = -20.0
"""A measured response starts where it first comes within this of its peak (the start that ISO 3382-1 uses)."""


def read_folder(folder: Path, *, sample_rate_hz: int) -> dict[str, NDArray[np.float32]]:
    """Return every *.wav of a folder by its name, in order, each one channel at the asked rate.

    Parameters
    ----------
    folder : Path
    sample_rate_hz : int
        Files at other rates are resampled.

    Returns
    -------
    dict of str to ndarray of float32, shape (n,)

    Raises
    ------
    AudioError
        No such files, one with several channels, or one that is no signal: the message names the file.
    """
    check_rate_hz(sample_rate_hz)
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() == ".wav")
    if not files:
        raise AudioError(f"{folder} holds no .wav file; wanted recordings, one channel each")
    read: dict[str, NDArray[np.float32]] = {}
    for path in files:
        channels, rate_hz = read_sound(path)
        if channels.shape[0] != 1:
            raise AudioError(f"{path} has {channels.shape[0]} channels; wanted one: split the file")
        read[path.name] = resample(channels[0], from_rate_hz=rate_hz, to_rate_hz=sample_rate_hz)
    return read


def from_direct_sound(rir: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a measured response, shape (m,), cut so that its direct sound is sample 0; nothing is scaled.

    The geometry of a measurement is unknown, so the direct sound is looked for: the first sample within
    20 dB of the largest.

    Raises
    ------
    AudioError
        No signal, or zeros only.
    """
    check_signal(rir, name="rir")
    magnitude = np.abs(rir)
    peak = float(magnitude.max())
    if peak == 0.0:
        raise AudioError("rir holds only zeros; wanted an impulse response")
    return rir[int(np.argmax(magnitude >= peak * 10.0 ** (DIRECT_DB / 20.0))) :].copy()
