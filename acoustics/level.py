"""Measure and set the level of one-channel signals, up to the step to 16-bit samples."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_number, check_rate_hz, check_signal

__all__ = [
    "NORMAL_LEVEL_DBOV",
    "Span",
    "check_signal",
    "check_spans",
    "from_pcm16",
    "p56_level_dbov",
    "peak_dbfs",
    "scale_to_level",
    "span_level_dbov",
    "to_pcm16",
    "true_peak_dbfs",
]

NORMAL_LEVEL_DBOV = -26.0
"""Span level of every on-axis clip: the nominal active speech level usual in ITU-T speech tests."""

Span = tuple[int, int]
"""A stretch of samples: start, stop (stop is not part of it)."""

_PCM16_STEPS = 32_768
_P56_MARGIN_DB = 15.9
_P56_HANGOVER_S = 0.2
_P56_TIME_CONSTANT_S = 0.03
_P56_N_THRESHOLDS = 24


def check_spans(spans: Sequence[Span], *, n_samples: int) -> tuple[Span, ...]:
    """Return the union of `spans` as sorted, disjoint spans.

    Raises
    ------
    AudioError
        No span at all, or one that is empty or leaves 0..n_samples.
    """
    if len(spans) == 0:
        raise AudioError("spans is empty; wanted at least one (start, stop) of speech to measure over")
    merged: list[Span] = []
    for start, stop in sorted((int(start), int(stop)) for start, stop in spans):
        if not 0 <= start < stop <= n_samples:
            raise AudioError(
                f"span ({start}, {stop}) is empty or leaves the signal; "
                f"wanted 0 <= start < stop <= {n_samples}"
            )
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return tuple(merged)


def span_level_dbov(samples: NDArray[np.float32], spans: Sequence[Span]) -> float:
    """Return the level (dBov) over the union of spans: 10 log10 of the mean square, 0 dBov = RMS 1.0.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    spans : sequence of (start, stop), sample indices
        Where to measure; what overlaps counts once.

    Raises
    ------
    AudioError
        No signal, no span, a span outside the signal, or nothing but zeros in the spans.

    Notes
    -----
    dBov as ITU-T G.100.1 defines it for a square wave: full scale DC is 0 dBov, a full scale sine -3.01.

    Examples
    --------
    >>> round(span_level_dbov(np.full(8, 0.5, dtype=np.float32), [(0, 8)]), 2)
    -6.02
    """
    check_signal(samples)
    union = check_spans(spans, n_samples=samples.size)
    energy = sum(float(np.sum(np.square(samples[a:b], dtype=np.float64))) for a, b in union)
    if energy <= 0.0:
        raise AudioError(
            f"the spans {union[:3]}{'...' if len(union) > 3 else ''} hold only zeros; wanted speech: "
            "silence has no level"
        )
    return 10.0 * float(np.log10(energy / sum(b - a for a, b in union)))


def scale_to_level(
    samples: NDArray[np.float32], *, spans: Sequence[Span], level_dbov: float
) -> NDArray[np.float32]:
    """Return a scaled copy, shape (n,), whose level over the spans is `level_dbov`.

    One gain for the whole signal, no limiter: the caller checks the peak.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    spans : sequence of (start, stop), sample indices
    level_dbov : float, -200 to 60

    Raises
    ------
    AudioError
        As `span_level_dbov`, or a level that is no number in that range.
    """
    check_number(level_dbov, name="level_dbov", low=-200.0, high=60.0, unit="dBov")
    gain = 10.0 ** ((level_dbov - span_level_dbov(samples, spans)) / 20.0)
    return (samples * np.float32(gain)).astype(np.float32, copy=False)


def peak_dbfs(samples: NDArray[np.float32]) -> float:
    """Return the largest magnitude (dBFS, 0 = 1.0) of a signal, shape (n,); zeros only are an AudioError."""
    check_signal(samples)
    peak = float(np.max(np.abs(samples)))
    if peak == 0.0:
        raise AudioError("samples hold only zeros; wanted a signal: silence has no peak level")
    return 20.0 * float(np.log10(peak))


def true_peak_dbfs(samples: NDArray[np.float32], *, sample_rate_hz: int) -> float:
    """Return the peak (dBFS) of a signal, shape (n,), looked at four times as densely.

    Raises
    ------
    AudioError
        No signal, a wrong rate, or zeros only.

    Notes
    -----
    ITU-R BS.1770-5 annex 2 with soxr's VHQ filter as interpolator. A peak between the fourfold points
    can be missed by at most 0.69 dB, and by that only at the Nyquist frequency. Never below `peak_dbfs`.
    """
    import soxr

    check_rate_hz(sample_rate_hz)
    sample_peak_dbfs = peak_dbfs(samples)
    edge = np.zeros(64, dtype=np.float32)
    dense = soxr.resample(
        np.concatenate([edge, samples, edge]), sample_rate_hz, 4 * sample_rate_hz, quality="VHQ"
    )
    return max(sample_peak_dbfs, 20.0 * float(np.log10(max(np.max(np.abs(dense)), 1e-30))))


def p56_level_dbov(samples: NDArray[np.float32], *, sample_rate_hz: int) -> float:
    """Return the active speech level (dBov) by ITU-T P.56 method B.

    The slow second measure for the card; labels and targets use `span_level_dbov`.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        Free of DC, as P.56 asks.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate, or one so short or faint that no activity threshold is crossed.

    Notes
    -----
    Envelope: two exponential averages of 0.03 s; hangover 0.2 s; margin 15.9 dB; thresholds an octave
    apart from 0 down to -138 dBov (the standard stops at what 16 bits hold). The crossing is interpolated
    linearly in dB, the limit of the recommendation's bisection. Below some 0.5 s the hangover that still
    fits into the file moves the result by up to 2 dB.

    References
    ----------
    ITU-T P.56 (12/2011), clause 6, "method B".
    """
    from scipy.signal import lfilter

    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    signal = samples.astype(np.float64)
    energy = float(np.sum(np.square(signal)))
    decay = float(np.exp(-1.0 / (sample_rate_hz * _P56_TIME_CONSTANT_S)))
    envelope = lfilter([1.0 - decay], [1.0, -decay], np.abs(signal))
    envelope = lfilter([1.0 - decay], [1.0, -decay], envelope)
    hangover = int(np.ceil(_P56_HANGOVER_S * sample_rate_hz))

    below: tuple[float, float] | None = None  # level and excess at the threshold below
    for exponent in range(-_P56_N_THRESHOLDS + 1, 1):
        active = np.flatnonzero(envelope >= 2.0**exponent)
        if active.size == 0:
            break
        n_active = int(np.minimum(np.diff(active), hangover + 1).sum())
        n_active += 1 + min(signal.size - 1 - int(active[-1]), hangover)
        level_db = 10.0 * float(np.log10(energy / n_active))
        excess_db = level_db - 20.0 * float(np.log10(2.0**exponent)) - _P56_MARGIN_DB
        if excess_db <= 0.0:
            if below is None:
                break
            weight = below[1] / (below[1] - excess_db)
            return below[0] + weight * (level_db - below[0])
        below = (level_db, excess_db)
    raise AudioError(
        f"P.56 finds no speech level in {samples.size} samples at {sample_rate_hz} Hz; "
        "wanted audible speech of some 0.2 s or more"
    )


def to_pcm16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    """Return 16-bit samples, shape (n,): x * 32768 rounded to nearest.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,), |x| <= 1.0
        What rounds to +32768, one step above the largest 16-bit number, becomes +32767; that is the
        only value that moves by more than half a step.

    Raises
    ------
    AudioError
        No signal, or a magnitude above 1.0: it is never clipped in secret.
    """
    check_signal(samples)
    over = np.abs(samples) > 1.0
    if over.any():
        at = int(np.argmax(over))
        raise AudioError(
            f"samples[{at}] is {float(samples[at]):.6g}, {int(over.sum())} such; "
            "16-bit samples hold |x| <= 1: lower the level before the step to 16 bits"
        )
    steps = np.rint(samples * np.float32(_PCM16_STEPS))
    return np.asarray(np.minimum(steps, _PCM16_STEPS - 1), dtype=np.int16)


def from_pcm16(pcm: NDArray[np.int16]) -> NDArray[np.float32]:
    """Return float32 samples, shape (n,), pcm / 32768; anything but int16 (n,) is an AudioError.

    `to_pcm16` gives back the same 16-bit samples, every one.
    """
    if not isinstance(pcm, np.ndarray) or pcm.dtype != np.int16 or pcm.ndim != 1 or pcm.size == 0:
        found = f"{pcm.dtype}, shape {pcm.shape}" if isinstance(pcm, np.ndarray) else type(pcm).__name__
        raise AudioError(f"pcm is {found}; wanted int16, shape (n,), at least one sample")
    return pcm.astype(np.float32) / np.float32(_PCM16_STEPS)
