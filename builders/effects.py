"""The real world beside the room: noise, echo leakage, microphone and codec, drawn and then applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from ..acoustics.codec import CodecParams, draw_codec, through_codec
from ..acoustics.leakage import LeakageParams, draw_leakage, leak
from ..acoustics.level import Span
from ..acoustics.microphone import MicrophoneParams, draw_microphone, pick_up
from ..acoustics.noise import NoiseParams, draw_noise, make_noise, samples_sha256
from ..acoustics.record import from_json, to_json
from ..acoustics.room import RoomParams, Talker, room_rir
from ..scenarios.effects import EffectRanges
from .noise_origin import NoiseOrigin

LOUDSPEAKER_M = (0.1, 0.4)
"""From the device's loudspeaker to the user's microphone (our choice)."""

Signal = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Every number of the effects of one sample; None: no such effect.

    `loudspeaker` says where in the sample's room the system's voice comes from (None without a room).
    `recording` is the noise's recording, shape (m,), at the sample's rate, where it has one, and
    `noise_origin` where that is from.
    """

    noise: NoiseParams | None = None
    leakage: LeakageParams | None = None
    loudspeaker: Talker | None = None
    microphone: MicrophoneParams | None = None
    codec: CodecParams | None = None
    recording: Signal | None = None
    noise_origin: NoiseOrigin | None = None

    @property
    def any(self) -> bool:
        """Whether there is any effect."""
        return any(part is not None for part in (self.noise, self.leakage, self.microphone, self.codec))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What leaves the user's device: samples of shape (n,), and the shares of them that were limited."""

    samples: Signal
    clipped_share: float
    decoder_limited_share: float


def draw_effects(
    ranges: EffectRanges, rng: Callable[[str], np.random.Generator], room: RoomParams | None
) -> Effects:
    """Return the effects of one sample; each kind has a stage of its own, so that none shifts another.

    A recording is drawn by its file name; `with_recording` reads it.
    """
    noise = leakage = loudspeaker = microphone = codec = None
    if ranges.noise_snr_db is not None:
        noise = draw_noise(
            rng("effects/noise"),
            snr_db=ranges.noise_snr_db,
            colours=ranges.noise_colours,  # type: ignore[arg-type]
            recordings=tuple(sorted(path.name for path in _recordings(ranges.noise_folder))),
        )
    if ranges.leakage_db is not None:
        stage = rng("effects/leakage")
        leakage = draw_leakage(stage, level_db=ranges.leakage_db, delay_s=ranges.leakage_delay_s)
        loudspeaker = None if room is None else _beside(room, stage)
    if ranges.microphone_gain_db is not None or ranges.microphone_clip_dbfs is not None:
        microphone = draw_microphone(
            rng("effects/microphone"),
            gain_db=ranges.microphone_gain_db or (0.0, 0.0),
            clip_dbfs=ranges.microphone_clip_dbfs,
        )
    if ranges.codecs:
        codec = draw_codec(rng("effects/codec"), codecs=ranges.codecs)  # type: ignore[arg-type]
    return Effects(noise=noise, leakage=leakage, loudspeaker=loudspeaker, microphone=microphone, codec=codec)


def _recordings(folder: str) -> list[Path]:
    if not folder:
        return []
    return [path for path in Path(folder).glob("*") if path.suffix.lower() == ".wav"]


def _beside(room: RoomParams, rng: np.random.Generator) -> Talker:
    """Return the device's loudspeaker, at the height of the microphone, in any direction from it."""
    distance_m, angle = rng.uniform(*LOUDSPEAKER_M), rng.uniform(0.0, 2.0 * np.pi)
    x, y, z = room.microphone_m
    return Talker(
        position_m=(float(x + distance_m * np.cos(angle)), float(y + distance_m * np.sin(angle)), z)
    )


@lru_cache(maxsize=4)
def _folder(folder: str, sample_rate_hz: int) -> Mapping[str, Signal]:
    from ..acoustics.recordings import read_folder

    return read_folder(Path(folder), sample_rate_hz=sample_rate_hz)


