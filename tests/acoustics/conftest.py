"""Signals the acoustics tests share, as functions."""

from collections.abc import Callable

import numpy as np
import pytest

RATE_HZ = 24_000


def _tone(*, n_samples: int, hz: float, amplitude: float = 0.1, rate_hz: int = RATE_HZ) -> np.ndarray:
    return (amplitude * np.sin(2 * np.pi * hz * np.arange(n_samples) / rate_hz)).astype(np.float32)


def _syllables(rng: np.random.Generator, *, duration_s: float, rate_hz: int = RATE_HZ) -> np.ndarray:
    """Noise with about the spectrum and the syllable rhythm of speech, peak 0.25."""
    n_samples = int(duration_s * rate_hz)
    spectrum = np.fft.rfft(rng.standard_normal(n_samples))
    hz = np.fft.rfftfreq(n_samples, 1 / rate_hz)
    voice = np.fft.irfft(spectrum * np.where(hz < 80, 0.0, (1.0 + (hz / 500.0) ** 2) ** -0.75), n_samples)
    voice *= 0.5 - 0.45 * np.cos(2 * np.pi * 4.0 * np.arange(n_samples) / rate_hz)
    return (0.25 * voice / np.max(np.abs(voice))).astype(np.float32)


def _clip_with_hush(
    rng: np.random.Generator, *, speech_s: float = 0.8, before_s: float = 0.3, after_s: float = 0.5
) -> np.ndarray:
    """A raw clip at 24 kHz: speech between two stretches of very faint noise."""
    speech = _syllables(rng, duration_s=speech_s)
    clip = np.pad(speech, (int(before_s * RATE_HZ), int(after_s * RATE_HZ)))
    return (clip + 1e-5 * rng.standard_normal(clip.size)).astype(np.float32)


@pytest.fixture(scope="session")
def tone() -> Callable[..., np.ndarray]:
    return _tone


@pytest.fixture(scope="session")
def syllables() -> Callable[..., np.ndarray]:
    return _syllables


@pytest.fixture(scope="session")
def clip_with_hush() -> Callable[..., np.ndarray]:
    return _clip_with_hush
