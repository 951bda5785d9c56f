"""Where the labels that were meant and M3's labels by rule differ, counted over written rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_NEAR_S = 0.011
"""M3's times are rounded to 10 ms."""

M3_KIND = {"shift": "TURN_SHIFT", "barge_in": "BARGE_IN", "cut_off": "BARGE_IN", "hold": "TURN_HOLD"}
"""What M3's rule calls an event that was meant so (a cut-off has no name of its own there)."""


def label_differences(rows: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """Return counts by (what was meant, what M3's rule says) over rows that have both label sets.

    Meant are ``answer``, ``question`` (turns: M3 says TURN or BC), ``token`` (the same), and the events
    ``shift``, ``barge_in``, ``cut_off``, ``hold`` (M3 says its kind, another kind, or ``none``). The count of
    ``("answer", "BC")`` is the number of short answers that M3's rule takes for backchannels.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["m3_events"] is None:
            continue
        tokens = [event for event in row["events"] if event["kind"] == "backchannel"]
        for i, turn in enumerate(row["turns"]):
            if turn["role"] in ("user", "system"):
                is_token = any(_is_of(event, i, turn) for event in tokens)
                meant = "token" if is_token else "answer" if turn["role"] == "system" else "question"
                counts[(meant, _unit_at(row, turn["role"], turn["onset_s"]))] += 1
        for event in row["events"]:
            if (
                event["kind"] in M3_KIND
                and event["fto_s" if event["kind"] != "hold" else "onset_s"] is not None
            ):
                counts[(event["kind"], _relation(row, event))] += 1
    return counts


def short_answers(counts: Counter[tuple[str, str]]) -> tuple[int, int]:
    """Return how many answers M3's rule calls BC, and how many answers there are."""
    return counts[("answer", "BC")], sum(n for (meant, _), n in counts.items() if meant == "answer")


def _is_of(event: Mapping[str, Any], i: int, turn: Mapping[str, Any]) -> bool:
    """Return whether an event is turn `i`; in recordings events name no turn, there the times say it."""
    if event["turn"] is not None:
        return bool(event["turn"] == i)
    inside = event["onset_s"] - _NEAR_S <= turn["onset_s"] <= event["offset_s"] + _NEAR_S
    return bool(event["role"] == turn["role"] and inside)


def _unit_at(row: Mapping[str, Any], role: str, onset_s: float) -> str:
    """Return the kind of the unit (TURN or BC) that covers a time."""
    for event in row["m3_events"]:
        inside = event["onset_s"] - _NEAR_S <= onset_s <= event["offset_s"] + _NEAR_S
        if event["role"] == role and event["kind"] in ("TURN", "BC") and inside:
            return str(event["kind"])
    return "none"


def _relation(row: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """Return what M3 says of the turn by which an event takes the floor or goes on."""
    taken_s = _taken_s(row, event)
    for other in row["m3_events"]:
        if other["role"] != event["role"]:
            continue
        starts_s = other["onset_s"] if other["kind"] == "BARGE_IN" else other["offset_s"]
        if other["kind"] in ("TURN_SHIFT", "TURN_HOLD", "BARGE_IN") and abs(starts_s - taken_s) <= _NEAR_S:
            return str(other["kind"])
    return "none"


def _taken_s(row: Mapping[str, Any], event: Mapping[str, Any]) -> float:
    """Return when the turn starts by which an event takes the floor or goes on, in seconds.

    An event of a recording names no turn. Its own times say it: a shift lasts from the giving turn's end to
    the taking turn's start, or from this start on where they overlap.
    """
    if event["kind"] == "hold":
        return float(event["offset_s"])
    if event["turn"] is not None:
        return float(row["turns"][event["turn"]]["onset_s"])
    after_a_gap = event["kind"] == "shift" and event["fto_s"] >= 0
    return float(event["offset_s"] if after_a_gap else event["onset_s"])
