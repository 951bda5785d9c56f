"""Placed clips and acoustic numbers to tracks: what the user's microphone hears, with and without the event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..acoustics.level import (
    NORMAL_LEVEL_DBOV,
    Span,
    from_pcm16,
    scale_to_level,
    span_level_dbov,
    to_pcm16,
)
from ..acoustics.mix import Canvas, add_at
from ..acoustics.treatments import Treated, TreatmentParams, treat
from ..scenarios.conversation import Role
from .effects import Effects, Heard, surroundings, through_device

if TYPE_CHECKING:
    from ..acoustics.room import RoomParams

Signal = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acoustics:
    """Every acoustic number of one sample."""

    treatment: TreatmentParams | None
    room: RoomParams | None
    noise_floor_dbov: float | None
    noise_seed: int
    effects: Effects = field(default_factory=Effects)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedClip:
    """One turn's sound and its place.

    `samples`, shape (n,), are dry and at normal level; the system's are as they sound, stopped where they
    stop. `start` is on the sample's clock; `onset`, `offset` and `spans` (the speech without its pauses) are
    on the clip's own.
    """

    role: Role
    samples: Signal
    start: int
    onset: int
    offset: int
    spans: tuple[Span, ...]
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSides:
    """The user's side before noise and effects, shape (n_samples,): without the event, with it, with it dry.

    `audible_stop` is where the event's sound ends, `treated` what its treatment made of it.
    """

    quiet: Signal
    with_event: Signal | None = None
    untreated: Signal | None = None
    reference_level_dbov: float | None = None
    audible_stop: int | None = None
    treated: Treated | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracks:
    """The tracks of a row, int16, shape (n_samples,), the sides they were made from, and what was limited."""

    input: NDArray[np.int16]
    clean_input: NDArray[np.int16] | None
    untreated_input: NDArray[np.int16] | None
    system: NDArray[np.int16] | None
    sides: UserSides
    clipped_share: float
    decoder_limited_share: float


def make_tracks(
    clips: tuple[PlacedClip, ...],
    acoustics: Acoustics,
    *,
    event: int | None,
    n_samples: int,
    sample_rate_hz: int,
) -> Tracks:
    """Return the tracks. Pure: the same arguments give the same bytes.

    All user tracks share room, noise, leakage, microphone and codec; they differ only in the event.

    Parameters
    ----------
    clips
        One per turn.
    event
        The turn that is absent from `clean_input`; None where there is no such turn.
    """
    sides = user_sides(clips, acoustics, event=event, n_samples=n_samples, sample_rate_hz=sample_rate_hz)
    system = _system(clips, n_samples)
    added = _added(clips, acoustics, sides, system, n_samples, sample_rate_hz)

    def heard(side: Signal) -> Heard:
        for sound in added:
            side = side + sound
        return through_device(side, acoustics.effects, sample_rate_hz=sample_rate_hz)

    whole = heard(sides.quiet if sides.with_event is None else sides.with_event)
    return Tracks(
        input=to_pcm16(whole.samples),
        clean_input=None if sides.with_event is None else to_pcm16(heard(sides.quiet).samples),
        untreated_input=None if sides.untreated is None else to_pcm16(heard(sides.untreated).samples),
        system=system,
        sides=sides,
        clipped_share=whole.clipped_share,
        decoder_limited_share=whole.decoder_limited_share,
    )


def user_sides(
    clips: tuple[PlacedClip, ...],
    acoustics: Acoustics,
    *,
    event: int | None,
    n_samples: int,
    sample_rate_hz: int,
) -> UserSides:
    """Return the user's side as it comes to the microphone, before noise and effects."""
    canvas = Canvas(n_samples)
    for i, clip in enumerate(clips):
        if clip.role is not Role.SYSTEM and i != event:
            _put(canvas, _on_axis(clip, acoustics.room, sample_rate_hz), clip.start)
    quiet = canvas.samples
    reference_level_dbov = None
    if event is not None or acoustics.effects.any:
        reference_level_dbov = span_level_dbov(quiet, on_axis_spans(clips, event=event))
    if event is None or reference_level_dbov is None:
        return UserSides(quiet=quiet, reference_level_dbov=reference_level_dbov)
    happening = clips[event]
    on_axis = _on_axis(happening, acoustics.room, sample_rate_hz)
    treated = untreated = None
    sound = on_axis
    if acoustics.treatment is not None:
        in_own_place = acoustics.treatment.room is not None  # the treatment brings its way through the room
        treated = treat(
            happening.samples if in_own_place else on_axis,
            acoustics.treatment,
            span=(happening.onset, happening.offset),
            reference_level_dbov=reference_level_dbov,
            sample_rate_hz=sample_rate_hz,
        )
        sound, untreated = treated.samples, _sum(quiet, on_axis, happening.start)
    return UserSides(
        quiet=quiet,
        with_event=_sum(quiet, sound, happening.start),
        untreated=untreated,
        reference_level_dbov=reference_level_dbov,
        audible_stop=min(happening.start + sound.size, n_samples),
        treated=treated,
    )


