"""Put a talker and a microphone into a room: impulse responses whose direct sound lies at sample 0."""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from ..whole_file import beside
from .guard import check_number, check_rate_hz, check_signal, n_samples_in
from .noise import noise_floor as noise_floor  # a room has one
from .record import to_json

SPEED_OF_SOUND_M_S = 343.0
HIGH_PASS_HZ = 40.0
N_ROOMS = 64
"""Rooms of each preset: a bank, so that a build simulates few and keeps them."""
_CACHE_FORMAT = 1
_LEAD = 40  # half of the 81 taps by which pyroomacoustics delays fractionally

Point = tuple[float, float, float]
Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talker:
    """Somebody (or a loudspeaker) in a room.

    Parameters
    ----------
    position_m : (x, y, z)
    facing_deg : float
        Azimuth in the room's own frame, 0 along +x, 90 along +y.
    directivity : {"speech", "omni"}
        A talker's mouth by the table in `directivity`, or the same in all directions.
    """

    position_m: Point
    facing_deg: float = 0.0
    directivity: Literal["speech", "omni"] = "omni"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomParams:
    """A shoe-box room with the user's microphone and the user in it.

    Parameters
    ----------
    size_m : (x, y, z)
    rt60_s : float
        Reverberation time the walls are made for, by Sabine's formula: one absorption for all of them.
    microphone_m : (x, y, z)
    user : Talker
        Where the user speaks from when speaking to the device.
    max_order : int
        Of the image sources.
    """

    size_m: Point
    rt60_s: float
    microphone_m: Point
    user: Talker
    max_order: int = 17

    def __post_init__(self) -> None:
        for name, point in (("microphone_m", self.microphone_m), ("user", self.user.position_m)):
            check_inside(point, size_m=self.size_m, name=name)
        check_number(self.max_order, name="max_order", low=0, high=200, unit="reflections")
        absorption(self)


def check_inside(point: Point, *, size_m: Point, name: str) -> None:
    """Return nothing if a point is inside a room of that size, else raise AudioError."""
    if len(point) != 3 or not all(0.0 < p < s for p, s in zip(point, size_m, strict=True)):
        raise AudioError(f"{name} at {point} m is not inside the room of {size_m} m")


def absorption(room: RoomParams) -> float:
    """Return the energy absorption, 0 to 1, of every wall for the room's `rt60_s`.

    Raises
    ------
    AudioError
        A time so short for the size that the walls would have to absorb more than all.

    Notes
    -----
    Sabine: T = 24 ln 10 V / (c S a).
    """
    x, y, z = room.size_m
    surface = 2.0 * (x * y + y * z + x * z)
    share = 24.0 * np.log(10.0) * x * y * z / (SPEED_OF_SOUND_M_S * surface * room.rt60_s)
    if not 0.0 < share < 1.0:
        raise AudioError(
            f"rt60_s {room.rt60_s} in a room of {room.size_m} m needs absorption {share:.2f}; wanted < 1"
        )
    return float(share)


