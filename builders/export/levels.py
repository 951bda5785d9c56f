"""A row's tracks at another rate, with the user's, the event's and the system's speech at the level they had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...acoustics.level import Span, to_pcm16
from ...acoustics.resample import resample, resample_to_level, resampled_length
from ..flac import from_flac
from ..place import to_samples
from ..schema import AUDIO_COLUMNS
from ..sound_record import read_record

Signal = NDArray[np.float32]
Pcm = NDArray[np.int16]


def tracks_at(row: Mapping[str, Any], rate_hz: int) -> dict[str, Pcm]:
    """Return the row's tracks, each of shape (n,), at `rate_hz`; those that are null are left out.

    Resampling takes away what lies above the new Nyquist frequency, from a dull voice less than from a
    bright one, so the event's level against the user's would move. Therefore the side without the event is
    resampled first and brought back to its level, then the event alone (`input` less `clean_input`), and
    `input` is their sum: outside the event it equals `clean_input` to the sample. At the row's own rate
    every track is what the row holds.

    Under noise or a codec the user's speech has no level of its own in the mix, so there the user's side is
    resampled and left as it is (speech loses up to 0.17 dB by that). Where a track would pass full scale at
    the new rate (a microphone that clips on purpose), all tracks of the row are lowered by the same gain.
    """
    own_hz: int = row["sample_rate_hz"]
    there = {name: from_flac(row[name]) for name in AUDIO_COLUMNS}
    given = {name: samples for name, samples in there.items() if samples is not None}
    if rate_hz == own_hz:
        return {name: to_pcm16(samples) for name, samples in given.items()}
    tracks: dict[str, Signal] = {}
    if "system" in given:
        tracks["system"] = _moved(given["system"], _speech(row, ("system",)), own_hz, rate_hz)
    without = given.get("clean_input", given["input"])
    base = _moved(without, [] if _has_effects(row) else on_axis_spans(row), own_hz, rate_hz)
    if "clean_input" in given:
        tracks["clean_input"] = base
        for name in ("input", "untreated_input"):
            if name in given:
                event = _event_alone(row, given[name] - without, own_hz, rate_hz)
                tracks[name] = base + event
    else:
        tracks["input"] = base
    peak = max(float(np.max(np.abs(samples))) for samples in tracks.values())
    gain = np.float32(min(1.0, 1.0 / peak)) if peak > 0.0 else np.float32(1.0)
    return {name: to_pcm16(samples * gain) for name, samples in tracks.items()}


def _has_effects(row: Mapping[str, Any]) -> bool:
    return bool(read_record(row).get("effects"))


def _event_alone(row: Mapping[str, Any], alone: Signal, own_hz: int, rate_hz: int) -> Signal:
    """Return the event's sound at the new rate, zero where it was zero."""
    sounds = np.flatnonzero(alone)
    if sounds.size == 0:
        return np.zeros(resampled_length(alone.size, from_rate_hz=own_hz, to_rate_hz=rate_hz), np.float32)
    spans = [  # none where the row names no event
        (to_samples(event["onset_s"], own_hz), min(to_samples(event["offset_s"], own_hz), alone.size))
        for event in row["events"][-1:]
    ]
    moved = _moved(alone, spans, own_hz, rate_hz)
    start, stop = (int(edge) * rate_hz // own_hz for edge in (sounds[0], sounds[-1] + 1))
    moved[:start] = 0.0
    moved[stop + 1 :] = 0.0
    return moved


def _moved(samples: Signal, spans: list[Span], own_hz: int, rate_hz: int) -> Signal:
    if not any(np.any(samples[start:stop]) for start, stop in spans):
        return resample(samples, from_rate_hz=own_hz, to_rate_hz=rate_hz)
    return resample_to_level(samples, spans=spans, from_rate_hz=own_hz, to_rate_hz=rate_hz)


def on_axis_spans(row: Mapping[str, Any]) -> list[Span]:
    """Return the spans, in samples of the row's rate, of the user's speech that is not the event."""
    event_turn = row["events"][-1]["turn"] if row["clean_input"] is not None and row["events"] else None
    return _speech(row, ("user", "other"), event_turn)


def _speech(row: Mapping[str, Any], roles: tuple[str, ...], without: int | None = None) -> list[Span]:
    rate_hz: int = row["sample_rate_hz"]
    n_samples = to_samples(row["duration_s"], rate_hz)
    spans: list[Span] = []
    for i, turn in enumerate(row["turns"]):
        if turn["role"] not in roles or i == without:
            continue
        pauses = sorted(
            (event["onset_s"], event["offset_s"])
            for event in row["events"]
            if event["kind"] in ("pause", "hold") and event["turn"] == i
        )
        edges = [turn["onset_s"], *(edge for pause in pauses for edge in pause), turn["offset_s"]]
        for onset_s, offset_s in zip(edges[::2], edges[1::2], strict=True):
            start, stop = to_samples(onset_s, rate_hz), min(to_samples(offset_s, rate_hz), n_samples)
            if stop > start:
                spans.append((start, stop))
    return spans


def event_sound(tracks: Mapping[str, Pcm]) -> tuple[Pcm, Span]:
    """Return the event's sound alone, shape (n,), as it lies in `input`, and the span in which it sounds."""
    alone = tracks["input"].astype(np.int32) - tracks["clean_input"].astype(np.int32)
    sounds = np.flatnonzero(alone)
    span = (int(sounds[0]), int(sounds[-1]) + 1) if sounds.size else (alone.size, 0)
    clipped = np.clip(alone, -32768, 32767)  # a difference of two tracks, each inside full scale
    return clipped.astype(np.int16), span
