"""A row's events as M3-DuplexBench lists them: by its rule on words, or as they were intended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...scenarios.events import M3Event, centiseconds

CHANNELS = {"system": "0", "user": "1"}
"""In M3's task domain channel 0 is the system and channel 1 the user."""

Events = dict[str, tuple[M3Event, ...]]


def by_rule(row: Mapping[str, Any]) -> Events:
    """Return the labels that M3's rule gave the row's words, by channel."""
    return _sorted(
        {
            channel: [
                M3Event(
                    kind=event["kind"],
                    start_cs=centiseconds(event["onset_s"]),
                    end_cs=centiseconds(event["offset_s"]),
                )
                for event in row["m3_events"]
                if event["role"] == role
            ]
            for role, channel in CHANNELS.items()
        }
    )


def as_intended(row: Mapping[str, Any]) -> Events:
    """Return the labels of what was meant, by channel.

    An answer stays a TURN however short it is; a silence that the plan calls a hold splits its turn in two.
    """
    listed: dict[str, list[M3Event]] = {"0": [], "1": []}
    tokens = {event["turn"] for event in row["events"] if event["kind"] == "backchannel"}
    for i, turn in enumerate(row["turns"]):
        if turn["role"] not in CHANNELS:
            continue
        holds = [e for e in row["events"] if e["kind"] == "hold" and e["turn"] == i]
        edges = [
            turn["onset_s"],
            *(t for h in holds for t in (h["onset_s"], h["offset_s"])),
            turn["offset_s"],
        ]
        kind = "BC" if i in tokens else "TURN"
        for onset_s, offset_s in zip(edges[::2], edges[1::2], strict=True):
            listed[CHANNELS[turn["role"]]].append(_event(kind, onset_s, offset_s))
    for event in row["events"]:
        if event["role"] not in CHANNELS or event["turn"] is None:
            continue
        at, taken_s = listed[CHANNELS[event["role"]]], row["turns"][event["turn"]]["onset_s"]
        match event["kind"]:
            case "shift" if event["fto_s"] is not None:
                given_s = event["offset_s"] if event["fto_s"] < 0 else event["onset_s"]
                at.append(_event("TURN_SHIFT", given_s, taken_s))
            case "hold":
                at.append(_event("TURN_HOLD", event["onset_s"], event["offset_s"]))
            case "pause":
                at.append(_event("SHORTPAUSE", event["onset_s"], event["offset_s"]))
            case "barge_in" | "cut_off":
                at.append(_event("BARGE_IN", taken_s, event["system_stop_s"]))
    return _sorted(listed)


def _event(kind: str, start_s: float, end_s: float) -> M3Event:
    return M3Event(kind=kind, start_cs=centiseconds(start_s), end_cs=centiseconds(end_s))


def _sorted(listed: dict[str, list[M3Event]]) -> Events:
    """Return each list by start; in a tie what one is in stands before what it is to the others."""
    order = {"TURN": 0, "BC": 0, "BARGE_IN": 1}
    return {
        channel: tuple(sorted(events, key=lambda e: (e.start_cs, order.get(e.kind, 2), e.end_cs)))
        for channel, events in sorted(listed.items())
    }
