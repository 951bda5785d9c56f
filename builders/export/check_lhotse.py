"""lhotse's rules on a folder of recordings and supervisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ...scenarios.fields import is_number
from ..json_file import Form, misfit
from .format import Finding
from .reading import Report

_RECORDING: Form = {
    "id": str,
    "sampling_rate": int,
    "num_samples": int,
    "duration": float,
    "sources": [{"source": str, "channels": [int]}],
    "channel_ids?": ([int], None),
}
_SUPERVISION: Form = {
    "recording_id": str,
    "start": float,
    "duration": float,
    "channel": (int, [int]),
    "alignment?": ({"word?": [[object]]}, None),
}


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the recordings and supervisions of each split.

    Raises
    ------
    ReleaseError
        If there are no recordings.
    """
    lists = sorted(folder.glob("recordings-*.jsonl.gz"))
    if not lists:
        raise ReleaseError(f"{folder}: no recordings-{{split}}.jsonl.gz of lhotse in it")
    report = Report(folder)
    for path in lists:
        known: dict[str, dict[str, Any]] = {}
        for where, line in report.lines(path):
            if check_recording(folder, path, where, line, report):
                known[line["id"]] = line
            yield from report.taken()
        supervised = path.with_name(path.name.replace("recordings-", "supervisions-", 1))
        if not supervised.is_file():
            report.find(supervised, "missing-file", "no such file", "the supervisions of the recordings")
        else:
            for where, line in report.lines(supervised):
                _supervision(supervised, where, line, known, report)
                yield from report.taken()
        yield from report.taken()


def check_recording(folder: Path, path: Path, where: str, line: Any, report: Report) -> bool:
    """Return whether a recording can be read and is as long as its file."""
    wrong = misfit(line, _RECORDING)
    if wrong or not line["sources"] or line["sampling_rate"] <= 0:
        report.find(
            path, "no-recording", f"{where}: {wrong or 'no sources, or no rate'}", "a Recording of lhotse"
        )
        return False
    name, rate_hz, n_samples = line["id"], line["sampling_rate"], line["num_samples"]
    source, channels = Path(line["sources"][0]["source"]), line["sources"][0]["channels"]
    duration_s = line["duration"]
    sound = report.sound(source if source.is_absolute() else folder / source)
    if sound is None:
        return True
    said = (rate_hz, n_samples, len(channels))
    real = (sound.sample_rate_hz, sound.n_samples, sound.n_channels)
    if said != real:
        report.find(
            path, "other-sound", f"{where}, {name}: {said}", f"{real}: rate, samples and channels of the file"
        )
    if abs(duration_s - n_samples / rate_hz) > 1e-3:
        report.find(path, "wrong-duration", f"{where}, {name}: {duration_s!r}", f"{n_samples / rate_hz}")
    return True


def _supervision(path: Path, where: str, line: Any, known: dict[str, dict[str, Any]], report: Report) -> None:
    wrong = misfit(line, _SUPERVISION)
    words = [] if wrong else (line.get("alignment") or {}).get("word", [])
    if wrong or not all(len(word) >= 3 and is_number(word[1]) and is_number(word[2]) for word in words):
        report.find(
            path,
            "no-supervision",
            f"{where}: {wrong or 'a word without its times'}",
            "a SupervisionSegment of lhotse",
        )
        return
    recording, start_s, length_s = line["recording_id"], line["start"], line["duration"]
    channel = line["channel"]
    if recording not in known:
        report.find(path, "unknown-recording", f"{where}: {recording}", "a recording of the split")
        return
    channels = known[recording].get("channel_ids") or known[recording]["sources"][0]["channels"]
    if not set(channel if isinstance(channel, list) else [channel]) <= set(channels):
        report.find(path, "unknown-channel", f"{where}: {channel}", f"{channels}")
    if not report.span(path, where, [start_s, start_s + length_s], known[recording]["duration"]):
        return
    for word in words:
        if not report.span(
            path, f"{where}, {word[0]!r}", [word[1], word[1] + word[2]], known[recording]["duration"]
        ):
            return
