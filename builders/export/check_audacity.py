"""Audacity's rules on label files: onset, offset and label by tabs, beside their sound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ... import ReleaseError
from .format import Finding
from .origins import ATTRIBUTION
from .reading import Report


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the label files below a folder.

    Raises
    ------
    ReleaseError
        If there are none.
    """
    files = sorted(path for path in folder.rglob("*.txt") if path != folder / ATTRIBUTION)
    if not files:
        raise ReleaseError(f"{folder}: no label files below it")
    report = Report(folder)
    for path in files:
        sound = report.sound(path.parent / f"{path.name.split('.')[0]}.wav")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fields = line.split("\t")
            try:
                span = [float(fields[0]), float(fields[1])]
            except (ValueError, IndexError):
                report.find(
                    path, "wrong-fields", f"line {number}: {line!r}", "onset, offset and label, by tabs"
                )
                continue
            if len(fields) != 3 or not fields[2]:
                report.find(
                    path, "wrong-fields", f"line {number}: {line!r}", "onset, offset and label, by tabs"
                )
                continue
            report.span(path, f"line {number}", span, sound.length_s if sound else None)
        yield from report.taken()
