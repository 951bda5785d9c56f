"""Pitch: the median fundamental frequency of a clip, and how far it moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .measure import Measure, Measured, SpokenClip, Tools, Value, alone

LOW_HZ, HIGH_HZ = 60.0, 500.0
_FRAME_S, _HOP_S = 0.040, 0.010
_VOICED = 0.5
_BELOW_LOUD_DB = 25.0
_FEWEST = 5


def f0_track_hz(samples: NDArray[np.float32], *, sample_rate_hz: int) -> NDArray[np.float64]:
    """Return the fundamental frequency (Hz) of each voiced frame, shape (voiced frames,).

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    sample_rate_hz : int

    Notes
    -----
    The autocorrelation of Hann-windowed frames of 40 ms, divided by that of the window; the first lag whose
    peak reaches 0.9 of the largest, refined by a parabola. Voiced: a peak of 0.5 or more in a frame within
    25 dB of the loud ones. Not good for creaky voices, several voices at once, or noise.

    References
    ----------
    P. Boersma (1993), Accurate short-term analysis of the fundamental frequency, IFA Proceedings 17, eq. 9.
    """
    size, hop = round(_FRAME_S * sample_rate_hz), round(_HOP_S * sample_rate_hz)
    if samples.size < size:
        return np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), size)[::hop]
    power_db = 10.0 * np.log10(np.mean(np.square(frames), axis=1) + 1e-12)
    frames = frames[power_db >= np.percentile(power_db, 98.0) - _BELOW_LOUD_DB]
    window = np.hanning(size)
    n_fft = 1 << (2 * size - 1).bit_length()
    low, high = int(sample_rate_hz / HIGH_HZ), int(np.ceil(sample_rate_hz / LOW_HZ))
    of_window = np.fft.irfft(np.abs(np.fft.rfft(window, n_fft)) ** 2)[: high + 2]
    spectra = np.fft.rfft((frames - frames.mean(axis=1, keepdims=True)) * window, n_fft)
    lags = np.fft.irfft(np.abs(spectra) ** 2)[:, : high + 2]
    lags = lags / np.maximum(lags[:, :1], 1e-12) / (of_window / of_window[0])
    found = []
    for row in lags:
        inner = row[low : high + 1]
        tops = low + np.flatnonzero((inner >= row[low - 1 : high]) & (inner > row[low + 1 : high + 2]))
        if not tops.size or row[tops].max() < _VOICED:
            continue
        at = int(tops[np.flatnonzero(row[tops] >= 0.9 * row[tops].max())[0]])
        left, top, right = row[at - 1 : at + 2]
        bend = left - 2.0 * top + right
        found.append(sample_rate_hz / (at + (0.5 * (left - right) / bend if bend else 0.0)))
    return np.asarray(found)


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    track = f0_track_hz(clip.samples, sample_rate_hz=clip.sample_rate_hz)
    if track.size < _FEWEST:
        return Measured(values={"f0_hz": None, "f0_spread_st": None})
    low, high = np.percentile(track, [10.0, 90.0])
    return Measured(
        values={"f0_hz": float(np.median(track)), "f0_spread_st": float(12.0 * np.log2(high / low))}
    )


PITCH = Measure(
    name="pitch",
    scope="utterance",
    values=(
        Value(name="f0_hz", unit="Hz", meaning="median fundamental frequency of voiced frames"),
        Value(
            name="f0_spread_st", unit="semitones", meaning="from the 10th to the 90th percentile of the same"
        ),
    ),
    source="Boersma 1993, eq. 9 (window-corrected autocorrelation)",
    cost=0.02,
    version=lambda tools: "1",
    run=alone(_run),
)
