"""Who speaks when, by the energy detector: the words of M3's rule where there is no transcript."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from ..acoustics.activity import speech_spans
from ..acoustics.level import Span
from ..scenarios.events import Times, centiseconds

INNER_HUSH_S = 0.10
"""Silences shorter than this belong to the sound (closures of stops), so they are no SHORTPAUSE here."""

SHORTEST_S = 0.05
"""A shorter sound is a click, not speech."""


RANGE_DB, ABOVE_FLOOR_DB, LEAST_HUSH_DB, FLOOR_DBFS = 40.0, 8.0, 10.0, -85.0
LOUD_S = 0.2
"""The loudest stretch of this length is taken for speech, however little of a channel that is."""


def threshold_dbfs(channel: NDArray[np.float32], *, sample_rate_hz: int) -> float:
    """Return the level (dBFS) from which a 10 ms window of this channel counts as speech.

    As `speech_threshold_dbfs`, but by the loudest 0.2 s instead of a percentile: a listener's channel may hold
    one short token in minutes.

    Parameters
    ----------
    channel : ndarray of float32, shape (n,)
    sample_rate_hz : int
    """
    hop = max(1, round(0.01 * sample_rate_hz))
    n = max(1, channel.size // hop)
    blocks = np.resize(channel, n * hop).reshape(n, hop).astype(np.float64)
    power = np.maximum(np.mean(blocks**2, axis=1), 1e-24)
    width = min(n, round(LOUD_S / 0.01))
    loud_db = 10 * np.log10(np.convolve(power, np.ones(width) / width, mode="valid").max())
    quiet_db = 10 * np.log10(np.percentile(power, 5.0))
    lowest = max(float(loud_db) - RANGE_DB, FLOOR_DBFS)
    if quiet_db + ABOVE_FLOOR_DB <= loud_db - LEAST_HUSH_DB:
        return max(lowest, float(quiet_db) + ABOVE_FLOOR_DB)
    return lowest


def activity(channel: NDArray[np.float32], *, sample_rate_hz: int) -> tuple[Span, ...]:
    """Return the spans of speech in one channel, in samples.

    Parameters
    ----------
    channel : ndarray of float32, shape (n,)
        One speaker's own microphone. What leaks in from the other must lie 40 dB below this speaker.
    sample_rate_hz : int
    """
    spans = speech_spans(
        channel,
        sample_rate_hz=sample_rate_hz,
        min_hush_s=INNER_HUSH_S,
        threshold_dbfs=threshold_dbfs(channel, sample_rate_hz=sample_rate_hz),
    )
    return tuple((a, b) for a, b in spans if b - a >= SHORTEST_S * sample_rate_hz)


def activity_times(channels: NDArray[np.float32], *, sample_rate_hz: int) -> dict[str, list[Times]]:
    """Return the spans of speech of each channel in centiseconds, for `events.label`.

    Parameters
    ----------
    channels : ndarray of float32, shape (2, n)
        One speaker a channel.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        For another shape, or a channel without speech.
    """
    if channels.ndim != 2 or channels.shape[0] != 2:
        raise AudioError(f"channels have the shape {channels.shape}; wanted (2, n), one speaker in each")
    times: dict[str, list[Times]] = {}
    for i, channel in enumerate(channels):
        spans = activity(channel, sample_rate_hz=sample_rate_hz)
        if not spans:
            raise AudioError(f"channel {i} holds no speech; wanted one speaker in each of the two channels")
        times[str(i)] = [
            (centiseconds(a / sample_rate_hz), centiseconds(b / sample_rate_hz)) for a, b in spans
        ]
    return times