def facing(point: Point, *, towards: Point) -> float:
    """Return the azimuth (degrees) in which somebody at `point` looks `towards` another point."""
    return float(np.degrees(np.arctan2(towards[1] - point[1], towards[0] - point[0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPreset:
    """The ranges of one named, versioned room; pairs are low and high of an even draw.

    Parameters
    ----------
    name : str
    summary : str
    size_m : three pairs
    rt60_s, user_distance_m, mouth_height_m, microphone_height_m : pair
    wall_m : float
        Least distance of the microphone from the side walls.
    source : str
    """

    name: str
    summary: str
    size_m: tuple[Range, Range, Range]
    rt60_s: Range
    user_distance_m: Range
    mouth_height_m: Range
    microphone_height_m: Range
    wall_m: float
    source: str


ROOMS: dict[str, RoomPreset] = {
    "quiet_room@1": RoomPreset(
        name="quiet_room@1",
        summary="a living room or office, the user at arm's length from the device and speaking to it",
        size_m=((3.0, 7.0), (3.0, 6.0), (2.4, 3.2)),
        rt60_s=(0.3, 0.6),
        user_distance_m=(0.5, 0.9),
        mouth_height_m=(1.1, 1.4),
        microphone_height_m=(0.8, 1.2),
        wall_m=1.0,
        source="our choice",
    ),
}


def draw_room(rng: np.random.Generator, *, name: str = "quiet_room@1") -> RoomParams:
    """Return one of the `N_ROOMS` rooms of the preset `name`, with the user in it, facing the microphone.

    Raises
    ------
    AudioError
        No preset of that name; the message lists those there are.
    """
    return bank_room(name, int(rng.integers(N_ROOMS)))


def bank_room(name: str, number: int) -> RoomParams:
    """Return room `number`, 0 to `N_ROOMS` - 1, of the preset `name`: the same one everywhere.

    Raises
    ------
    AudioError
        No preset of that name, or no room of that number.
    """
    preset = ROOMS.get(name)
    if preset is None:
        raise AudioError(f"room {name!r} is unknown; known are {', '.join(sorted(ROOMS))}")
    check_number(number, name="number", low=0, high=N_ROOMS - 1, unit="")
    seed = hashlib.sha256(f"{name}/{number}".encode()).digest()
    return _make_room(preset, np.random.default_rng(int.from_bytes(seed[:8], "little")))


def _make_room(preset: RoomPreset, rng: np.random.Generator) -> RoomParams:
    x, y, z = (float(rng.uniform(*side)) for side in preset.size_m)
    microphone = (
        float(rng.uniform(preset.wall_m, x - preset.wall_m)),
        float(rng.uniform(preset.wall_m, y - preset.wall_m)),
        float(rng.uniform(*preset.microphone_height_m)),
    )
    azimuth, distance = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(*preset.user_distance_m)
    mouth_m = float(rng.uniform(*preset.mouth_height_m))
    flat = float(np.sqrt(max(distance**2 - (mouth_m - microphone[2]) ** 2, 0.01)))
    mouth = (
        float(microphone[0] + flat * np.cos(azimuth)),
        float(microphone[1] + flat * np.sin(azimuth)),
        mouth_m,
    )
    return RoomParams(
        size_m=(x, y, z),
        rt60_s=float(rng.uniform(*preset.rt60_s)),
        microphone_m=microphone,
        user=Talker(position_m=mouth, facing_deg=facing(mouth, towards=microphone), directivity="speech"),
    )


def room_rir(
    room: RoomParams, *, talker: Talker | None = None, sample_rate_hz: int, cache_dir: Path | None = None
) -> NDArray[np.float32]:
    """Return the impulse response, shape (m,), from a talker to the room's microphone.

    The direct sound is sample 0; a talker at d metres has it at 1 / d, so level and distance stay what they
    are in the room. Nothing is normalised.

    Parameters
    ----------
    room : RoomParams
    talker : Talker, optional
        The room's user when not given.
    sample_rate_hz : int
    cache_dir : Path, optional
        Where responses are kept, named by the hash of all numbers that make them.

    Raises
    ------
    AudioError
        A wrong rate, or a talker outside the room.

    Notes
    -----
    Image sources by pyroomacoustics, one thread (its bits depend on their number), its zero-phase high-pass
    off; a causal one of second order at 40 Hz removes the DC build-up. The lead is known from the geometry,
    never looked for: the talker is moved by up to half a sample of sound (7 mm at 24 kHz) along the line to
    the microphone, so that the direct sound falls on a sample, and everything before that sample is cut
    off. What is lost there is the first half of the band-limited pulses of reflections that arrive within
    1.7 ms of the direct sound. With `directivity="speech"` the direct sound is a minimum-phase pulse that
    starts at sample 0. The response ends after `rt60_s`, or where the images end.
    """
    check_rate_hz(sample_rate_hz)
    talker = room.user if talker is None else talker
    check_inside(talker.position_m, size_m=room.size_m, name="talker")
    if cache_dir is None:
        return _simulate(room, talker, sample_rate_hz).copy()
    path = cache_dir / f"rir-{_digest(room, talker, sample_rate_hz)}.npy"
    if path.exists():
        kept = np.load(path, allow_pickle=False)
        check_signal(kept, name=str(path))
        return np.asarray(kept, dtype=np.float32)
    rir = _simulate(room, talker, sample_rate_hz)
    with beside(path) as part, part.open("wb") as file:
        np.save(file, rir)
    return rir


def _digest(room: RoomParams, talker: Talker, sample_rate_hz: int) -> str:
    import pyroomacoustics

    numbers = {
        "room": to_json(room),
        "talker": to_json(talker),
        "sample_rate_hz": sample_rate_hz,
        "pyroomacoustics": pyroomacoustics.__version__,
        "format": _CACHE_FORMAT,
    }
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:32]


def _on_a_sample(talker: Talker, *, microphone_m: Point, sample_rate_hz: int) -> tuple[Point, int]:
    """Return the position moved so that its sound takes a whole number of samples, and that number."""
    line = np.asarray(talker.position_m) - np.asarray(microphone_m)
    distance = float(np.linalg.norm(line))
    lead = max(1, int(np.floor(distance / SPEED_OF_SOUND_M_S * sample_rate_hz + 0.5)))
    if distance == 0.0:
        raise AudioError(
            f"talker and microphone are both at {microphone_m} m; wanted some distance between them"
        )
    moved = np.asarray(microphone_m) + line * (lead * SPEED_OF_SOUND_M_S / sample_rate_hz / distance)
    return (float(moved[0]), float(moved[1]), float(moved[2])), lead


def _compute_alike(box: Any) -> None:
    """Compute a room's responses with one thread and no zero-phase filter, and leave the package as it was."""
    import pyroomacoustics as pra

    ours = {"num_threads": 1, "rir_hpf_enable": False}
    before = {name: pra.constants.get(name) for name in ours}
    try:
        for name, value in ours.items():
            pra.constants.set(name, value)
        box.compute_rir()
    finally:
        for name, value in before.items():
            pra.constants.set(name, value)


@lru_cache(maxsize=256)
def _simulate(room: RoomParams, talker: Talker, sample_rate_hz: int) -> NDArray[np.float32]:
    import pyroomacoustics as pra
    from scipy.signal import butter, sosfilt

    from .directivity import talker_directivity

    place, lead = _on_a_sample(talker, microphone_m=room.microphone_m, sample_rate_hz=sample_rate_hz)
    box = pra.ShoeBox(
        list(room.size_m),
        fs=sample_rate_hz,
        materials=pra.Material(absorption(room)),
        max_order=room.max_order,
    )
    box.set_sound_speed(SPEED_OF_SOUND_M_S)
    directivity = None
    if talker.directivity == "speech":
        directivity = talker_directivity(talker.facing_deg, sample_rate_hz=sample_rate_hz)
    box.add_soundsource(pra.SoundSource(list(place), directivity=directivity))
    box.add_microphone(list(room.microphone_m))
    _compute_alike(box)
    rir = box.rir[0][0][lead + _LEAD :]
    rir = rir[: max(1, n_samples_in(room.rt60_s, sample_rate_hz=sample_rate_hz))]
    sections = butter(2, HIGH_PASS_HZ, btype="highpass", fs=sample_rate_hz, output="sos")
    return np.asarray(sosfilt(sections, rir.astype(np.float64)), dtype=np.float32)


def through_room(samples: NDArray[np.float32], rir: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the convolution, shape (n + m - 1,), of a signal with an impulse response.

    Raises
    ------
    AudioError
        One of them is no signal.
    """
    from scipy.signal import oaconvolve

    check_signal(samples)
    check_signal(rir, name="rir")
    return np.asarray(oaconvolve(samples, rir), dtype=np.float32)


def rir_bank(
    name: str = "quiet_room@1", *, sample_rate_hz: int, cache_dir: Path | None = None
) -> tuple[tuple[RoomParams, NDArray[np.float32]], ...]:
    """Return every room of a preset with the response from its user, so that none need be made later.

    Parameters
    ----------
    name : str
    sample_rate_hz : int
    cache_dir : Path, optional
        As `room_rir`.
    """
    rooms = [bank_room(name, number) for number in range(N_ROOMS)]
    return tuple((room, room_rir(room, sample_rate_hz=sample_rate_hz, cache_dir=cache_dir)) for room in rooms)
