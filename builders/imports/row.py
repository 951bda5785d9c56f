"""A row of the schema made from what a folder says: turns, events and tracks; the rest is null."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import AudioError, __version__
from ...acoustics.level import to_pcm16
from ...acoustics.sound_file import read_sound as read_channels
from ...scenarios.conversation import Event, Role
from ...scenarios.event_table import expected, scoring_window
from ..flac import to_flac
from ..schema import AUDIO_COLUMNS, COLUMNS

Pcm = NDArray[np.int16]

_TICKS_HZ = 1_000_000
"""Events of a folder are kept to the microsecond, whatever the rate of its sound."""

_EVENT_FIELDS: tuple[str, ...] = tuple(
    next(column for column in COLUMNS if column.name == "events").type[0]  # type: ignore[index]
)


def read_sound(path: Path, *, n_channels: int) -> tuple[list[Pcm], int]:
    """Return the channels of a sound file, each of shape (n,), and its rate.

    Raises
    ------
    AudioError
        As `sound_file.read_sound`; and for another number of channels, or samples beyond full scale.
    """
    channels, rate_hz = read_channels(path)
    if channels.shape[0] != n_channels:
        raise AudioError(
            f"{path}: {channels.shape[0]} channels of {channels.shape[1]} samples; wanted {n_channels}"
        )
    try:
        return [to_pcm16(channel) for channel in channels], rate_hz
    except AudioError as error:
        raise AudioError(f"{path}: {error}") from None


def word(text: str, onset_s: float, offset_s: float) -> dict[str, Any]:
    """Return a word of a turn."""
    return {"text": text, "onset_s": onset_s, "offset_s": offset_s}


def estimated_words(text: str, onset_s: float, offset_s: float) -> list[dict[str, Any]]:
    """Return the words of a text over a span, in proportion to their letters; without spaces: one word."""
    pieces = [piece for piece in text.split() if any(map(str.isalnum, piece))]
    total = sum(len(piece) for piece in pieces)
    words, done = [], 0
    for piece in pieces:
        start_s = onset_s + (offset_s - onset_s) * done / total
        done += len(piece)
        words.append(word(piece.strip(".,?!;:"), start_s, onset_s + (offset_s - onset_s) * done / total))
    return words


def turn(
    role: str, text: str, onset_s: float, offset_s: float, words: Sequence[Mapping[str, Any]], source: str
) -> dict[str, Any]:
    """Return a turn."""
    return {
        "role": role,
        "speaker": role,
        "text": text,
        "reading": None,
        "intent": None,
        "onset_s": onset_s,
        "offset_s": offset_s,
        "reference_answer": None,
        "depends_on": [],
        "spoken_text": text,
        "words": list(words),
        "word_time_source": source,
    }


def event(kind: str, role: str, onset_s: float, offset_s: float, turn_at: int, **more: Any) -> dict[str, Any]:
    """Return an event with what a good model does at it; fields not in `more` are null."""
    noun = Event(
        kind=kind,
        role=Role(role),
        onset=round(onset_s * _TICKS_HZ),
        offset=round(offset_s * _TICKS_HZ),
        turn=turn_at,
    )
    if_speaking, if_silent = expected(noun)
    score_from, score_to = scoring_window(noun, _TICKS_HZ)
    return {
        **dict.fromkeys(_EVENT_FIELDS),
        "kind": kind,
        "role": role,
        "onset_s": onset_s,
        "offset_s": offset_s,
        "turn": turn_at,
        "expected_if_speaking": if_speaking,
        "expected_if_silent": if_silent,
        "score_from_s": score_from / _TICKS_HZ,
        "score_to_s": score_to / _TICKS_HZ,
        **more,
    }


def sound_record(starts: Sequence[int]) -> str:
    """Return the record of a sound of which only the places of its stems (sample indices) are known."""
    return json.dumps(
        {
            "preset": "unknown",
            "params": None,
            "noise_floor_dbov": None,
            "noise_seed": None,
            "clips": [{"start": start} for start in starts],
            "effects": {},
        }
    )


def row(
    *,
    scenario: str,
    language: str,
    split: str,
    source: str,
    name: str,
    tracks: Mapping[str, Pcm],
    rate_hz: int,
    turns: list[dict[str, Any]],
    events: list[dict[str, Any]],
    **more: Any,
) -> dict[str, Any]:
    """Return a row; the digest of all that is imported is not yet in its provenance.

    Parameters
    ----------
    source
        The form of the folder, such as ``fdb-v1_5``.
    name
        Which sample of the folder: unique in its scenario and language.
    tracks
        ``input`` and, where there are such, ``clean_input`` and ``system``; each of shape (n,).
    more
        Further columns.
    """
    row_id = f"{scenario}/{language}/{source}-{name}/0"
    duration_s = tracks["input"].size / rate_hz

    def audio(track: str) -> dict[str, Any] | None:
        if track not in tracks:
            return None
        return {"bytes": to_flac(tracks[track], rate_hz), "path": f"{row_id.replace('/', '-')}-{track}.flac"}

    empty: dict[str, Any] = {column.name: None for column in COLUMNS}
    return {
        **empty,
        "id": row_id,
        "scenario": scenario,
        "language": language,
        "split": split,
        "preset": source,
        "fdb_relation": "published" if source.startswith("fdb") else "own",
        **{track: audio(track) for track in AUDIO_COLUMNS},
        "duration_s": duration_s,
        "sample_rate_hz": rate_hz,
        "turns": turns,
        "events": [{**e, "score_to_s": min(e["score_to_s"], duration_s)} for e in events],
        "script": {
            "id": f"{source}-{name}",
            "source": source,
            "licence": "unknown",
            "domain": "unknown",
            "register": "unknown",
            "addressee": None,
            "pause_kind": None,
            "tags": [],
        },
        "provenance": {
            "engine": f"imported from {source}",
            "engine_version": "unknown",
            "engine_licence": "unknown",
            "voices": [],
            "turns": [],
            "room": sound_record([]),
            "timing_profile": None,
            "recipe_digest": "",
            "code_version": __version__,
            "llm": None,
            "prompt_hash": None,
            "attempt": 0,
        },
        **more,
    }
