"""A row's sound again, from the row's numbers and its stems alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .flac import to_flac
from .sound_record import acoustics_of, clips_of, event_turn
from .tracks import Tracks, make_tracks

Signal = NDArray[np.float32]

NO_RECORDINGS: Mapping[str, Signal] = {}


def rebuild_tracks(
    row: Mapping[str, Any],
    stem: Callable[[str], Signal],
    *,
    recordings: Mapping[str, Signal] = NO_RECORDINGS,
) -> Tracks:
    """Return the tracks of a row made again.

    No audio of the row is read. Bytes are those of the row where the pinned versions are the same; a codec's
    belong to its version of libsndfile, which the row names.

    Parameters
    ----------
    row
        A row of the schema.
    stem
        Gives a stem's samples, shape (n,), by its SHA-256 (`stems.read_stem` of a build folder).
    recordings
        Recorded noise, shape (m,) at the row's rate, by the SHA-256 of its samples; needed where a row has it.

    Raises
    ------
    AudioError
        A recording of noise that is not given.
    """
    rate = row["sample_rate_hz"]
    return make_tracks(
        clips_of(row, stem),
        acoustics_of(row, recordings),
        event=event_turn(row),
        n_samples=round(row["duration_s"] * rate),
        sample_rate_hz=rate,
    )


def rebuild_input(
    row: Mapping[str, Any],
    stem: Callable[[str], Signal],
    *,
    recordings: Mapping[str, Signal] = NO_RECORDINGS,
) -> bytes:
    """Return the FLAC bytes of a row's `input`, made again as `rebuild_tracks` says."""
    tracks = rebuild_tracks(row, stem, recordings=recordings)
    return to_flac(tracks.input, row["sample_rate_hz"])
