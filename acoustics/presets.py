"""The named treatments as data: every number, how it is drawn, and where it comes from."""

from dataclasses import dataclass
from typing import Literal

from .. import AudioError

OUR_CHOICE = "our choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of a preset: fixed, or drawn between `low` and `high`.

    Parameters
    ----------
    low, high : float
        Equal for a fixed number.
    scale : {"linear", "log"}
        On which the draw is uniform.
    source : str
        Citation, or "our choice" with its reason.
    """

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    source: str

    def __post_init__(self) -> None:
        if not self.low <= self.high or (self.scale == "log" and self.low <= 0.0):
            raise AudioError(
                f"range ({self.low}, {self.high}) on a {self.scale} scale is empty or not positive"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The ranges of one named, versioned treatment; what is None is not in the chain.

    Parameters
    ----------
    name : str
        `<what>@<version>`; a change of any number is a new version.
    summary : str
    target_db : Number, optional
        Span level of the result re the reference, forced after all filters.
    gain_first_db : Number, optional
        Level of the dry voice re the reference, set before the filters; what comes out is reported.
    shelf_corner_hz, shelf_gain_db, shelf_q : Number, optional
    low_pass_hz : Number, optional
    n_low_pass : int
        First-order sections in series.
    tap_delays_s, tap_gains_db : tuple of Number
    echo_delay_s, echo_gain_db, echo_feedback : Number, optional
    """

    name: str
    summary: str
    target_db: Number | None = None
    gain_first_db: Number | None = None
    shelf_corner_hz: Number | None = None
    shelf_gain_db: Number | None = None
    shelf_q: Number | None = None
    low_pass_hz: Number | None = None
    n_low_pass: int = 1
    tap_delays_s: tuple[Number, ...] = ()
    tap_gains_db: tuple[Number, ...] = ()
    echo_delay_s: Number | None = None
    echo_gain_db: Number | None = None
    echo_feedback: Number | None = None


_FDB = (
    "Full-Duplex-Bench v1.5 publishes the figure; what it refers to is our choice: "
    "RMS over the annotated span, after all filters"
)
_FIT = (
    "our choice: fit, 1.1 dB rms, to talker directivity at 120 degrees, third octaves, running speech "
    "(Kocon & Monson 2018, JASA 144, EL7)"
)
_REFLECTIONS = "our choice: after the first-order reflections of 400 random rooms by the image source method"
_DOORWAY = f"{OUR_CHOICE}: same flat, open door; no quotable source was found"


def _fixed(value: float, source: str) -> Number:
    return Number(low=value, high=value, source=source)


PRESETS: tuple[Preset, ...] = (
    Preset(
        name="off_axis@1",
        summary="the user, turned 120 degrees away from the microphone, in a small room",
        target_db=_fixed(-8.0, _FDB),
        shelf_corner_hz=_fixed(2_000.0, _FIT),
        shelf_gain_db=_fixed(-12.0, _FIT),
        shelf_q=_fixed(0.5, _FIT),
        tap_delays_s=tuple(_fixed(t, _REFLECTIONS) for t in (0.003, 0.005, 0.008, 0.011, 0.014, 0.020)),
        tap_gains_db=tuple(_fixed(g, _REFLECTIONS) for g in (-6.0, -7.0, -8.0, -9.0, -11.0, -13.0)),
    ),
    Preset(
        name="next_room@1",
        summary="another voice through an open door",
        target_db=_fixed(-15.0, _FDB),
        low_pass_hz=_fixed(2_500.0, _DOORWAY),
        n_low_pass=2,
        echo_delay_s=_fixed(0.080, _DOORWAY),
        echo_gain_db=_fixed(-12.0, _DOORWAY),
        echo_feedback=_fixed(0.25, _DOORWAY),
    ),
)
