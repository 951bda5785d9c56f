"""Draw a treatment from its preset, apply it to a clip, and set the level that results."""

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .fade import rise
from .filters import echo, high_shelf, low_pass, taps
from .guard import check_number, check_rate_hz, check_signal, check_unclipped, n_samples_in
from .level import Span, check_spans, scale_to_level, span_level_dbov
from .presets import PRESETS, Number, Preset

TREATMENTS: dict[str, Preset] = {preset.name: preset for preset in PRESETS}

AUDIBLE_DB = -40.0
"""Relative to the span level: what lies below it after the last louder sample counts as inaudible."""
_RING_S = 0.02
_FADE_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class TreatmentParams:
    """Every number of one treatment, enough to make the same sound again.

    Parameters
    ----------
    preset : str
        Name of the preset it was drawn from.
    target_db : float, optional
        Span level of the result re the reference, forced after the filters.
    gain_first_db : float, optional
        Level of the dry voice re the reference, set before the filters; exactly one of the two is given.
    shelf_corner_hz, shelf_gain_db, shelf_q : float, optional
        All or none.
    low_pass_hz : float, optional
    n_low_pass : int
    tap_delays_s, tap_gains_db : tuple of float
        As many of each.
    echo_delay_s, echo_gain_db, echo_feedback : float, optional
        All or none.
    """

    preset: str
    target_db: float | None = None
    gain_first_db: float | None = None
    shelf_corner_hz: float | None = None
    shelf_gain_db: float | None = None
    shelf_q: float | None = None
    low_pass_hz: float | None = None
    n_low_pass: int = 1
    tap_delays_s: tuple[float, ...] = ()
    tap_gains_db: tuple[float, ...] = ()
    echo_delay_s: float | None = None
    echo_gain_db: float | None = None
    echo_feedback: float | None = None

    def __post_init__(self) -> None:
        if (self.target_db is None) == (self.gain_first_db is None):
            raise AudioError(f"treatment {self.preset}: give either target_db or gain_first_db")
        if len(self.tap_delays_s) != len(self.tap_gains_db):
            raise AudioError(f"treatment {self.preset}: tap_delays_s and tap_gains_db differ in length")
        for group in (
            (self.shelf_corner_hz, self.shelf_gain_db, self.shelf_q),
            (self.echo_delay_s, self.echo_gain_db, self.echo_feedback),
        ):
            if any(value is None for value in group) and any(value is not None for value in group):
                raise AudioError(
                    f"treatment {self.preset}: shelf and echo need all of their numbers, or none"
                )


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


def draw_treatment(name: str, rng: np.random.Generator) -> TreatmentParams:
    """Return the numbers of one treatment, drawn from the preset `name`.

    Fixed numbers take nothing from the generator.

    Raises
    ------
    AudioError
        No preset of that name; the message lists those there are.
    """
    preset = TREATMENTS.get(name)
    if preset is None:
        raise AudioError(f"treatment {name!r} is unknown; known are {', '.join(sorted(TREATMENTS))}")
    drawn: dict[str, Any] = {"preset": preset.name}
    for field in fields(Preset):
        value = getattr(preset, field.name)
        if isinstance(value, Number):
            drawn[field.name] = _draw(value, rng)
        elif isinstance(value, tuple):
            drawn[field.name] = tuple(_draw(number, rng) for number in value)
    return TreatmentParams(n_low_pass=preset.n_low_pass, **drawn)


def _draw(number: Number, rng: np.random.Generator) -> float:
    if number.low == number.high:
        return number.low
    if number.scale == "log":
        return float(np.exp(rng.uniform(np.log(number.low), np.log(number.high))))
    return float(rng.uniform(number.low, number.high))


def treatment_to_json(params: TreatmentParams) -> dict[str, Any]:
    """Return the numbers as a JSON object, keys without a value left out."""
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(params).items()}
    return {key: value for key, value in plain.items() if value is not None and value != []}


def treatment_from_json(data: dict[str, Any]) -> TreatmentParams:
    """Return the params that `treatment_to_json` wrote; an unknown or missing key is an AudioError."""
    known = {field.name for field in fields(TreatmentParams)}
    unknown = sorted(set(data) - known)
    if unknown or "preset" not in data:
        raise AudioError(
            f"treatment numbers with {'unknown keys ' + ', '.join(unknown) if unknown else 'no preset'}; "
            f"known are {', '.join(sorted(known))}"
        )
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
    }
    return TreatmentParams(**values)


def apply_treatment(
    samples: NDArray[np.float32], params: TreatmentParams, *, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the clip through shelf, low-pass, reflections and echo, shape (n + tail,); no level is set.

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
    instead, and what comes out is reported.

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
    if params.gain_first_db is not None:
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
