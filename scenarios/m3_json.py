"""M3-DuplexBench's JSON line of one dialogue: written from events, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from .. import ScriptError
from .events import M3Event, centiseconds
from .text_file import numbered_lines, parse_json, read_text, shown

KINDS = ("TURN", "TURN_SHIFT", "TURN_HOLD", "SHORTPAUSE", "BC", "BARGE_IN")


def m3_line(dialogue_id: str, events: Mapping[str, tuple[M3Event, ...]]) -> dict[str, Any]:
    """Return the object of one line: times in seconds with two decimals.

    A time in centiseconds has one float of seconds, so that a shift's start equals the turn's end exactly,
    also after JSON.

    Examples
    --------
    >>> m3_line("a", {"0": (M3Event(kind="TURN", start_cs=345, end_cs=622),), "1": ()})["events"]["0"]
    [{'event': 'TURN', 'time': [3.45, 6.22]}]
    """
    return {
        "id": dialogue_id,
        "events": {
            channel: [
                {"event": event.kind, "time": [event.start_cs / 100, event.end_cs / 100]} for event in listed
            ]
            for channel, listed in events.items()
        },
    }


def read_m3_lines(path: Path) -> dict[str, dict[str, tuple[M3Event, ...]]]:
    """Return the events of each dialogue in a JSONL file: dialogue id -> channel -> events.

    Raises
    ------
    ScriptError
        If a line is not as M3 writes it; names file and line.
    """
    dialogues: dict[str, dict[str, tuple[M3Event, ...]]] = {}
    for number, line in numbered_lines(read_text(path)):
        where = f"{path} line {number}"
        data = parse_json(line, where)
        if (
            not isinstance(data, dict)
            or "id" not in data
            or not isinstance(data.get("events"), dict)
            or not all(isinstance(events, list) for events in data["events"].values())
        ):
            raise ScriptError(
                f'{where}: no M3 line: {shown(data)}; wanted {{"id": ..., "events": {{"0": [...], "1": [...]}}}}'
            )
        dialogue_id, listed = str(data["id"]), data["events"]
        if dialogue_id in dialogues:
            raise ScriptError(f"{where}: id {dialogue_id!r} stands twice; a dialogue has one line")
        dialogues[dialogue_id] = {
            channel: tuple(_event(event, f"{where}, channel {channel}") for event in events)
            for channel, events in listed.items()
        }
    if not dialogues:
        raise ScriptError(f"{path} is empty: wanted at least one line of M3 events")
    return dialogues


def _event(data: Any, where: str) -> M3Event:
    try:
        kind = data["event"]
        start_s, end_s = (float(time) for time in data["time"])
        if not (isfinite(start_s) and isfinite(end_s)):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ScriptError(
            f'{where}: no event: {shown(data)}; wanted {{"event": KIND, "time": [START, END]}}, in seconds'
        ) from None
    if kind not in KINDS:
        raise ScriptError(f"{where}: event {kind!r}; wanted one of {', '.join(KINDS)}")
    return M3Event(kind=kind, start_cs=centiseconds(start_s), end_cs=centiseconds(end_s))
