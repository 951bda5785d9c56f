"""Two-channel recordings made in the tests: speech-like noise whose bounds are known."""

from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

RATE_HZ = 16_000


def speech(rng: np.random.Generator, length_s: float, rate_hz: int = RATE_HZ) -> NDArray[np.float32]:
    """Noise with about the spectrum and the syllable rhythm of speech, that starts and ends at once."""
    n = round(length_s * rate_hz)
    spectrum = np.fft.rfft(rng.standard_normal(n))
    hz = np.fft.rfftfreq(n, 1 / rate_hz)
    voice = np.fft.irfft(spectrum * np.where(hz < 80, 0.0, (1.0 + (hz / 500.0) ** 2) ** -0.75), n)
    voice *= 0.6 + 0.4 * np.cos(2 * np.pi * 4.0 * np.arange(n) / rate_hz)
    return np.asarray(0.25 * voice / np.max(np.abs(voice)), dtype=np.float32)


def recording(
    spans: dict[int, list[tuple[float, float]]],
    length_s: float,
    seed: int = 1,
    *,
    rate_hz: int = RATE_HZ,
    floor: float = 1e-4,
) -> NDArray[np.float32]:
    """Channels with speech in those spans (seconds) over a faint noise floor, shape (channels, n)."""
    rng = np.random.default_rng(seed)
    channels = (floor * rng.standard_normal((len(spans), round(length_s * rate_hz)))).astype(np.float32)
    for channel, listed in spans.items():
        for onset_s, offset_s in listed:
            start = round(onset_s * rate_hz)
            piece = speech(rng, offset_s - onset_s, rate_hz)
            channels[channel, start : start + piece.size] += piece
    return channels


def write(path: Path, channels: NDArray[np.float32], rate_hz: int = RATE_HZ) -> Path:
    """Write a recording; the folder is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, channels.T, rate_hz)
    return path
