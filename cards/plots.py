"""A built folder to plots/: a timeline per scenario, distributions, and what each treatment does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..builders.write import read_rows
from .folder_beside import folder_beside
from .plot_spectrogram import plot_treatments
from .plot_statistics import plot_durations, plot_fto, plot_levels
from .plot_timeline import plot_timeline
from .summarize import Summary, summarize

FOLDER = "plots"


def write_plots(folder: Path) -> tuple[str, ...]:
    """Write ``plots/`` of a built folder anew; return the names of the PNG files.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset, or something else than a folder is called ``plots``.
    """
    summary = summarize(folder)
    rows = _first_rows(folder, summary)
    with folder_beside(folder, FOLDER) as beside:
        for scenario, row in rows.items():
            if (
                row["input"] is not None or row["system"] is not None
            ):  # annotations alone have no sound to draw
                plot_timeline(row, beside / f"timeline_{scenario}.png")
        plot_fto(summary, beside / "fto.png")
        plot_durations(summary, beside / "durations.png")
        plot_levels(summary, beside / "levels.png")
        plot_treatments(list(rows.values()), beside / "treatments.png")
    return tuple(sorted(path.name for path in (folder / FOLDER).glob("*.png")))


def _first_rows(folder: Path, summary: Summary) -> dict[str, dict[str, Any]]:
    """Return the first row of each scenario."""
    rows: dict[str, dict[str, Any]] = {}
    for name, facts in summary.manifest["files"].items():
        scenario = facts["config"].split("-")[0]
        if scenario not in rows and facts["rows"]:
            rows[scenario] = next(iter(read_rows(folder / name)))
    return rows
