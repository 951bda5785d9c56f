"""Let the system's own speech leak from its loudspeaker into the user's microphone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .guard import check_number, check_rate_hz, check_signal, n_samples_in
from .level import Span, check_spans, scale_to_level
from .room import through_room


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageParams:
    """Every number of one leakage but the room's.

    Parameters
    ----------
    level_db : float
        Span level of what leaks, re the user's on-axis speech.
    delay_s : float
        From the system's stem to the microphone: playing, flight and recording.
    """

    level_db: float
    delay_s: float

    def __post_init__(self) -> None:
        check_number(self.level_db, name="level_db", low=-80.0, high=20.0, unit="dB")
        check_number(self.delay_s, name="delay_s", low=0.0, high=2.0, unit="s")


def draw_leakage(
    rng: np.random.Generator,
    *,
    level_db: tuple[float, float] = (-40.0, -15.0),
    delay_s: tuple[float, float] = (0.02, 0.25),
) -> LeakageParams:
    """Return a leakage drawn evenly from the ranges.

    The ranges are our choice: from what an echo canceller leaves to what a phone on loudspeaker gives
    without one, and from a built-in loudspeaker to a wireless one.
    """
    return LeakageParams(level_db=float(rng.uniform(*level_db)), delay_s=float(rng.uniform(*delay_s)))


def leak(
    system: NDArray[np.float32],
    params: LeakageParams,
    *,
    spans: Sequence[Span],
    rir: NDArray[np.float32] | None,
    reference_level_dbov: float,
    sample_rate_hz: int,
) -> NDArray[np.float32]:
    """Return what the user's microphone picks up of the system, shape (n,): to be added to the user's side.

    Parameters
    ----------
    system : ndarray of float32, shape (n,)
        The system's stem. What would leak after its end is cut.
    params : LeakageParams
    spans : sequence of (start, stop), sample indices
        The speech in `system`.
    rir : ndarray of float32, shape (m,), optional
        From the loudspeaker to the microphone (`room_rir` with an omnidirectional talker).
    reference_level_dbov : float, -100 to 0
        Span level of the user's on-axis speech.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate, spans outside it or silent, a number out of range.

    Notes
    -----
    The level is measured over the spans shifted by the delay, after the room.
    """
    check_signal(system, name="system")
    check_rate_hz(sample_rate_hz)
    check_number(reference_level_dbov, name="reference_level_dbov", low=-100.0, high=0.0, unit="dBov")
    union = check_spans(spans, n_samples=system.size)
    heard = system if rir is None else through_room(system, rir)
    delay = min(n_samples_in(params.delay_s, sample_rate_hz=sample_rate_hz), system.size)
    late = np.zeros_like(system)
    late[delay:] = heard[: system.size - delay]
    shifted = [(a + delay, min(b + delay, system.size)) for a, b in union if a + delay < system.size]
    return scale_to_level(late, spans=shifted, level_dbov=reference_level_dbov + params.level_db)
