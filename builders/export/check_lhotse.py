"""lhotse's rules on a folder of recordings and supervisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import ReleaseError
from .format import Finding
from .reading import Report, is_number


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
    try:
        name, rate_hz, n_samples = line["id"], line["sampling_rate"], line["num_samples"]
        source, channels = Path(line["sources"][0]["source"]), line["sources"][0]["channels"]
        duration_s = line["duration"]
    except (KeyError, TypeError, IndexError) as error:
        report.find(path, "no-recording", f"{where}: no {error}", "a Recording of lhotse")
        return False
    sound = report.sound(source if source.is_absolute() else folder / source)
    if sound is None:
        return True
    said = (rate_hz, n_samples, len(channels))
    real = (sound.rate_hz, sound.n_samples, sound.n_channels)
    if said != real:
        report.find(
            path, "other-sound", f"{where}, {name}: {said}", f"{real}: rate, samples and channels of the file"
        )
    if not is_number(duration_s) or abs(duration_s - n_samples / rate_hz) > 1e-3:
        report.find(path, "wrong-duration", f"{where}, {name}: {duration_s!r}", f"{n_samples / rate_hz}")
    return True


def _supervision(path: Path, where: str, line: Any, known: dict[str, dict[str, Any]], report: Report) -> None:
    try:
        recording, start_s, length_s = line["recording_id"], line["start"], line["duration"]
        words = line.get("alignment", {}).get("word", [])
        channel = line["channel"]
    except (KeyError, TypeError, AttributeError) as error:
        report.find(path, "no-supervision", f"{where}: {error}", "a SupervisionSegment of lhotse")
        return
    if recording not in known:
        report.find(path, "unknown-recording", f"{where}: {recording}", "a recording of the split")
        return
    if channel not in known[recording]["channel_ids"]:
        report.find(path, "unknown-channel", f"{where}: {channel}", f"{known[recording]['channel_ids']}")
    if not report.span(path, where, [start_s, start_s + length_s], known[recording]["duration"]):
        return
    for word in words:
        if not report.span(
            path, f"{where}, {word[0]!r}", [word[1], word[1] + word[2]], known[recording]["duration"]
        ):
            return
