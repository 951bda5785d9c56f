"""Cut the silence around speech, and make the hushes inside it as long as asked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .activity import speech_spans
from .fade import rise
from .guard import check_number, check_rate_hz, check_signal, check_unclipped, n_samples_in
from .level import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """A clip without the silence around its speech.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    onset, offset : int
        First sample of speech and first sample after it, in `samples`.
    head : int
        How many samples were removed from the start of the raw clip.
    """

    samples: NDArray[np.float32]
    onset: int
    offset: int
    head: int

    def __post_init__(self) -> None:
        if not 0 <= self.onset < self.offset <= self.samples.size or self.head < 0:
            raise AudioError(
                f"onset {self.onset}, offset {self.offset}, head {self.head} "
                f"do not fit {self.samples.size} samples"
            )


def trim(
    samples: NDArray[np.float32], *, sample_rate_hz: int, keep_s: float = 0.015, fade_s: float = 0.005
) -> Trimmed:
    """Return the clip from `keep_s` before its first to `keep_s` after its last speech, where it has that.

    The speech itself is untouched; the fades lie in what is kept before and after it.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        A raw, unclipped clip.
    sample_rate_hz : int
    keep_s : float, 0 to 1
    fade_s : float, 0 to 1
        At most what is kept.

    Raises
    ------
    AudioError
        No signal, a wrong rate, a clipped clip, a number out of range, or no speech at all.
    """
    check_signal(samples)
    check_unclipped(samples)
    check_number(keep_s, name="keep_s", low=0.0, high=1.0, unit="s")
    check_number(fade_s, name="fade_s", low=0.0, high=1.0, unit="s")
    spans = speech_spans(samples, sample_rate_hz=sample_rate_hz, min_hush_s=0.0)
    if not spans:
        raise AudioError(
            f"samples hold no speech ({samples.size} samples at {sample_rate_hz} Hz, peak "
            f"{float(np.max(np.abs(samples))):.2g}); wanted a spoken clip: speak it again"
        )
    keep = n_samples_in(keep_s, sample_rate_hz=sample_rate_hz)
    onset, offset = spans[0][0], spans[-1][1]
    start, stop = max(0, onset - keep), min(samples.size, offset + keep)
    kept = samples[start:stop].copy()
    fade = n_samples_in(fade_s, sample_rate_hz=sample_rate_hz)
    _fade_in(kept[: onset - start], fade)
    _fade_out(kept[offset - start :], fade)
    return Trimmed(samples=kept, onset=onset - start, offset=offset - start, head=start)


def set_hush(
    samples: NDArray[np.float32], *, hush: Span, n_samples: int, fade_s: float = 0.005, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the clip with its hush made `n_samples` long, shape (n - old length + n_samples,).

    The middle of the hush is cut out, or zeros are put there; what ends there fades out and in, inside the
    hush. Samples before and after the hush are the same bit by bit. A hush that is already as long stays.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    hush : (start, stop), sample indices
        Silence between two words, 0 <= start <= stop <= n.
    n_samples : int >= 0
    fade_s : float, 0 to 1
        At most half of the hush.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate, a hush outside the signal, a negative length, a result without samples.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    check_number(fade_s, name="fade_s", low=0.0, high=1.0, unit="s")
    start, stop = (int(edge) for edge in hush)
    if not 0 <= start <= stop <= samples.size:
        raise AudioError(
            f"hush ({start}, {stop}) leaves the signal; wanted 0 <= start <= stop <= {samples.size}"
        )
    if n_samples < 0 or samples.size - (stop - start) + n_samples < 1:
        raise AudioError(f"n_samples is {n_samples}; wanted a length >= 0 that leaves at least one sample")
    if n_samples == stop - start:
        return samples.copy()
    kept = min(n_samples, stop - start)
    left = samples[start : start + (kept + 1) // 2].copy()
    right = samples[stop - kept // 2 : stop].copy()
    fade = n_samples_in(fade_s, sample_rate_hz=sample_rate_hz)
    _fade_out(left, fade)
    _fade_in(right, fade)
    zeros = np.zeros(n_samples - kept, dtype=np.float32)
    return np.concatenate([samples[:start], left, zeros, right, samples[stop:]])


def _fade_in(piece: NDArray[np.float32], n_samples: int) -> None:
    """Fade the first samples of an own copy, in place."""
    n_samples = min(n_samples, piece.size)
    piece[:n_samples] *= rise(n_samples)


def _fade_out(piece: NDArray[np.float32], n_samples: int) -> None:
    """Fade the last samples of an own copy, in place."""
    n_samples = min(n_samples, piece.size)
    piece[piece.size - n_samples :] *= rise(n_samples)[::-1]
