"""A row's sound as one file: the user's side, and the system's beside it where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .files import wav_unless_there
from .format import Options, Row
from .levels import tracks_at

CHANNEL_OF_ROLE = {"user": 0, "other": 0, "system": 1}
"""A voice that is neither user nor system is heard on the user's side."""


def n_channels(row: Row) -> int:
    """Return 2 where the row has a system side, else 1."""
    return 1 if row["system"] is None else 2


def rate_of(row: Row, options: Options) -> int:
    """Return the rate at which a row is written: the chosen one, or its own."""
    return options.rate_hz or int(row["sample_rate_hz"])


def put_recording(path: Path, row: Row, options: Options) -> None:
    """Write the row's sound unless it is there."""
    rate_hz = rate_of(row, options)

    def channels() -> list[NDArray[np.int16]]:
        tracks = tracks_at(row, rate_hz)
        return [tracks[name] for name in ("input", "system") if name in tracks]

    wav_unless_there(path, rate_hz, channels)
