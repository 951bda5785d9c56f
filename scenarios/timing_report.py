"""How well written dialogues follow the laws they were drawn from, measured again from their events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np

from .dialogue_timing import DrawnLaw
from .quantile_law import ks_distance, law_of, wasserstein_distance

KS_FACTOR = 1.36
"""An iid sample of n stays below 1.36 / sqrt(n) in 95 of 100 cases (asymptotic Kolmogorov law)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredGap:
    """One gap as it was written, and the law it was drawn from.

    `clipped`: it is not the drawn one, because that would have swallowed a turn.
    """

    language: str
    sampling: str
    drawn: DrawnLaw
    gap_s: float
    clipped: bool
    resolution_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """The fit of one language and table (a direction of shifts, or the overlap of barge-ins)."""

    language: str
    table: str
    profile: str
    sha256: str
    sampling: str
    n: int
    ks_d: float
    ks_limit: float
    w1_s: float
    share_negative: float
    median_s: float
    p90_s: float
    n_clipped: int


def measured_gaps(row: Mapping[str, Any]) -> tuple[MeasuredGap, ...]:
    """Return the gaps of a written row (of the dataset's schema); none where no timing profile was drawn from."""
    record = row["provenance"]["timing_profile"]
    if not record or not record.startswith("{"):
        return ()
    sampling, laws = _laws(record)
    gaps = []
    for event in row["events"]:
        table = _table_of(event)
        if table not in laws or event["fto_s"] is None or event["intended_fto_s"] is None:
            continue
        if event["kind"] == "shift":
            length_s = event["offset_s"] - event["onset_s"]
            gap_s = -length_s if event["fto_s"] < 0 else length_s
        else:
            gap_s = event["system_stop_s"] - event["onset_s"]
        intended_s = event["intended_fto_s"] if event["kind"] == "shift" else -event["intended_fto_s"]
        resolution_s = 1.0 / row["sample_rate_hz"]
        gaps.append(
            MeasuredGap(
                language=row["language"],
                sampling=sampling,
                drawn=laws[table],
                gap_s=gap_s,
                clipped=abs(gap_s - intended_s) > resolution_s,
                resolution_s=resolution_s,
            )
        )
    return tuple(gaps)


def _table_of(event: Mapping[str, Any]) -> str:
    if event["kind"] == "barge_in":
        return "barge_in_overlap"
    if event["kind"] != "shift":
        return ""
    return "user_to_system" if event["role"] == "system" else "system_to_user"


@lru_cache(maxsize=256)
def _laws(record: str) -> tuple[str, dict[str, DrawnLaw]]:
    data = json.loads(record)
    laws = {
        table: DrawnLaw(
            table=table,
            profile=entry["profile"],
            sha256=entry["sha256"],
            law=law_of(tuple(entry["quantiles"])),
        )
        for table, entry in data.items()
        if table != "sampling"
    }
    return data["sampling"], laws


def fit_reports(gaps: Iterable[MeasuredGap]) -> tuple[FitReport, ...]:
    """Return a report for every language, table and law, in order of first appearance."""
    groups: dict[tuple[str, str, str, tuple[float, ...]], list[MeasuredGap]] = {}
    for gap in gaps:
        groups.setdefault((gap.language, gap.drawn.table, gap.sampling, gap.drawn.law.values), []).append(gap)
    return tuple(_report(group) for group in groups.values())


def _report(group: list[MeasuredGap]) -> FitReport:
    first = group[0]
    sample = np.array([gap.gap_s for gap in group])
    return FitReport(
        language=first.language,
        table=first.drawn.table,
        profile=first.drawn.profile,
        sha256=first.drawn.sha256,
        sampling=first.sampling,
        n=sample.size,
        ks_d=ks_distance(sample, first.drawn.law, resolution=first.resolution_s),
        ks_limit=KS_FACTOR / sqrt(sample.size),
        w1_s=wasserstein_distance(sample, first.drawn.law),
        share_negative=float(np.mean(sample < 0)),
        median_s=float(np.median(sample)),
        p90_s=float(np.quantile(sample, 0.9)),
        n_clipped=sum(gap.clipped for gap in group),
    )


def fit_table(reports: tuple[FitReport, ...]) -> list[list[str]]:
    """Return the reports as a table of texts with a heading, for cards: times in milliseconds."""
    heading = [
        "language",
        "table",
        "profile (SHA-256)",
        "sampling",
        "N",
        "KS D",
        "1.36/√N",
        "W1 (ms)",
        "share < 0",
        "median (ms)",
        "p90 (ms)",
        "clipped",
    ]
    return [heading] + [
        [
            r.language,
            r.table,
            f"{r.profile} ({r.sha256[:12]})",
            r.sampling,
            str(r.n),
            f"{r.ks_d:.4f}",
            f"{r.ks_limit:.4f}",
            f"{1000 * r.w1_s:.1f}",
            f"{r.share_negative:.3f}",
            f"{1000 * r.median_s:.0f}",
            f"{1000 * r.p90_s:.0f}",
            str(r.n_clipped),
        ]
        for r in reports
    ]
