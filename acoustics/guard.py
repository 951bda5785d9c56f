"""Refuse, at the door of every public function, what is not a signal of one channel."""

import numpy as np

from .. import AudioError

MIN_RATE_HZ = 8_000
MAX_RATE_HZ = 192_000
_CLIPPED_RUN = 3


def check_signal(samples: object, *, name: str = "samples") -> None:
    """Return nothing if `samples` is one channel of finite float32 samples, else raise.

    Parameters
    ----------
    samples : object
        What should be an ndarray of float32, shape (n,), n >= 1, every value finite. Values
        beyond ±1.0 are allowed: nothing here clips, the last step checks the peak.
    name : str
        How the message calls it.

    Raises
    ------
    AudioError
        Saying which of these was not met, what was found and what to do.
    """
    if not isinstance(samples, np.ndarray):
        raise AudioError(
            f"{name} is a {type(samples).__name__}; wanted a numpy array of float32, shape (n,): "
            "use np.asarray(..., dtype=np.float32)"
        )
    if samples.ndim != 1:
        raise AudioError(
            f"{name} has shape {samples.shape}; wanted one channel, shape (n,): "
            "pass one channel at a time, e.g. samples[0] of an array (channels, n)"
        )
    if samples.dtype != np.float32:
        raise AudioError(
            f"{name} has dtype {samples.dtype}; wanted float32: "
            "use from_pcm16 for int16, astype(np.float32) for float64"
        )
    if samples.size == 0:
        raise AudioError(f"{name} is empty, shape (0,); wanted at least one sample")
    if not np.isfinite(samples).all():
        at = int(np.flatnonzero(~np.isfinite(samples))[0])
        raise AudioError(
            f"{name}[{at}] is {samples[at]}; wanted finite samples only: find the step that made it"
        )


def check_rate_hz(sample_rate_hz: object) -> None:
    """Return nothing if `sample_rate_hz` is an integer from 8000 to 192000 (Hz), else raise AudioError."""
    if (
        isinstance(sample_rate_hz, bool)
        or not isinstance(sample_rate_hz, int | np.integer)
        or not MIN_RATE_HZ <= sample_rate_hz <= MAX_RATE_HZ
    ):
        raise AudioError(
            f"sample_rate_hz is {sample_rate_hz!r}; wanted an integer from {MIN_RATE_HZ} to {MAX_RATE_HZ}"
        )


def check_unclipped(samples: np.ndarray, *, name: str = "samples") -> None:
    """Return nothing if a recording, checked by `check_signal`, shows no clipping, else raise AudioError.

    Clipped means: a magnitude above 1.0, or three samples in a row at one value of magnitude >= 0.999.
    """
    loud = np.abs(samples) >= 0.999
    if not loud.any():
        return
    over = np.abs(samples) > 1.0
    if over.any():
        at = int(np.argmax(over))
        raise AudioError(
            f"{name}[{at}] is {float(samples[at]):.6g}, beyond full scale; wanted |x| <= 1: "
            "lower the gain of the step before"
        )
    flat = loud[:-2] & (samples[:-2] == samples[1:-1]) & (samples[1:-1] == samples[2:])
    if flat.any():
        at = int(np.argmax(flat))
        raise AudioError(
            f"{name} is clipped: {_CLIPPED_RUN} samples in a row at {float(samples[at]):.6g} "
            f"from sample {at}; wanted a clip with headroom: record or speak it again at a lower level"
        )


def check_number(value: float, *, name: str, low: float, high: float, unit: str) -> None:
    """Return nothing if low <= `value` <= high (so not NaN), else raise an AudioError that says all three."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not low <= value <= high:
        raise AudioError(f"{name} is {value!r} {unit}; wanted a number from {low:g} to {high:g} {unit}")


def n_samples_in(duration_s: float, *, sample_rate_hz: int) -> int:
    """Return the number of samples (int) in a time of `duration_s` seconds, halves rounded up.

    Examples
    --------
    >>> n_samples_in(0.5, sample_rate_hz=24_000)
    12000
    >>> n_samples_in(0.00031250, sample_rate_hz=8_000)
    3
    """
    return int(np.floor(duration_s * sample_rate_hz + 0.5))