def with_recording(effects: Effects, ranges: EffectRanges | None, *, sample_rate_hz: int) -> Effects:
    """Return the effects with the recording that was drawn: its samples, and their hash for its name."""
    if ranges is None or effects.noise is None or effects.noise.recording is None:
        return effects
    recording = _folder(ranges.noise_folder, sample_rate_hz)[effects.noise.recording]
    noise = replace(effects.noise, recording=samples_sha256(recording))
    origin = NoiseOrigin(
        folder=Path(ranges.noise_folder).name, licence=ranges.noise_licence, source=ranges.noise_source
    )
    return replace(effects, noise=noise, recording=recording, noise_origin=origin)


def surroundings(
    effects: Effects,
    *,
    n_samples: int,
    system: Signal | None,
    system_spans: Sequence[Span],
    room: RoomParams | None,
    reference_level_dbov: float,
    sample_rate_hz: int,
) -> list[Signal]:
    """Return what is added to the user's side, each of shape (n_samples,): noise, and the system's echo.

    Parameters
    ----------
    system
        The system's stem, shape (n_samples,); without one nothing leaks.
    system_spans
        Where it speaks.
    reference_level_dbov
        Span level of the user's on-axis speech.
    """
    added = []
    if effects.noise is not None:
        added.append(
            make_noise(
                effects.noise,
                n_samples=n_samples,
                speech_level_dbov=reference_level_dbov,
                sample_rate_hz=sample_rate_hz,
                recording=effects.recording,
            )
        )
    if effects.leakage is not None and system is not None and system_spans:
        rir = None
        if room is not None and effects.loudspeaker is not None:
            rir = room_rir(room, talker=effects.loudspeaker, sample_rate_hz=sample_rate_hz)
        added.append(
            leak(
                system,
                effects.leakage,
                spans=system_spans,
                rir=rir,
                reference_level_dbov=reference_level_dbov,
                sample_rate_hz=sample_rate_hz,
            )
        )
    return added


def through_device(samples: Signal, effects: Effects, *, sample_rate_hz: int) -> Heard:
    """Return a signal, shape (n,), after the microphone and the codec.

    What a decoder gives beyond full scale is limited there, as a decoder with 16-bit output does; how much
    is said.
    """
    clipped = limited = 0.0
    if effects.microphone is not None:
        picked = pick_up(samples, effects.microphone)
        samples, clipped = picked.samples, picked.clipped_share
    if effects.codec is not None:
        decoded = through_codec(samples, effects.codec, sample_rate_hz=sample_rate_hz)
        ended = pick_up(decoded, MicrophoneParams(clip_dbfs=0.0))
        samples, limited = ended.samples, ended.clipped_share
    return Heard(samples=samples, clipped_share=clipped, decoder_limited_share=limited)


def effects_to_json(effects: Effects) -> dict[str, Any]:
    """Return the numbers of the effects there are, where noise is from, and the version of the codecs' library."""
    parts = {name: getattr(effects, name) for name in _KINDS}
    data: dict[str, Any] = {name: to_json(part) for name, part in parts.items() if part is not None}
    if effects.noise_origin is not None:
        data["noise"]["origin"] = asdict(effects.noise_origin)
    if effects.codec is not None:
        import soundfile

        data["codec"]["libsndfile"] = soundfile.__libsndfile_version__
    return data


_NO_NUMBERS = ("libsndfile", "origin")
_KINDS: dict[str, type[Any]] = {
    "noise": NoiseParams,
    "leakage": LeakageParams,
    "loudspeaker": Talker,
    "microphone": MicrophoneParams,
    "codec": CodecParams,
}


def effects_from_json(data: Mapping[str, Any], recordings: Mapping[str, Signal]) -> Effects:
    """Return the effects that `effects_to_json` wrote.

    Parameters
    ----------
    recordings
        Recordings of noise by the SHA-256 of their samples; only those a row names are needed.

    Raises
    ------
    AudioError
        An unknown number, or a recording that is not among them.
    """
    parts: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        if name in data:
            numbers = {key: value for key, value in data[name].items() if key not in _NO_NUMBERS}
            parts[name] = from_json(kind, numbers)
    noise = parts.get("noise")
    if noise is not None and noise.recording is not None:
        if noise.recording not in recordings:
            raise AudioError(
                f"the noise is a recording with the hash {noise.recording}, which is not given; "
                "give its samples by that hash"
            )
        parts["recording"] = recordings[noise.recording]
    return Effects(**parts)