def on_axis_spans(clips: tuple[PlacedClip, ...], *, event: int | None) -> list[Span]:
    """Return the spans of the user's speech that is not the event, on the sample's clock."""
    return [
        (clip.start + a, clip.start + b)
        for i, clip in enumerate(clips)
        if clip.role is Role.USER and i != event
        for a, b in clip.spans
    ]


def _on_axis(clip: PlacedClip, room: RoomParams | None, sample_rate_hz: int) -> Signal:
    """Return a clip as the microphone hears it on axis: dry, or in the sample's room at the same level."""
    if room is None:
        return clip.samples
    from ..acoustics.room import room_rir, through_room

    wet = through_room(clip.samples, room_rir(room, sample_rate_hz=sample_rate_hz))
    return scale_to_level(wet, spans=clip.spans, level_dbov=NORMAL_LEVEL_DBOV)


def _sum(quiet: Signal, clip: Signal, start: int) -> Signal:
    canvas = Canvas(quiet.size)
    _put(canvas, quiet, 0)
    _put(canvas, clip, start)
    return canvas.samples


def _put(canvas: Canvas, clip: Signal, start: int) -> None:
    """Add a clip; what would lie outside the sample is left out."""
    head = max(0, -start)
    tail = min(clip.size, canvas.n_samples - start)
    if tail > head:
        add_at(canvas, clip[head:tail], start=start + head)


def _system(clips: tuple[PlacedClip, ...], n_samples: int) -> NDArray[np.int16] | None:
    """Return the system's own track: dry, and silent from the sample where a cut-off stopped it."""
    if not any(clip.role is Role.SYSTEM for clip in clips):
        return None
    canvas = Canvas(n_samples)
    for clip in clips:
        if clip.role is Role.SYSTEM:
            _put(canvas, clip.samples, clip.start)
    return to_pcm16(canvas.samples)


def _added(
    clips: tuple[PlacedClip, ...],
    acoustics: Acoustics,
    sides: UserSides,
    system: NDArray[np.int16] | None,
    n_samples: int,
    sample_rate_hz: int,
) -> list[Signal]:
    """Return the one realisation of what all user tracks share: noise floor, noise, leakage."""
    added: list[Signal] = []
    if acoustics.noise_floor_dbov is not None:
        from ..acoustics.noise import noise_floor

        added.append(
            noise_floor(
                n_samples,
                np.random.default_rng(acoustics.noise_seed),
                level_dbov=acoustics.noise_floor_dbov,
                sample_rate_hz=sample_rate_hz,
            )
        )
    if acoustics.effects.any and sides.reference_level_dbov is not None:
        added += surroundings(
            acoustics.effects,
            n_samples=n_samples,
            system=None if system is None else from_pcm16(system),
            system_spans=[
                (clip.start + clip.onset, min(clip.start + clip.offset, n_samples))
                for clip in clips
                if clip.role is Role.SYSTEM
            ],
            room=acoustics.room,
            reference_level_dbov=sides.reference_level_dbov,
            sample_rate_hz=sample_rate_hz,
        )
    return added
