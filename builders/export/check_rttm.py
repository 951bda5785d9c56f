"""NIST's rules on RTTM and CTM files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ... import ReleaseError
from .format import Finding
from .reading import Report, Sound

_FIELDS = {".rttm": (10, (3, 4)), ".ctm": (6, (2, 3))}
"""Number of fields, and which hold onset and duration."""


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the files: fields, times inside the sound, CTM in order.

    Raises
    ------
    ReleaseError
        If there are none.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in _FIELDS)
    if not files:
        raise ReleaseError(f"{folder}: no .rttm or .ctm below it")
    report = Report(folder)
    sounds: dict[str, Sound | None] = {}
    for path in files:
        reached: dict[tuple[str, str], float] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            _line(path, f"line {number}", line.split(" "), sounds, reached, report)
            yield from report.taken()


def _line(
    path: Path,
    where: str,
    fields: list[str],
    sounds: dict[str, Sound | None],
    reached: dict[tuple[str, str], float],
    report: Report,
) -> None:
    n_fields, (at, length) = _FIELDS[path.suffix]
    if len(fields) != n_fields or "" in fields:
        report.find(path, "wrong-fields", f"{where}: {len(fields)} fields", f"{n_fields}, by single spaces")
        return
    name, channel = fields[at - 2], fields[at - 1]
    if name not in sounds:
        sounds[name] = report.sound(path.parent / "audio" / f"{name}.wav")
    sound = sounds[name]
    try:
        onset_s, length_s = float(fields[at]), float(fields[length])
    except ValueError:
        report.find(path, "no-times", f"{where}: {fields[at]} {fields[length]}", "onset and duration")
        return
    if sound is not None and not (channel.isdigit() and 1 <= int(channel) <= sound.n_channels):
        report.find(path, "unknown-channel", f"{where}: {channel}", f"1 to {sound.n_channels}")
    if not report.span(path, where, [onset_s, onset_s + length_s], sound.length_s if sound else None):
        return
    if path.suffix == ".ctm" and onset_s < reached.get((name, channel), 0.0):
        report.find(path, "unordered-times", f"{where}: {onset_s}", "the words of a channel by onset")
    reached[name, channel] = onset_s
