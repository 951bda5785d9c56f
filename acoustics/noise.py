"""Background noise: made here in a colour, or cut from a recording, at a stated level."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .fade import rise
from .guard import check_number, check_rate_hz, check_signal, n_samples_in

Colour = Literal["white", "pink", "brown"]
COLOURS: tuple[Colour, ...] = ("white", "pink", "brown")
_LOWEST_HZ = 20.0
_SEAM_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseParams:
    """Every number of one background noise.

    Parameters
    ----------
    colour : {"white", "pink", "brown"}, optional
        Made here; exactly one of `colour` and `recording` is given.
    recording : str, optional
        SHA-256 of the samples of a recording that the user has.
    snr_db : float
        Span level of the user's on-axis speech over the level of the noise.
    seed : int
        Of the noise itself, or of where the recording is cut.
    """

    colour: Colour | None = None
    recording: str | None = None
    snr_db: float
    seed: int

    def __post_init__(self) -> None:
        if (self.colour is None) == (self.recording is None):
            raise AudioError(
                f"noise has colour {self.colour!r} and recording {self.recording!r}; give one of them"
            )


def draw_noise(
    rng: np.random.Generator,
    *,
    snr_db: tuple[float, float] = (10.0, 30.0),
    colours: tuple[Colour, ...] = COLOURS,
    recordings: tuple[str, ...] = (),
) -> NoiseParams:
    """Return a noise drawn from the colours and recordings, at a signal-to-noise ratio within `snr_db`.

    Raises
    ------
    AudioError
        Nothing to draw from, or an empty range.
    """
    kinds: list[dict[str, str]] = [{"colour": colour} for colour in colours]
    kinds += [{"recording": digest} for digest in recordings]
    if not kinds or not snr_db[0] <= snr_db[1]:
        raise AudioError(
            f"noise from {len(kinds)} kinds at snr_db {snr_db}; wanted a kind and a range low, high"
        )
    kind = kinds[int(rng.integers(len(kinds)))]
    return NoiseParams(
        snr_db=float(rng.uniform(*snr_db)),
        seed=int(rng.integers(2**32)),
        **kind,  # type: ignore[arg-type]
    )


def noise_floor(
    n_samples: int,
    rng: np.random.Generator,
    *,
    level_dbov: float,
    colour: Colour = "pink",
    sample_rate_hz: int,
) -> NDArray[np.float32]:
    """Return noise, shape (n_samples,), whose RMS over its whole length is `level_dbov` (0 dBov = 1.0).

    Parameters
    ----------
    n_samples : int >= 1
    rng : numpy Generator
    level_dbov : float, -140 to 0
    colour : {"white", "pink", "brown"}
        Power per hertz: flat, falling 3 or 6 dB per octave above 20 Hz.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No length, an unknown colour, a wrong rate or level.

    Notes
    -----
    Gaussian. Brown is white noise through one pole at 20 Hz; pink is white noise through poles and zeros that
    alternate an octave apart, whose mean slope is 3 dB per octave with a ripple of half a decibel.
    """
    from scipy.signal import lfilter

    check_rate_hz(sample_rate_hz)
    check_number(level_dbov, name="level_dbov", low=-140.0, high=0.0, unit="dBov")
    if n_samples < 1 or colour not in COLOURS:
        raise AudioError(f"n_samples {n_samples}, colour {colour!r}; wanted n_samples >= 1, one of {COLOURS}")
    noise = rng.standard_normal(n_samples, dtype=np.float32)
    if colour != "white":
        numerator, denominator = _shaping(colour, sample_rate_hz)
        noise = lfilter(numerator, denominator, noise)
    rms = float(np.sqrt(np.mean(np.square(noise, dtype=np.float64))))
    noise *= 10.0 ** (level_dbov / 20.0) / rms
    return np.asarray(noise, dtype=np.float32)


def _shaping(colour: Colour, sample_rate_hz: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numerator and denominator of the shaping filter (matched z-transform)."""
    if colour == "brown":
        return np.array([1.0]), np.array([1.0, -np.exp(-2.0 * np.pi * _LOWEST_HZ / sample_rate_hz)])
    poles_hz = _LOWEST_HZ * 4.0 ** np.arange(0.0, np.log(0.5 * sample_rate_hz / _LOWEST_HZ) / np.log(4.0))
    poles = np.exp(-2.0 * np.pi * poles_hz / sample_rate_hz)
    zeros = np.exp(-2.0 * np.pi * poles_hz * 2.0 / sample_rate_hz)
    return np.asarray(np.poly(zeros), dtype=np.float64), np.asarray(np.poly(poles), dtype=np.float64)


