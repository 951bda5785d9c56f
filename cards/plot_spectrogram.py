"""What a treatment does: spectrograms of one event before and after it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .plot_style import new_figure, save

WINDOW, HOP = 1024, 256
RANGE_DB = 80.0


def plot_treatments(rows: list[dict[str, Any]], path: Path) -> bool:
    """Write, for each row with an untreated input, the event's spectrogram before and after.

    Both share one scale, so that the change of level is seen too. False where no row has one.
    """
    rows = [row for row in rows if row["untreated_input"] is not None and row["treatment"] is not None]
    if not rows:
        return False
    figure, axes = new_figure(len(rows), 2, height_in=0.6 + 2.8 * len(rows))
    for pair, row in zip(axes, rows, strict=True):
        pictures = [_spectrogram_db(row, track) for track in ("untreated_input", "input")]
        top = max(float(picture.max()) for picture in pictures)
        for axis, picture, title in zip(pair, pictures, ("before", row["treatment"]["preset"]), strict=True):
            axis.imshow(
                picture,
                origin="lower",
                aspect="auto",
                cmap="cividis",
                vmin=top - RANGE_DB,
                vmax=top,
                extent=(0, picture.shape[1] * HOP / row["sample_rate_hz"], 0, row["sample_rate_hz"] / 2000),
            )
            axis.set_title(f"{row['scenario']}: {title}", fontsize=12)
            axis.set_xlabel("s", fontsize=11)
            axis.set_ylabel("kHz", fontsize=11)
    save(figure, path)
    return True


def _spectrogram_db(row: dict[str, Any], track: str) -> NDArray[np.float64]:
    """Return levels in dB of shape (frequencies, frames), from the treated event's onset to its end."""
    import soundfile

    samples, rate = soundfile.read(io.BytesIO(row[track]["bytes"]), dtype="float64")
    event = next(
        (event for event in row["events"] if event["audible_end_s"] is not None),
        row["events"][-1],
    )
    stop_s = event["audible_end_s"] or event["offset_s"]
    piece = samples[int(event["onset_s"] * rate) : int(stop_s * rate)]
    piece = np.pad(piece, (0, max(0, WINDOW - piece.size)))
    frames = np.lib.stride_tricks.sliding_window_view(piece, WINDOW)[::HOP]
    spectrum = np.abs(np.fft.rfft(frames * np.hanning(WINDOW), axis=1)).T
    return 20 * np.log10(np.maximum(spectrum, 1e-7))
