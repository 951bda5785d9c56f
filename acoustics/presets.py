"""The named treatments as data: every number, how it is drawn, and where it comes from."""

from dataclasses import dataclass, replace
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
    angle_deg : Number, optional
        How far the talker is turned; gives the shelf through the directivity table.
    room : str, optional
        Room preset: the level is then what the geometry makes it.
    turned_by_deg : Number, optional
        In a room: the user turns by this, to either side.
    distance_m : Number, optional
        In a room: another talker this far from the microphone.
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
    angle_deg: Number | None = None
    room: str | None = None
    turned_by_deg: Number | None = None
    distance_m: Number | None = None


_FDB = (
    "Full-Duplex-Bench v1.5 publishes the figure; what it refers to is our choice: "
    "RMS over the annotated span, after all filters"
)
_FDB_GAIN = (
    "Full-Duplex-Bench v1.5 publishes the figure; here it is read as a gain on the voice, before filters"
)
_FIT = (
    "our choice: fit, 1.1 dB rms, to talker directivity at 120 degrees, third octaves, running speech "
    "(Kocon & Monson 2018, JASA 144, EL7)"
)
_ANGLE = "our choice: from side-on to fully away, through the directivity table (Kocon & Monson 2018)"
_REFLECTIONS = "our choice: after the first-order reflections of 400 random rooms by the image source method"
_JITTER = f"{_REFLECTIONS}; the fixed value with 30 % of delay and 2 dB either way"
_DOORWAY = f"{OUR_CHOICE}: same flat, open door; no quotable source was found"
_DOOR = f"{OUR_CHOICE}: a closed inner door"
_AROUND = f"{OUR_CHOICE}: around the benchmark's figure"

_OFF_AXIS_DELAYS_S = (0.003, 0.005, 0.008, 0.011, 0.014, 0.020)
_OFF_AXIS_GAINS_DB = (-6.0, -7.0, -8.0, -9.0, -11.0, -13.0)


def _fixed(value: float, source: str) -> Number:
    return Number(low=value, high=value, source=source)


OFF_AXIS = Preset(
    name="off_axis@1",
    summary="the user, turned 120 degrees away from the microphone, in a small room",
    target_db=_fixed(-8.0, _FDB),
    shelf_corner_hz=_fixed(2_000.0, _FIT),
    shelf_gain_db=_fixed(-12.0, _FIT),
    shelf_q=_fixed(0.5, _FIT),
    tap_delays_s=tuple(_fixed(delay_s, _REFLECTIONS) for delay_s in _OFF_AXIS_DELAYS_S),
    tap_gains_db=tuple(_fixed(gain_db, _REFLECTIONS) for gain_db in _OFF_AXIS_GAINS_DB),
)
OFF_AXIS_VARIED = Preset(
    name="off_axis_varied@1",
    summary="the user, turned away by a drawn angle, reflections and level drawn too",
    target_db=Number(low=-12.0, high=-4.0, source=_AROUND),
    angle_deg=Number(low=75.0, high=180.0, source=_ANGLE),
    tap_delays_s=tuple(
        Number(low=0.7 * delay_s, high=1.3 * delay_s, source=_JITTER) for delay_s in _OFF_AXIS_DELAYS_S
    ),
    tap_gains_db=tuple(
        Number(low=gain_db - 2.0, high=gain_db + 2.0, source=_JITTER) for gain_db in _OFF_AXIS_GAINS_DB
    ),
)
NEXT_ROOM = Preset(
    name="next_room@1",
    summary="another voice through an open door",
    target_db=_fixed(-15.0, _FDB),
    low_pass_hz=_fixed(2_500.0, _DOORWAY),
    n_low_pass=2,
    echo_delay_s=_fixed(0.080, _DOORWAY),
    echo_gain_db=_fixed(-12.0, _DOORWAY),
    echo_feedback=_fixed(0.25, _DOORWAY),
)
NEXT_ROOM_VARIED = Preset(
    name="next_room_varied@1",
    summary="another voice through an open door, corner, echo and level drawn",
    target_db=Number(low=-21.0, high=-9.0, source=_AROUND),
    low_pass_hz=Number(low=1_200.0, high=4_000.0, scale="log", source=_DOORWAY),
    n_low_pass=2,
    echo_delay_s=Number(low=0.040, high=0.120, source=_DOORWAY),
    echo_gain_db=Number(low=-16.0, high=-8.0, source=_DOORWAY),
    echo_feedback=_fixed(0.25, _DOORWAY),
)
CLOSED_DOOR = Preset(
    name="closed_door@1",
    summary="another voice behind a closed inner door",
    target_db=Number(low=-24.0, high=-15.0, source=_DOOR),
    low_pass_hz=Number(low=500.0, high=1_000.0, scale="log", source=_DOOR),
    n_low_pass=2,
    echo_delay_s=Number(low=0.040, high=0.120, source=_DOOR),
    echo_gain_db=Number(low=-16.0, high=-8.0, source=_DOOR),
    echo_feedback=_fixed(0.25, _DOOR),
)
OFF_AXIS_GAIN_FIRST = replace(
    OFF_AXIS,
    name="off_axis_gain_first@1",
    summary="off_axis@1 by the other reading: -8 dB on the voice, then the filters; the level is reported",
    target_db=None,
    gain_first_db=_fixed(-8.0, _FDB_GAIN),
)
NEXT_ROOM_GAIN_FIRST = replace(
    NEXT_ROOM,
    name="next_room_gain_first@1",
    summary="next_room@1 by the other reading: -15 dB on the voice, then the filters; the level is reported",
    target_db=None,
    gain_first_db=_fixed(-15.0, _FDB_GAIN),
)
TURNED_AWAY_ROOM = Preset(
    name="turned_away_room@1",
    summary="the user turns away where they are, in the sample's room; the level is what it comes to",
    room="quiet_room@1",
    turned_by_deg=Number(low=90.0, high=180.0, source=OUR_CHOICE),
)
SECOND_TALKER_ROOM = Preset(
    name="second_talker_room@1",
    summary="somebody else in the sample's room, facing anywhere; the level is what it comes to",
    room="quiet_room@1",
    distance_m=Number(low=2.2, high=5.0, source=f"{OUR_CHOICE}: across the room"),
)

PRESETS: tuple[Preset, ...] = (
    OFF_AXIS,
    OFF_AXIS_VARIED,
    OFF_AXIS_GAIN_FIRST,
    NEXT_ROOM,
    NEXT_ROOM_VARIED,
    NEXT_ROOM_GAIN_FIRST,
    CLOSED_DOOR,
    TURNED_AWAY_ROOM,
    SECOND_TALKER_ROOM,
)
