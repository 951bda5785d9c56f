"""One sample as a timeline: a waveform for each role, the spans of events, the words."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from .plot_style import KINDS, ROLES, can_draw, font_for, new_figure, save

SHOWN_S = 30.0
"""Longer samples are shown up to here, so that words stay readable."""

WORD_LINES = 4


def plot_timeline(row: dict[str, Any], path: Path) -> None:
    """Write the timeline of a row (of the dataset's schema) as PNG."""
    tracks = [name for name in ("input", "system") if row[name] is not None]
    shown_s = min(row["duration_s"], SHOWN_S)
    figure, axes = new_figure(len(tracks), 1, height_in=1.2 + 2.5 * len(tracks), sharex=True)
    seen: dict[str, Any] = {}
    for axis, track in zip(axes[:, 0], tracks, strict=True):
        _waveform(axis, row, track, shown_s)
        for event in row["events"]:
            if (event["role"] == "system") != (track == "system") and len(tracks) == 2:
                continue
            if event["onset_s"] > shown_s:
                continue
            colour = KINDS.get(event["kind"], "#888888")
            stop_s = max(event["offset_s"], event["onset_s"] + shown_s / 300)
            span = axis.axvspan(event["onset_s"], stop_s, color=colour, alpha=0.35, linewidth=0)
            seen.setdefault(event["kind"], span)
        _words(axis, row, track, shown_s)
        axis.set_ylabel("user" if track == "input" else "system", fontsize=13)
        axis.set_yticks([])
    axes[-1, 0].set_xlabel("time (s)", fontsize=12)
    axes[-1, 0].set_xlim(0, shown_s)
    more = "" if shown_s == row["duration_s"] else f", first {shown_s:.0f} of {row['duration_s']:.0f} s"
    figure.suptitle(f"{row['id']}{more}", fontsize=13)
    if seen:
        figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=len(seen), frameon=False)
    save(figure, path)


def _waveform(axis: Any, row: dict[str, Any], track: str, shown_s: float) -> None:
    import soundfile

    samples, rate = soundfile.read(io.BytesIO(row[track]["bytes"]), dtype="float32")
    samples = samples[: int(shown_s * rate)]
    edges = np.linspace(0, samples.size, 1401).astype(int)[:-1]
    high, low = np.maximum.reduceat(samples, edges), np.minimum.reduceat(samples, edges)
    role = "user" if track == "input" else "system"
    axis.fill_between(edges / rate, low, high, color=ROLES[role], linewidth=0.3)
    limit = 1.7 * max(float(np.abs(samples).max(initial=0.0)), 0.01)
    axis.set_ylim(-0.7 * limit, limit)


def _words(axis: Any, row: dict[str, Any], track: str, shown_s: float) -> None:
    """Write words above the waveform in a few lines, leaving out those that would lie on their neighbour."""
    free_from_s = [0.0] * WORD_LINES
    top = axis.get_ylim()[1]
    for turn in row["turns"]:
        if (turn["role"] == "system") != (track == "system"):
            continue
        for word in turn["words"]:
            n_letters = 1 + sum(1 if c.isascii() else 1.7 for c in word["text"])
            stop_s = word["onset_s"] + 0.0095 * shown_s * n_letters
            line = next((i for i, free_s in enumerate(free_from_s) if word["onset_s"] >= free_s), None)
            if line is None or stop_s > shown_s or not can_draw(word["text"]):
                continue
            axis.text(
                word["onset_s"],
                (0.97 - 0.09 * line) * top,
                word["text"],
                fontsize=9,
                va="top",
                color=ROLES[turn["role"]],
                **font_for(word["text"]),
            )
            free_from_s[line] = stop_s