def recorded_noise(
    recording: NDArray[np.float32],
    n_samples: int,
    rng: np.random.Generator,
    *,
    level_dbov: float,
    sample_rate_hz: int,
) -> NDArray[np.float32]:
    """Return a stretch of a recording, shape (n_samples,), at a random place, its RMS set to `level_dbov`.

    A recording that is too short is repeated, each seam a cross-fade of 50 ms at constant power.

    Parameters
    ----------
    recording : ndarray of float32, shape (m,), at the same rate
        At least 0.2 s.
    n_samples : int >= 1
    rng : numpy Generator
    level_dbov : float, -140 to 0
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, one too short or silent where it is cut, no length, a wrong rate or level.
    """
    check_signal(recording, name="recording")
    check_rate_hz(sample_rate_hz)
    check_number(level_dbov, name="level_dbov", low=-140.0, high=0.0, unit="dBov")
    seam = n_samples_in(_SEAM_S, sample_rate_hz=sample_rate_hz)
    if n_samples < 1 or recording.size < 4 * seam:
        raise AudioError(
            f"{n_samples} samples from a recording of {recording.size}; wanted n_samples >= 1 and "
            f"a recording of at least {4 * seam}"
        )
    looped = recording
    if recording.size < n_samples:
        ramp = np.sqrt(rise(seam))
        joint = recording[-seam:] * ramp[::-1] + recording[:seam] * ramp
        round_trip = np.concatenate([joint, recording[seam:-seam]])
        looped = np.tile(round_trip, -(-n_samples // round_trip.size) + 1)
    start = int(rng.integers(looped.size - n_samples + 1))
    cut = looped[start : start + n_samples]
    rms = float(np.sqrt(np.mean(np.square(cut, dtype=np.float64))))
    if rms == 0.0:
        raise AudioError(f"recording holds only zeros from sample {start} on; wanted noise throughout")
    return np.asarray(cut * (10.0 ** (level_dbov / 20.0) / rms), dtype=np.float32)


def make_noise(
    params: NoiseParams,
    *,
    n_samples: int,
    speech_level_dbov: float,
    sample_rate_hz: int,
    recording: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return the noise, shape (n_samples,), that its params stand for: the same every time.

    Parameters
    ----------
    params : NoiseParams
    n_samples : int >= 1
    speech_level_dbov : float
        Span level of the user's on-axis speech.
    sample_rate_hz : int
    recording : ndarray of float32, shape (m,), optional
        The samples whose hash `params.recording` is.

    Raises
    ------
    AudioError
        A recording is asked for and none, or another, is given; or as the functions above.
    """
    rng = np.random.default_rng(params.seed)
    level_dbov = speech_level_dbov - params.snr_db
    if params.colour is not None:
        return noise_floor(
            n_samples, rng, level_dbov=level_dbov, colour=params.colour, sample_rate_hz=sample_rate_hz
        )
    if recording is None or samples_sha256(recording) != params.recording:
        raise AudioError(f"noise wants the recording with hash {params.recording}; give those samples")
    return recorded_noise(recording, n_samples, rng, level_dbov=level_dbov, sample_rate_hz=sample_rate_hz)


def samples_sha256(samples: NDArray[np.float32]) -> str:
    """Return the SHA-256 (hex) of a signal, shape (n,), as little-endian float32."""
    import hashlib

    check_signal(samples)
    return hashlib.sha256(samples.astype("<f4").tobytes()).hexdigest()
