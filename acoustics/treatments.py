"""Apply a drawn treatment to a clip, and set the level that results."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .draw import TREATMENTS, TreatmentParams, draw_treatment, treatment_from_json, treatment_to_json
from .fade import rise
from .filters import echo, high_shelf, low_pass, taps
from .guard import check_number, check_rate_hz, check_signal, check_unclipped, n_samples_in
from .level import Span, check_spans, scale_to_level, span_level_dbov
from .room import room_rir, through_room

__all__ = [
    "AUDIBLE_DB",
    "TREATMENTS",
    "Treated",
    "TreatmentParams",
    "apply_treatment",
    "draw_treatment",
    "treat",
    "treatment_from_json",
    "treatment_to_json",
]

AUDIBLE_DB = -40.0
"""Relative to the span level: what lies below it after the last louder sample counts as inaudible."""
_RING_S = 0.02
_FADE_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Treated:
    """A treated clip at its final level.

    Parameters
    ----------
    samples : ndarray of float32, shape (m,)
        Starts where the dry clip starts; ends at `audible_stop`.
    audible_stop : int
        Where the sound has faded to zero.
    measured_db : float
        Span level re the reference, measured on `samples`.
    """

    samples: NDArray[np.float32]
    audible_stop: int
    measured_db: float


def apply_treatment(
    samples: NDArray[np.float32], params: TreatmentParams, *, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the clip through shelf, low-pass, reflections, echo and room, shape (n + tail,); no level is set.

    The direct sound stays where it was, so the spans of the dry clip hold for the result.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    params : TreatmentParams
    sample_rate_hz : int
        The filters' responses belong to the rate: the presets are made for 24000.

    Raises
    ------
    AudioError
        No signal, a wrong rate, or a number of `params` out of the filters' ranges.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    ring = np.zeros(n_samples_in(_RING_S, sample_rate_hz=sample_rate_hz), dtype=np.float32)
    result = np.concatenate([samples, ring])
    if params.shelf_corner_hz is not None and params.shelf_gain_db is not None and params.shelf_q is not None:
        result = high_shelf(
            result,
            corner_hz=params.shelf_corner_hz,
            gain_db=params.shelf_gain_db,
            q=params.shelf_q,
            sample_rate_hz=sample_rate_hz,
        )
    if params.low_pass_hz is not None:
        result = low_pass(
            result,
            corner_hz=params.low_pass_hz,
            n_sections=params.n_low_pass,
            sample_rate_hz=sample_rate_hz,
        )
    if params.tap_delays_s:
        result = taps(
            result,
            delays_s=params.tap_delays_s,
            gains_db=params.tap_gains_db,
            sample_rate_hz=sample_rate_hz,
        )
    if (
        params.echo_delay_s is not None
        and params.echo_gain_db is not None
        and params.echo_feedback is not None
    ):
        result = echo(
            result,
            delay_s=params.echo_delay_s,
            gain_db=params.echo_gain_db,
            feedback=params.echo_feedback,
            sample_rate_hz=sample_rate_hz,
        )
    if params.room is not None:
        rir = room_rir(params.room, talker=params.talker, sample_rate_hz=sample_rate_hz)
        result = through_room(result, rir)
    return result


def treat(
    samples: NDArray[np.float32],
    params: TreatmentParams,
    *,
    span: Span,
    reference_level_dbov: float,
    sample_rate_hz: int,
) -> Treated:
    """Return the clip treated, at its level, and cut where it has become inaudible.

    Filters first; then one gain, from the level measured over `span`, so that the span is exactly
    `target_db` re the reference. With `gain_first_db` the dry span is set to that level before the filters
    instead; with a `room` the gain is the one that brings the same clip, spoken by the room's user towards the
    microphone, to the reference. In both cases what comes out is reported.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        A dry, unclipped clip.
    params : TreatmentParams
    span : (start, stop), sample indices
        The speech in `samples`.
    reference_level_dbov : float, -100 to 0
        Level of the same sample's on-axis user speech.
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a wrong rate, a clipped clip, a span outside it or silent, a number out of range.

    Notes
    -----
    The end: after the last sample above -40 dB re the span level (never earlier than 5 ms after the span)
    the sound is over; the 5 ms before that fade to zero. The span itself is not touched by the fade. Nothing
    is limited: the caller checks the peak.
    """
    check_signal(samples)
    check_unclipped(samples)
    check_number(reference_level_dbov, name="reference_level_dbov", low=-100.0, high=0.0, unit="dBov")
    spans = check_spans([span], n_samples=samples.size)
    if params.room is not None:
        facing = through_room(samples, room_rir(params.room, sample_rate_hz=sample_rate_hz))
        gain_db = reference_level_dbov - span_level_dbov(facing, spans)
        event = apply_treatment(samples, params, sample_rate_hz=sample_rate_hz)
        result = event * np.float32(10.0 ** (gain_db / 20.0))
    elif params.gain_first_db is not None:
        dry = scale_to_level(samples, spans=spans, level_dbov=reference_level_dbov + params.gain_first_db)
        result = apply_treatment(dry, params, sample_rate_hz=sample_rate_hz)
    else:
        filtered = apply_treatment(samples, params, sample_rate_hz=sample_rate_hz)
        level_dbov = reference_level_dbov + (params.target_db or 0.0)
        result = scale_to_level(filtered, spans=spans, level_dbov=level_dbov)
    span_dbov = span_level_dbov(result, spans)
    fade = n_samples_in(_FADE_S, sample_rate_hz=sample_rate_hz)
    audible_stop = _audible_stop(result, limit=10.0 ** ((span_dbov + AUDIBLE_DB) / 20.0))
    audible_stop = min(max(audible_stop, spans[0][1] + fade), result.size)
    result = result[:audible_stop].copy()
    result[audible_stop - fade :] *= rise(fade)[::-1]
    return Treated(samples=result, audible_stop=audible_stop, measured_db=span_dbov - reference_level_dbov)


def _audible_stop(samples: NDArray[np.float32], *, limit: float) -> int:
    loud = np.flatnonzero(np.abs(samples) > limit)
    return int(loud[-1]) + 1 if loud.size else 0
