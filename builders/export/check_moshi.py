"""moshi-finetune's reading rules, on any folder: lists, paths, alignments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ...scenarios.fields import is_number
from .format import Finding
from .moshi import MAIN
from .reading import Report

_TOLERANCE_S = 0.1


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the lists below a folder.

    A directory given as source takes every file below it whose name ends in jsonl, so each one must be a list.

    Raises
    ------
    ReleaseError
        If there is no list.
    """
    lists = sorted(path for path in folder.rglob("*jsonl") if path.is_file())
    if not lists:
        raise ReleaseError(f"{folder}: no list of moshi-finetune below it (a file whose name ends in jsonl)")
    report = Report(folder)
    for path in lists:
        listed: set[Path] = set()
        for where, line in report.lines(path):
            if not isinstance(line, dict) or not isinstance(line.get("path"), str):
                report.find(
                    path, "no-entry", f"{where}: {str(line)[:60]}", '{"path", "duration"}; no other list'
                )
            else:
                listed.add(path.parent / line["path"])
                _entry(path, where, line, report)
            yield from report.taken()
        for wav in sorted(
            {wav for place in {entry.parent for entry in listed} for wav in place.glob("*.wav")}
        ):
            if wav not in listed:
                report.find(path, "unlisted-sound", wav.name, "a line for each sound in the folder")
        yield from report.taken()


def _entry(path: Path, where: str, line: dict[str, Any], report: Report) -> None:
    wav = path.parent / line["path"]
    if Path(line["path"]).is_absolute():
        report.find(path, "absolute-path", f"{where}: {line['path']}", "a path relative to the list")
    sound = report.sound(wav)
    if sound is None:
        return
    if sound.n_channels != 2:
        report.find(wav, "not-stereo", f"{sound.n_channels} channels", "Moshi's and the user's")
    if not is_number(line.get("duration")) or abs(line["duration"] - sound.length_s) > _TOLERANCE_S:
        report.find(
            path,
            "wrong-duration",
            f"{where}: {line.get('duration')!r}",
            f"{sound.length_s:.3f} s, as the sound",
        )
    labels = wav.with_suffix(".json")
    content = report.json(labels)
    if content is None:
        return
    listed = content.get("alignments") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        report.find(
            labels, "no-alignments", str(content)[:60], '{"alignments": [[word, [start, end], speaker]]}'
        )
        return
    _alignments(labels, listed, sound.length_s, report)


def _alignments(labels: Path, listed: list[Any], end_s: float, report: Report) -> None:
    reached_s = 0.0
    for i, item in enumerate(listed):
        if not (isinstance(item, list) and len(item) == 3 and isinstance(item[0], str)):
            report.find(
                labels, "no-alignments", f"item {i}: {str(item)[:60]}", "[word, [start, end], speaker]"
            )
            continue
        if not report.span(labels, f"item {i}", item[1], end_s):
            continue
        if item[1][1] == item[1][0]:
            report.find(
                labels, "no-length", f"item {i}: {item[1]}", "an end after the start: it would be dropped"
            )
        if item[1][0] < reached_s:
            report.find(
                labels,
                "unordered-times",
                f"item {i}: {item[1]}",
                "items by start: they are searched in halves",
            )
        reached_s = item[1][0]
    if listed and not any(isinstance(item, list) and item[-1:] == [MAIN] for item in listed):
        report.find(labels, "no-main-speaker", "none", f"words of {MAIN}: all others are dropped")
