"""Find where in a signal somebody speaks, by energy; webrtcvad gives a second opinion."""

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_number, check_rate_hz, check_signal, n_samples_in
from .level import Span

HOP_S = 0.005
"""A window is two hops long: 10 ms every 5 ms."""
RANGE_DB = 40.0
ABOVE_FLOOR_DB = 8.0
FLOOR_DBFS = -85.0
FAINT_DB = 8.0
"""A stretch that nowhere exceeds the threshold by this is no speech: some voices end in a faint hiss."""
RUMBLE_HZ = 60.0
"""Sound below this is no speech: the embedded voices leave a rumble at 10 to 40 Hz, 25 dB below speech, for up to
0.7 s after a last word."""
_RUMBLE_ORDER = 4
_BELOW_LOUD_DB = 10.0
_DIGITAL_SILENCE_DBFS = -240.0

WEBRTC_BIAS_S = (0.005, 0.087)
"""Median onset and offset of webrtcvad (mode 2, 10 ms) minus those of `speech_spans`, on 48 short clips of the
embedded voice, half English and half Japanese, at -26 dBov: the offset is the detector's hangover. On formant
voices it is +0.004 and +0.108. Subtract it before comparing; for dry speech, mode 2 and frames of 10 ms."""
_WEBRTC_RATE_HZ = 16_000


def without_rumble(samples: NDArray[np.float32], *, sample_rate_hz: int) -> NDArray[np.float32]:
    """Return a signal without what lies below `RUMBLE_HZ`, undelayed; for looking at it, not for release.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal or a wrong rate.

    Notes
    -----
    Butterworth high-pass of order 4, forwards and backwards: -6 dB at `RUMBLE_HZ`, -48 dB an octave below.
    """
    from scipy.signal import butter, sosfiltfilt

    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    sections = butter(_RUMBLE_ORDER, RUMBLE_HZ, "highpass", fs=sample_rate_hz, output="sos")
    padding = min(samples.size - 1, n_samples_in(1.0 / RUMBLE_HZ, sample_rate_hz=sample_rate_hz))
    return np.asarray(sosfiltfilt(sections, samples.astype(np.float64), padlen=padding), dtype=np.float32)


def _speech_levels_dbfs(samples: NDArray[np.float32], *, sample_rate_hz: int) -> NDArray[np.float64]:
    """Return the level of each window, rumble left out.

    The lower of the level as it is and that without rumble: the filter rings on both sides of an edge, and
    where the signal itself is silent that is no sound.
    """
    hop = n_samples_in(HOP_S, sample_rate_hz=sample_rate_hz)
    above = without_rumble(samples, sample_rate_hz=sample_rate_hz)
    return np.minimum(_window_levels_dbfs(samples, hop=hop), _window_levels_dbfs(above, hop=hop))


