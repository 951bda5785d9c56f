"""ICC's layout: something to listen to, and each listener's responses on a channel of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ... import AudioError, RecipeError
from ...acoustics.sound_file import read_sound
from ..activity_events import activity
from .plain import SUFFIXES

STIMULUS = "stimulus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listened:
    """What was listened to, samples of shape (n,), and per listener the spans of speech in seconds."""

    id: str
    samples: NDArray[np.float32]
    sample_rate_hz: int
    responses: tuple[tuple[tuple[float, float], ...], ...]


def read_icc(folder: Path) -> Iterator[Listened]:
    """Yield what was listened to, with the responses.

    One file ``x.wav``: channel 0 is the stimulus, every other channel a listener. Or a folder with
    ``stimulus.wav`` and one mono file per listener, all of one length.

    Raises
    ------
    RecipeError
        If there is neither.
    AudioError
        If a file is not as it should be; a listener who says nothing is right.
    """
    singles = sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES)
    folders = sorted(
        {
            path.parent
            for suffix in SUFFIXES
            for path in (*folder.glob(f"{STIMULUS}{suffix}"), *folder.glob(f"*/{STIMULUS}{suffix}"))
        }
    )
    if folder in folders:
        singles = []
    if not singles and not folders:
        raise RecipeError(
            f"{folder}: no recordings with the stimulus on channel 0 and listeners on the others, and no "
            f"folders with {STIMULUS}.wav and a file per listener"
        )
    for path in singles:
        channels, rate = read_sound(path)  # silent listeners are allowed here
        if channels.shape[0] < 2:
            raise AudioError(
                f"{path}: one channel; wanted the stimulus on channel 0 and a listener on each other one"
            )
        yield _listened(path.stem, path, channels[0], rate, list(channels[1:]))
    for place in folders:
        stimulus = next(p for p in sorted(place.glob(f"{STIMULUS}.*")) if p.suffix.lower() in SUFFIXES)
        samples, rate = _mono(stimulus)
        listeners = [p for p in sorted(place.glob("*")) if p.suffix.lower() in SUFFIXES and p != stimulus]
        if not listeners:
            raise AudioError(f"{place}: {stimulus.name} has no listeners beside it")
        signals = []
        for path in listeners:
            signal, own_rate = _mono(path)
            if own_rate != rate or abs(signal.size - samples.size) > rate:
                raise AudioError(
                    f"{path}: {own_rate} Hz, {signal.size / own_rate:.2f} s; wanted the stimulus' {rate} Hz and "
                    f"{samples.size / rate:.2f} s, so that both run on one clock"
                )
            signals.append(signal)
        yield _listened(place.name, stimulus, samples, rate, signals)


def _mono(path: Path) -> tuple[NDArray[np.float32], int]:
    channels, rate = read_sound(path)
    if channels.shape[0] != 1:
        raise AudioError(f"{path}: {channels.shape[0]} channels; wanted one")
    return channels[0], rate


def _listened(
    name: str, path: Path, samples: NDArray[np.float32], rate: int, listeners: list[NDArray[np.float32]]
) -> Listened:
    if not samples.any():
        raise AudioError(f"{path}: the stimulus is empty (all samples are zero)")
    return Listened(
        id=name,
        samples=samples,
        sample_rate_hz=rate,
        responses=tuple(
            tuple((a / rate, b / rate) for a, b in activity(signal, sample_rate_hz=rate))
            if signal.any()
            else ()
            for signal in listeners
        ),
    )
