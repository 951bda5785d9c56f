"""Praat TextGrids: turns and words of each role, events; a file per sample, with its sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from ...whole_file import put_bytes
from .format import Options, Outcome, Row, file_id
from .recording import put_recording

Interval = tuple[float, float, str]
Point = tuple[float, str]


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write ``{split}/{id}.TextGrid`` and ``{split}/{id}.wav``.

    Tiers: ``{role} turns`` and ``{role} words`` for each role that speaks; ``{kind} {role}`` for each kind of
    event, of points where its events have no length (a shift without a reference of the answer).
    """
    for row in rows:
        path = folder / row["split"] / f"{file_id(row['id'])}.TextGrid"
        put_recording(path.with_suffix(".wav"), row, options)
        put_bytes(path, text_grid(row).encode())
        yield Outcome(id=row["id"], place=path.relative_to(folder).as_posix())


def text_grid(row: Row) -> str:
    """Return the TextGrid of a row."""
    end_s = row["duration_s"]
    tiers: list[tuple[str, list[Interval] | list[Point], bool]] = []
    for role in ("user", "system", "other"):
        turns = [turn for turn in row["turns"] if turn["role"] == role]
        if turns:
            spans = [(t["onset_s"], t["offset_s"], t["spoken_text"]) for t in turns]
            words = [(w["onset_s"], w["offset_s"], w["text"]) for t in turns for w in t["words"]]
            tiers += [(f"{role} turns", spans, True), (f"{role} words", words, True)]
    kinds = dict.fromkeys((event["kind"], event["role"]) for event in row["events"])
    for kind, role in kinds:
        listed = [e for e in row["events"] if (e["kind"], e["role"]) == (kind, role)]
        spans = [(e["onset_s"], e["offset_s"], kind) for e in listed if e["offset_s"] > e["onset_s"]]
        points = [(e["onset_s"], kind) for e in listed if e["offset_s"] <= e["onset_s"]]
        if spans:
            tiers.append((f"{kind} {role}", spans, True))
        if points:
            tiers.append((f"{kind} {role} points", points, False))
    head = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {end_s!r}",
        "tiers? <exists>",
        f"size = {len(tiers)}",
        "item []:",
    ]
    for i, (name, listed, is_spans) in enumerate(tiers, 1):
        head += _intervals(i, name, listed, end_s) if is_spans else _points(i, name, listed, end_s)  # type: ignore[arg-type]
    return "\n".join(head) + "\n"


def _head(i: int, kind: str, name: str, end_s: float) -> list[str]:
    return [
        f"    item [{i}]:",
        f'        class = "{kind}"',
        f'        name = "{name}"',
        "        xmin = 0",
        f"        xmax = {end_s!r}",
    ]


def _intervals(i: int, name: str, spans: list[Interval], end_s: float) -> list[str]:
    """Return a tier of intervals; it covers the whole time, so that silence is an interval without text."""
    full: list[Interval] = []
    reached = 0.0
    for onset_s, offset_s, text in sorted(spans):
        start_s = max(onset_s, reached)  # a tier's intervals cannot overlap
        if offset_s <= start_s:
            continue
        if start_s > reached:
            full.append((reached, start_s, ""))
        full.append((start_s, min(offset_s, end_s), text))
        reached = offset_s
    if reached < end_s:
        full.append((reached, end_s, ""))
    assert all(a[1] == b[0] for a, b in pairwise(full))
    lines = [*_head(i, "IntervalTier", name, end_s), f"        intervals: size = {len(full)}"]
    for k, (start_s, stop_s, text) in enumerate(full, 1):
        lines += [
            f"        intervals [{k}]:",
            f"            xmin = {start_s!r}",
            f"            xmax = {stop_s!r}",
            f'            text = "{_quoted(text)}"',
        ]
    return lines


def _points(i: int, name: str, points: list[Point], end_s: float) -> list[str]:
    lines = [*_head(i, "TextTier", name, end_s), f"        points: size = {len(points)}"]
    for k, (at_s, text) in enumerate(sorted(points), 1):
        lines += [
            f"        points [{k}]:",
            f"            number = {at_s!r}",
            f'            mark = "{_quoted(text)}"',
        ]
    return lines


def _quoted(text: str) -> str:
    return text.replace('"', '""')