def _window_levels_dbfs(samples: NDArray[np.float32], *, hop: int) -> NDArray[np.float64]:
    """Return the RMS level (dBFS) of each window of two hops, shape (windows,)."""
    n_hops = -(-samples.size // hop)
    padded = np.zeros(n_hops * hop, dtype=np.float32)
    padded[: samples.size] = samples
    blocks = padded.reshape(n_hops, hop).astype(np.float64)
    energy = np.einsum("ij,ij->i", blocks, blocks)
    count = np.full(n_hops, hop, dtype=np.float64)
    count[-1] = samples.size - (n_hops - 1) * hop
    if n_hops > 1:
        energy, count = energy[:-1] + energy[1:], count[:-1] + count[1:]
    return np.asarray(
        10.0 * np.log10(np.maximum(energy / count, 10.0 ** (_DIGITAL_SILENCE_DBFS / 10.0))), dtype=np.float64
    )


def _threshold_dbfs(levels_dbfs: NDArray[np.float64]) -> float:
    loud, quiet = np.percentile(levels_dbfs, [98.0, 5.0])
    threshold = max(loud - RANGE_DB, FLOOR_DBFS)
    has_hush = quiet + ABOVE_FLOOR_DB <= loud - _BELOW_LOUD_DB
    return float(max(threshold, quiet + ABOVE_FLOOR_DB) if has_hush else threshold)


def speech_threshold_dbfs(samples: NDArray[np.float32], *, sample_rate_hz: int) -> float:
    """Return the level (dBFS, RMS in 10 ms) from which a window of this signal counts as speech.

    max(p98 - 40 dB, p5 + 8 dB, -85 dBFS), p being percentiles of the window levels. Where p5 + 8 dB would be
    within 10 dB of p98 it is left out: a clip without any hush must not be taken for its own noise floor.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        A raw clip with its own hush around the speech, not a trimmed one.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal or a wrong rate.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    return _threshold_dbfs(_speech_levels_dbfs(samples, sample_rate_hz=sample_rate_hz))


def speech_spans(
    samples: NDArray[np.float32],
    *,
    sample_rate_hz: int,
    min_hush_s: float,
    threshold_dbfs: float | None = None,
) -> tuple[Span, ...]:
    """Return the spans of speech, in order; silence gives ().

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    sample_rate_hz : int
    min_hush_s : float, 0 to 60
        A shorter hush between two spans makes them one.
    threshold_dbfs : float, -240 to 0, optional
        From `speech_threshold_dbfs` of this signal when not given. Give the clip's own when the speech fills
        less than a fiftieth of the signal.

    Raises
    ------
    AudioError
        No signal, a wrong rate or a number out of range.

    Notes
    -----
    Windows of 10 ms every 5 ms whose RMS, also that above `RUMBLE_HZ`, reaches the threshold are speech, in
    stretches that somewhere exceed it by `FAINT_DB`. Each edge is then moved to the first (last) sample near it,
    at most one window outside, whose magnitude reaches the threshold as an amplitude. In digital silence that is
    the first sample of the sound to within one, from an amplitude of -40 dBFS and from 200 Hz on; on speech the
    onset is exact in the median, the offset about 18 ms late, with 95 % inside 47 and 22 ms.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    check_number(min_hush_s, name="min_hush_s", low=0.0, high=60.0, unit="s")
    hop = n_samples_in(HOP_S, sample_rate_hz=sample_rate_hz)
    levels_dbfs = _speech_levels_dbfs(samples, sample_rate_hz=sample_rate_hz)
    if threshold_dbfs is None:
        threshold_dbfs = _threshold_dbfs(levels_dbfs)
    check_number(threshold_dbfs, name="threshold_dbfs", low=-240.0, high=0.0, unit="dBFS")
    amplitude = 10.0 ** (threshold_dbfs / 20.0)
    spans: list[Span] = []
    for first, last in runs(levels_dbfs >= threshold_dbfs):
        if levels_dbfs[first : last + 1].max() < threshold_dbfs + FAINT_DB:
            continue
        start = _first_loud(samples, (first - 2) * hop, (first + 2) * hop, amplitude)
        stop = _last_loud(samples, last * hop, (last + 4) * hop, amplitude)
        if start is not None and stop is not None:
            spans.append((start, max(stop, start) + 1))
    return merge_spans(spans, min_gap=n_samples_in(min_hush_s, sample_rate_hz=sample_rate_hz))


def runs(active: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last index of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], active, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _first_loud(samples: NDArray[np.float32], start: int, stop: int, amplitude: float) -> int | None:
    start = max(start, 0)
    loud = np.flatnonzero(np.abs(samples[start : min(stop, samples.size)]) >= amplitude)
    return start + int(loud[0]) if loud.size else None


def _last_loud(samples: NDArray[np.float32], start: int, stop: int, amplitude: float) -> int | None:
    loud = np.flatnonzero(np.abs(samples[start : min(stop, samples.size)]) >= amplitude)
    return start + int(loud[-1]) if loud.size else None


def merge_spans(spans: list[Span], *, min_gap: int) -> tuple[Span, ...]:
    """Return sorted spans with those less than `min_gap` samples (at least one) apart made one."""
    merged: list[Span] = []
    for start, stop in spans:
        if merged and start - merged[-1][1] < max(min_gap, 1):
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return tuple(merged)


def webrtc_spans(
    samples: NDArray[np.float32],
    *,
    sample_rate_hz: int,
    mode: int = 2,
    frame_s: float = 0.01,
    min_hush_s: float,
) -> tuple[Span, ...]:
    """Return the spans webrtcvad takes for speech, uncorrected, in samples of the given rate.

    For checking labels, never for making them. `WEBRTC_BIAS_S` says how far off it is.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,), |x| <= 1.0
        Resampled to 16 kHz inside; values that the resampler lifts above 1.0 are limited for the detector.
    sample_rate_hz : int
    mode : int, 0 to 3
        How strict the detector is.
    frame_s : {0.01, 0.02, 0.03}
    min_hush_s : float, 0 to 60
        A shorter hush between two spans makes them one.

    Raises
    ------
    AudioError
        No signal, a wrong rate, a magnitude above 1.0, an unknown mode or frame, or a number out of range.
    """
    import soxr
    import webrtcvad

    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    check_number(min_hush_s, name="min_hush_s", low=0.0, high=60.0, unit="s")
    if mode not in (0, 1, 2, 3) or frame_s not in (0.01, 0.02, 0.03):
        raise AudioError(
            f"mode {mode!r}, frame_s {frame_s!r}: webrtcvad has modes 0-3, frames 0.01, 0.02, 0.03 s"
        )
    check_number(float(np.max(np.abs(samples))), name="the peak of samples", low=0.0, high=1.0, unit="")
    signal = samples
    if sample_rate_hz != _WEBRTC_RATE_HZ:
        signal = soxr.resample(samples, sample_rate_hz, _WEBRTC_RATE_HZ, quality="HQ")
    frame = n_samples_in(frame_s, sample_rate_hz=_WEBRTC_RATE_HZ)
    n_frames = max(1, -(-signal.size // frame))
    pcm = np.zeros(n_frames * frame, dtype=np.int16)
    pcm[: signal.size] = np.clip(np.rint(signal * 32_768.0), -32_768, 32_767)
    detector = webrtcvad.Vad(mode)
    active = np.array(
        [detector.is_speech(row.tobytes(), _WEBRTC_RATE_HZ) for row in pcm.reshape(n_frames, frame)],
        dtype=np.bool_,
    )
    ratio = sample_rate_hz / _WEBRTC_RATE_HZ
    spans = [
        (int(first * frame * ratio), min(samples.size, int((last + 1) * frame * ratio)))
        for first, last in runs(active)
    ]
    spans = [(start, stop) for start, stop in spans if start < stop]
    return merge_spans(spans, min_gap=n_samples_in(min_hush_s, sample_rate_hz=sample_rate_hz))
