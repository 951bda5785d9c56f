"""Turn a microphone's gain up or down, and let it clip where the recipe asks for it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .guard import check_number, check_signal


@dataclass(frozen=True, slots=True, kw_only=True)
class MicrophoneParams:
    """Every number of one microphone setting.

    Parameters
    ----------
    gain_db : float
    clip_dbfs : float, optional
        Where the converter ends; None: it does not clip.
    """

    gain_db: float = 0.0
    clip_dbfs: float | None = None

    def __post_init__(self) -> None:
        check_number(self.gain_db, name="gain_db", low=-60.0, high=60.0, unit="dB")
        if self.clip_dbfs is not None:
            check_number(self.clip_dbfs, name="clip_dbfs", low=-60.0, high=0.0, unit="dBFS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """What a microphone gives.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    clipped_share : float
        Share of the samples that were limited, 0 to 1.
    """

    samples: NDArray[np.float32]
    clipped_share: float


def draw_microphone(
    rng: np.random.Generator,
    *,
    gain_db: tuple[float, float] = (-12.0, 12.0),
    clip_dbfs: tuple[float, float] | None = None,
) -> MicrophoneParams:
    """Return a microphone setting drawn evenly from the ranges (our choice)."""
    gain = float(rng.uniform(*gain_db))
    return MicrophoneParams(gain_db=gain, clip_dbfs=float(rng.uniform(*clip_dbfs)) if clip_dbfs else None)


def pick_up(samples: NDArray[np.float32], params: MicrophoneParams) -> Picked:
    """Return the signal after the microphone's gain, limited to ± `clip_dbfs` where that is given.

    This is the one place that clips, and only when asked to; it says how much.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    params : MicrophoneParams

    Raises
    ------
    AudioError
        No signal.
    """
    check_signal(samples)
    amplified = samples * np.float32(10.0 ** (params.gain_db / 20.0))
    if params.clip_dbfs is None:
        return Picked(samples=amplified, clipped_share=0.0)
    limit = np.float32(10.0 ** (params.clip_dbfs / 20.0))
    share = float(np.mean(np.abs(amplified) > limit))
    return Picked(samples=np.clip(amplified, -limit, limit), clipped_share=share)
