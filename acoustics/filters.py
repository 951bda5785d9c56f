"""Linear effects with a stated response: shelf, low-pass, early reflections, echo."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_number, check_rate_hz, check_signal, n_samples_in

ECHO_FLOOR_DB = -80.0
"""Repeats of an echo are computed until they are this far below the direct sound."""


def high_shelf(
    samples: NDArray[np.float32], *, corner_hz: float, gain_db: float, q: float, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the signal, shape (n,), with everything well above the corner changed by `gain_db`.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        Append zeros for the ring, some 0.02 s, if it matters.
    corner_hz : float, 20 to 0.45 of the rate
        Where half of the gain, in dB, is reached.
    gain_db : float, -60 to 24
    q : float, 0.1 to 0.71
        Steepness; above 0.71 the shelf overshoots.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate or a number out of range.

    Notes
    -----
    One biquad run by pedalboard: the high shelf of R. Bristow-Johnson's "Cookbook formulae for audio EQ
    biquad filter coefficients". Group delay at most 0.08 ms for the corners used here: no time is corrected.
    """
    from pedalboard import HighShelfFilter

    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    _check_corner(corner_hz, sample_rate_hz)
    check_number(gain_db, name="gain_db", low=-60.0, high=24.0, unit="dB")
    check_number(q, name="q", low=0.1, high=0.71, unit="")
    plugin = HighShelfFilter(cutoff_frequency_hz=corner_hz, gain_db=gain_db, q=q)
    return np.asarray(plugin(samples, sample_rate_hz), dtype=np.float32)


def low_pass(
    samples: NDArray[np.float32], *, corner_hz: float, n_sections: int = 1, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the signal, shape (n,), through `n_sections` first-order low-passes: 6 dB per octave each.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    corner_hz : float, 20 to 0.45 of the rate
        -3.01 dB per section.
    n_sections : int, 1 to 4
    sample_rate_hz : int
        The bilinear sections steepen towards the Nyquist frequency, so the response belongs to the rate.

    Raises
    ------
    AudioError
        No signal, a wrong rate or a number out of range.
    """
    from pedalboard import LowpassFilter

    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    _check_corner(corner_hz, sample_rate_hz)
    check_number(n_sections, name="n_sections", low=1, high=4, unit="sections")
    result = samples
    for _ in range(int(n_sections)):
        result = LowpassFilter(cutoff_frequency_hz=corner_hz)(result, sample_rate_hz)
    return np.asarray(result, dtype=np.float32)


def _check_corner(corner_hz: float, sample_rate_hz: int) -> None:
    check_number(corner_hz, name="corner_hz", low=20.0, high=0.45 * sample_rate_hz, unit="Hz")


def taps(
    samples: NDArray[np.float32],
    *,
    delays_s: Sequence[float],
    gains_db: Sequence[float],
    sample_rate_hz: int,
) -> NDArray[np.float32]:
    """Return the signal plus delayed copies of it, shape (n + longest delay,).

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    delays_s : sequence of float, 0 to 1, at least one
        Rounded to whole samples.
    gains_db : sequence of float, -120 to 24, as many
        Of each copy relative to the direct sound, which stays as it is.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate, unequal or empty lists, or a number out of range.

    Notes
    -----
    H(z) = 1 + sum of g_i z^-d_i, by addition: no normalisation, no rounding of the delay but to a sample.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    if len(delays_s) != len(gains_db) or len(delays_s) == 0:
        raise AudioError(
            f"{len(delays_s)} delays_s and {len(gains_db)} gains_db; wanted the same number, at least one"
        )
    for delay_s, gain_db in zip(delays_s, gains_db, strict=True):
        check_number(delay_s, name="a delay of delays_s", low=0.0, high=1.0, unit="s")
        check_number(gain_db, name="a gain of gains_db", low=-120.0, high=24.0, unit="dB")
    delays = [n_samples_in(delay_s, sample_rate_hz=sample_rate_hz) for delay_s in delays_s]
    result = np.zeros(samples.size + max(delays), dtype=np.float32)
    result[: samples.size] = samples
    scaled = np.empty_like(samples)
    for delay, gain_db in zip(delays, gains_db, strict=True):
        np.multiply(samples, np.float32(10.0 ** (gain_db / 20.0)), out=scaled)
        result[delay : delay + samples.size] += scaled
    return result


def echo(
    samples: NDArray[np.float32], *, delay_s: float, gain_db: float, feedback: float, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the signal plus an echo that repeats ever fainter, shape (n + repeats * delay,).

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    delay_s : float, 0.001 to 2
        Rounded to whole samples.
    gain_db : float, -80 to 0
        Of the first repeat relative to the direct sound, which stays as it is.
    feedback : float, 0 to 0.9
        Each further repeat is this times the one before.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate or a number out of range.

    Notes
    -----
    H(z) = 1 + g z^-d / (1 - f z^-d), ended after the first repeat below `ECHO_FLOOR_DB`.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    check_number(delay_s, name="delay_s", low=0.001, high=2.0, unit="s")
    check_number(gain_db, name="gain_db", low=-80.0, high=0.0, unit="dB")
    check_number(feedback, name="feedback", low=0.0, high=0.9, unit="")
    delay = n_samples_in(delay_s, sample_rate_hz=sample_rate_hz)
    n_repeats = 1
    if feedback > 0.0:
        n_repeats += int(np.ceil((ECHO_FLOOR_DB - gain_db) / (20.0 * np.log10(feedback))))
    n_blocks = -(-samples.size // delay)
    direct = np.zeros((n_blocks + n_repeats, delay), dtype=np.float32)
    direct.reshape(-1)[: samples.size] = samples
    gain, again = np.float32(10.0 ** (gain_db / 20.0)), np.float32(feedback)
    wet = np.zeros_like(direct)
    for block in range(1, len(wet)):
        np.multiply(direct[block - 1], gain, out=wet[block])
        wet[block] += again * wet[block - 1]
    direct += wet
    return direct.reshape(-1)[: samples.size + n_repeats * delay]
