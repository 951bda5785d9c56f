"""Change the sample rate of a signal, and bring its speech back to the level it had."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .guard import check_rate_hz, check_signal
from .level import Span, check_spans, scale_to_level, span_level_dbov


def resampled_length(n_samples: int, *, from_rate_hz: int, to_rate_hz: int) -> int:
    """Return how many samples `n_samples` become at another rate, halves rounded up.

    Examples
    --------
    >>> resampled_length(24_001, from_rate_hz=24_000, to_rate_hz=16_000)
    16001
    """
    return max(1, (2 * n_samples * to_rate_hz + from_rate_hz) // (2 * from_rate_hz))


def resample_spans(spans: Sequence[Span], *, from_rate_hz: int, to_rate_hz: int) -> tuple[Span, ...]:
    """Return the same stretches of time in samples of another rate, none shorter than a sample."""
    scaled = [
        tuple((2 * edge * to_rate_hz + from_rate_hz) // (2 * from_rate_hz) for edge in s) for s in spans
    ]
    return tuple((start, max(stop, start + 1)) for start, stop in scaled)


def resample(samples: NDArray[np.float32], *, from_rate_hz: int, to_rate_hz: int) -> NDArray[np.float32]:
    """Return the signal at another rate, shape (`resampled_length`,), sample 0 staying at time 0.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    from_rate_hz, to_rate_hz : int

    Raises
    ------
    AudioError
        No signal or a wrong rate.

    Notes
    -----
    soxr at quality HQ, linear phase. What lies above the new Nyquist frequency is gone, so levels move
    (24 to 16 kHz: up to 0.14 dB over a span of speech); peaks can rise. `resample_to_level` mends the level.
    """
    import soxr

    check_signal(samples)
    check_rate_hz(from_rate_hz)
    check_rate_hz(to_rate_hz)
    if from_rate_hz == to_rate_hz:
        return samples.copy()
    result = np.zeros(
        resampled_length(samples.size, from_rate_hz=from_rate_hz, to_rate_hz=to_rate_hz), np.float32
    )
    dense = soxr.resample(samples, from_rate_hz, to_rate_hz, quality="HQ")[: result.size]
    result[: dense.size] = dense
    return result


def resample_to_level(
    samples: NDArray[np.float32], *, spans: Sequence[Span], from_rate_hz: int, to_rate_hz: int
) -> NDArray[np.float32]:
    """Return the signal at another rate with the level its spans had before.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        One stem: a mix holds speech of several levels, which one gain cannot restore.
    spans : sequence of (start, stop), sample indices at `from_rate_hz`
    from_rate_hz, to_rate_hz : int

    Raises
    ------
    AudioError
        As `resample` and `span_level_dbov`.
    """
    check_signal(samples)
    level_dbov = span_level_dbov(samples, spans)
    result = resample(samples, from_rate_hz=from_rate_hz, to_rate_hz=to_rate_hz)
    union = check_spans(spans, n_samples=samples.size)
    moved = resample_spans(union, from_rate_hz=from_rate_hz, to_rate_hz=to_rate_hz)
    kept = [(start, min(stop, result.size)) for start, stop in moved if start < result.size]
    return scale_to_level(result, spans=kept, level_dbov=level_dbov)
