"""Praat's rules on TextGrids: tiers without holes or overlaps, as long as their sound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from ... import ReleaseError
from .format import Finding
from .reading import Report

_NUMBER = r"([-+]?[\d.]+(?:e[-+]?\d+)?)"
_TIER = re.compile(
    rf'class = "(IntervalTier|TextTier)"\s+name = "((?:[^"]|"")*)"\s+xmin = {_NUMBER}\s+xmax = {_NUMBER}'
)
_INTERVAL = re.compile(rf'intervals \[\d+\]:\s+xmin = {_NUMBER}\s+xmax = {_NUMBER}\s+text = "(?:[^"]|"")*"')
_POINT = re.compile(rf'points \[\d+\]:\s+(?:number|time) = {_NUMBER}\s+mark = "(?:[^"]|"")*"')
_TIERS = re.compile(r"tiers\? <exists>\s+size = (\d+)")
_SIZE = re.compile(r"(?:intervals|points): size = (\d+)")


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the TextGrids below a folder.

    Raises
    ------
    ReleaseError
        If there are none.
    """
    files = sorted(folder.rglob("*.TextGrid"))
    if not files:
        raise ReleaseError(f"{folder}: no TextGrid below it")
    report = Report(folder)
    for path in files:
        sound = report.sound(path.with_suffix(".wav"))
        text = report.text(path) or ""
        tiers = list(_TIER.finditer(text))
        stated = _TIERS.search(text)
        if not tiers:
            report.find(path, "no-tiers", repr(text[:40]), "a TextGrid in long form")
        elif stated is None or int(stated[1]) != len(tiers):
            report.find(
                path, "wrong-size", f"{len(tiers)} tiers", f"{stated[1] if stated else 'their number'}"
            )
        ends = [*(tier.start() for tier in tiers[1:]), len(text)]
        for tier, end in zip(tiers, ends, strict=False):  # without a tier there is no body
            body = text[tier.end() : end]
            _tier(path, tier, body, sound.length_s if sound else None, report)
        yield from report.taken()


def _tier(path: Path, tier: re.Match[str], body: str, end_s: float | None, report: Report) -> None:
    name, xmax_s = tier[2], float(tier[4])
    if end_s is not None and abs(xmax_s - end_s) > 0.01:
        report.find(path, "wrong-duration", f"tier {name}: {xmax_s}", f"{end_s:.3f} s, as the sound")
    size = _SIZE.search(body)
    spans = [(float(m[1]), float(m[2])) for m in _INTERVAL.finditer(body)]
    points = [float(m[1]) for m in _POINT.finditer(body)]
    n_listed = len(spans) if tier[1] == "IntervalTier" else len(points)
    if size is None or int(size[1]) != n_listed:
        report.find(
            path, "wrong-size", f"tier {name}: {n_listed} listed", f"{size[1] if size else 'its size'}"
        )
    reached_s = float(tier[3])
    for start_s, stop_s in spans:
        if start_s != reached_s or stop_s <= start_s or stop_s > xmax_s + 1e-9:
            report.find(
                path,
                "unordered-times",
                f"tier {name}: {start_s}-{stop_s}",
                f"an interval from {reached_s} on",
            )
            return
        reached_s = stop_s
    if any(b < a for a, b in pairwise(points)) or any(p > xmax_s for p in points):
        report.find(path, "unordered-times", f"tier {name}", f"points by time, up to {xmax_s}")
