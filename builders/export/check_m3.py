"""M3-DuplexBench's reading rules, on any folder: unmatched events, wrong types, words it would refuse."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ...scenarios.fields import is_number
from ...scenarios.m3_json import KINDS
from .format import Finding
from .reading import Report, lines_of

LONGEST_BC_S = 0.8
SHORTPAUSE_S = (0.03, 0.5)
_STEP_S = 0.005
"""Half of the format's step: two decimals."""

Event = tuple[str, float, float]
Times = dict[str, list[tuple[float, float]]]


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the data sets at or below a folder.

    Raises
    ------
    ReleaseError
        If there is no ``{split}.jsonl`` beside an ``audio`` folder.
    """
    places = data_sets(folder)
    if not places:
        raise ReleaseError(
            f"{folder}: no data set of M3-DuplexBench below it ({{split}}.jsonl beside audio/)"
        )
    report = Report(folder)
    for place in places:
        seen: set[str] = set()
        lists = sorted(place.glob("*.jsonl"))
        for path in lists:
            for where, line in report.lines(path):
                _dialogue(place, path, where, line, seen, report)
                yield from report.taken()
            yield from report.taken()
        for wav in sorted((place / "audio").glob("*.wav")):
            if wav.stem not in seen:
                at = lists[0] if len(lists) == 1 else wav
                report.find(at, "sound-without-events", wav.name, "a line with its events")
        yield from report.taken()


def data_sets(folder: Path) -> list[Path]:
    """Return the folders at or below `folder` that hold a list and an audio folder."""
    lists = {path.parent for path in folder.rglob("*.jsonl")}
    return sorted(place for place in lists if (place / "audio").is_dir() or (place / "txt_align").is_dir())


def _dialogue(place: Path, path: Path, where: str, line: Any, seen: set[str], report: Report) -> None:
    if not isinstance(line, dict) or not isinstance(line.get("events"), dict) or "id" not in line:
        report.find(path, "no-dialogue", f"{where}: {str(line)[:60]}", '{"id", "events": {"0", "1"}}')
        return
    name = str(line["id"])
    if name in seen:
        report.find(path, "id-twice", f"{where}: {name}", "one line a dialogue")
    seen.add(name)
    if set(line["events"]) != {"0", "1"}:
        report.find(path, "wrong-channels", f"{where}: {sorted(line['events'])}", "channels 0 and 1")
        return
    sound = report.sound(place / "audio" / f"{name}.wav")
    if sound is not None and sound.n_channels != 2:
        report.find(
            place / "audio" / f"{name}.wav",
            "not-two-channels",
            f"{sound.n_channels}",
            "one speaker a channel",
        )
    end_s = sound.length_s if sound is not None else None
    events = {
        channel: _events(path, f"{where}, {name}, channel {channel}", listed, end_s, report)
        for channel, listed in line["events"].items()
    }
    for channel in ("0", "1"):
        for event in events[channel]:
            _matched(path, f"{where}, {name}, channel {channel}", event, channel, events, report)
    domain = place.parent.name
    _align(place / "txt_align" / f"{name}.txt", events, end_s, domain, report)


def _events(path: Path, where: str, listed: Any, end_s: float | None, report: Report) -> list[Event]:
    """Return the events of a channel that can be read; the others are findings."""
    events: list[Event] = []
    reached_s = float("-inf")
    for item in listed if isinstance(listed, list) else [listed]:
        kind = item.get("event") if isinstance(item, dict) else None
        if not isinstance(kind, str) or kind not in KINDS:
            report.find(path, "unknown-event", f"{where}: {kind!r}", ", ".join(KINDS))
            continue
        time = item.get("time")
        signed = kind == "TURN_SHIFT"  # an overlapping shift starts after it ends
        ordered = sorted(time) if signed and _is_pair(time) else time
        if not report.span(path, f"{where}: {kind}", ordered, end_s):
            continue
        if time[0] < reached_s:
            report.find(path, "unordered-times", f"{where}: {kind} {time}", "a channel's events by start")
        reached_s = max(reached_s, time[0])
        if any(round(t, 2) != t for t in time):
            report.find(path, "more-than-two-decimals", f"{where}: {kind} {time}", "times of two decimals")
        events.append((kind, float(time[0]), float(time[1])))
    return events


def _is_pair(time: Any) -> bool:
    return isinstance(time, list) and len(time) == 2 and all(is_number(t) for t in time)


def _matched(
    path: Path, where: str, event: Event, channel: str, events: dict[str, list[Event]], report: Report
) -> None:
    """Look whether an event's times are those of TURNs, as floats."""
    kind, start_s, end_s = event
    mine = [(s, e) for k, s, e in events[channel] if k == "TURN"]
    theirs = [(s, e) for k, s, e in events["1" if channel == "0" else "0"] if k == "TURN"]
    said = f"{where}: {kind} [{start_s}, {end_s}]"
    starts, ends = {s for s, _ in mine}, {e for _, e in mine}
    if kind == "TURN_SHIFT":
        if start_s not in {e for _, e in theirs}:
            report.find(
                path, "unmatched-shift", said, "a start equal to the end of a TURN of the other channel"
            )
        elif end_s not in starts:
            report.find(path, "unmatched-shift", said, "an end equal to the start of a TURN of its channel")
    elif kind == "TURN_HOLD":
        if start_s not in ends or end_s not in starts:
            report.find(path, "unmatched-hold", said, "the end and the start of TURNs of its channel")
    elif kind == "BARGE_IN":
        if start_s not in starts:
            report.find(
                path, "unmatched-barge-in", said, "a start equal to the start of a TURN of its channel"
            )
        elif end_s not in {e for _, e in theirs}:
            report.find(path, "unmatched-barge-in", said, "an end equal to the end of the interrupted TURN")
    elif kind == "BC":
        if end_s - start_s > LONGEST_BC_S + _STEP_S:
            report.find(path, "long-backchannel", said, f"at most {LONGEST_BC_S} s")
    elif kind == "SHORTPAUSE":
        units = [(s, e) for k, s, e in events[channel] if k in ("TURN", "BC")]
        length_s = end_s - start_s
        if not any(s <= start_s and end_s <= e for s, e in units):
            report.find(path, "pause-outside-turn", said, "a place inside a TURN of its channel")
        elif not SHORTPAUSE_S[0] - _STEP_S <= length_s <= SHORTPAUSE_S[1] + _STEP_S:
            report.find(path, "pause-length", said, f"{SHORTPAUSE_S[0]} to {SHORTPAUSE_S[1]} s")


