"""What a folder holds as distributions: floor transfer offsets against their law, lengths, levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..scenarios.timing_report import MeasuredGap
from .plot_style import new_figure, save
from .summarize import Summary

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def plot_fto(summary: Summary, path: Path) -> bool:
    """Write histograms of the gaps with the law's CDF beside the measured one; False where none was drawn."""
    groups: dict[tuple[str, str], list[MeasuredGap]] = {}
    for gap in summary.gaps:
        groups.setdefault((gap.drawn.table, gap.drawn.profile), []).append(gap)
    if not groups:
        return False
    figure, axes = new_figure(len(groups), 2, height_in=0.6 + 2.6 * len(groups))
    for row, ((table, profile), gaps) in zip(axes, groups.items(), strict=True):
        values = np.sort([gap.gap_s for gap in gaps])
        law = np.array(gaps[0].drawn.law.values)
        low, high = min(values[0], law[0]), max(values[-1], law[-1])
        row[0].hist(values, bins=np.linspace(low, high, 25), color=_COLOURS[0], label="measured")
        row[0].axvline(0, color="#888888", linewidth=1)
        row[0].set_title(f"{table}, n = {values.size}", fontsize=12)
        row[1].step(values, np.arange(1, values.size + 1) / values.size, color=_COLOURS[0], label="measured")
        row[1].plot(law, np.linspace(0, 1, law.size), "--", color=_COLOURS[1], label=profile)
        row[1].set_title("cumulative share", fontsize=12)
        row[1].legend(frameon=False, fontsize=10)
        for axis in row:
            unit = "s of overlap" if table == "barge_in_overlap" else "s (negative = overlap)"
            axis.set_xlabel(unit, fontsize=11)
            axis.set_xlim(low, high)
    save(figure, path)
    return True


def plot_durations(summary: Summary, path: Path) -> None:
    """Write the lengths of the rows of each scenario."""
    _boxes(summary.durations_s, "length (s)", path, hours=sum(map(sum, summary.durations_s.values())) / 3600)


def _boxes(values: dict[str, list[float]], label: str, path: Path, *, hours: float) -> None:
    figure, axes = new_figure(height_in=1.2 + 0.5 * len(values))
    axis = axes[0, 0]
    names = list(values)[::-1]
    for i, name in enumerate(names):
        points = np.asarray(values[name])
        axis.hlines(i, points.min(), points.max(), color="#bbbbbb", linewidth=3)
        axis.plot(points, np.full(points.size, i), "o", color=_COLOURS[0], alpha=0.5, markersize=5)
        axis.plot([np.median(points)], [i], "|", color=_COLOURS[1], markersize=22, markeredgewidth=3)
    axis.set_yticks(range(len(names)), names)
    axis.set_xlim(left=0)
    axis.set_xlabel(f"{label}; bar: median; {hours:.2f} hours together", fontsize=12)
    save(figure, path)


def plot_levels(summary: Summary, path: Path) -> bool:
    """Write measured levels of treated events against their targets; False where no event has a target."""
    if not summary.treatments:
        return False
    figure, axes = new_figure(height_in=4.5)
    axis = axes[0, 0]
    for i, (preset, levels) in enumerate(summary.treatments.items()):
        pairs: Any = np.array(levels)
        error = float(np.abs(pairs[:, 1] - pairs[:, 0]).max())
        axis.plot(
            pairs[:, 0],
            pairs[:, 1],
            "os^D"[i % 4],
            color=_COLOURS[i % 4],
            markersize=9,
            alpha=0.6,
            label=f"{preset}, n = {len(pairs)}, largest error {error:.3f} dB",
        )
    low, high = (np.array([axis.get_xlim(), axis.get_ylim()]).min(), 0.0)
    axis.plot([low, high], [low, high], color="#888888", linewidth=1, zorder=0)
    axis.set_xlabel("target (dB re the user's on-axis speech)", fontsize=12)
    axis.set_ylabel("measured (dB)", fontsize=12)
    axis.legend(frameon=False, fontsize=11)
    save(figure, path)
    return True