def _align(
    path: Path, events: dict[str, list[Event]], end_s: float | None, domain: str, report: Report
) -> None:
    """Look at the words: four fields, times, and a system word where each of its shifts ends."""
    words: Times = {"0": [], "1": []}
    text = report.text(path)
    if text is None:
        return
    for number, line in lines_of(text):
        fields = line.split("\t")
        if len(fields) != 4 or fields[0] not in words or not fields[3].strip():
            report.find(
                path, "no-four-fields", f"line {number}: {line!r}", "channel, start, end, word, by tabs"
            )
            continue
        try:
            start, end = float(fields[1]), float(fields[2])
        except ValueError:
            report.find(path, "no-times", f"line {number}: {line!r}", "start and end in seconds")
            continue
        if end <= start:
            report.find(path, "unordered-times", f"line {number}: {line!r}", "an end after the start")
        elif end_s is not None and end > end_s + 0.01:
            report.find(path, "past-the-end", f"line {number}: {line!r}", f"at most {end_s:.3f} s")
        words[fields[0]].append((start, end))
    wanted = "the answer's first word"
    for channel in ("0",) if domain == "task" else ("0", "1"):
        starts = sorted(start for start, _ in words[channel])
        for kind, _, taken_s in events[channel]:
            at = bisect_right(starts, taken_s)
            if kind == "TURN_SHIFT" and (at == 0 or starts[at - 1] != taken_s):
                report.find(path, "no-word-at-shift", f"channel {channel}: none starts at {taken_s}", wanted)
