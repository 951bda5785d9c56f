"""M3-DuplexBench's events from words: IPU, SHORTPAUSE, BC, TURN, TURN_SHIFT, TURN_HOLD, BARGE_IN.

The rule is a function of word times alone. Times are compared in whole centiseconds, because float seconds
lose events at the thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

IPU_GAP_CS = 50
"""Words whose gap is at most this belong to one inter-pausal unit."""
SHORT_PAUSE_CS = 3
"""A gap inside a unit of at least this is a SHORTPAUSE."""
BACKCHANNEL_CS = 80
"""A unit of at most this is a BC."""
SHIFT_OVERLAP_CS = 40
"""A turn that starts at most this before the floor's end is a TURN_SHIFT, else a BARGE_IN."""

Times = tuple[int, int]
"""Start and end in centiseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class M3Event:
    """An event as M3 writes it: centiseconds; an overlapping TURN_SHIFT has start > end."""

    kind: str
    start_cs: int
    end_cs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    speaker: str
    start_cs: int
    end_cs: int


def centiseconds(seconds: float) -> int:
    """Return seconds in whole centiseconds, halves up.

    Examples
    --------
    >>> centiseconds(1.005), centiseconds(0.5)
    (101, 50)
    """
    return math.floor(round(seconds * 100, 6) + 0.5)


def label(words: Mapping[str, Iterable[Times]]) -> dict[str, tuple[M3Event, ...]]:
    """Return each speaker's events, sorted by start (in a tie TURN stands before BARGE_IN).

    Parameters
    ----------
    words
        Per speaker the words' times, in any order; words of one speaker may overlap.

    Notes
    -----
    The *floor* is the TURN seen so far that ends last; TURNs are seen by start (equal starts: the shorter
    first, then by the speaker's name). A TURN by the floor's own speaker is a TURN_HOLD, by the other speaker
    a TURN_SHIFT up to `SHIFT_OVERLAP_CS` of overlap and a BARGE_IN beyond. BCs take no part.

    Examples
    --------
    >>> events = label({"0": [(100, 200)], "1": [(220, 400)]})
    >>> events["1"][0].kind, events["1"][0].start_cs, events["1"][0].end_cs
    ('TURN_SHIFT', 200, 220)
    """
    events: dict[str, list[M3Event]] = {speaker: [] for speaker in words}
    turns: list[_Turn] = []
    for speaker, times in words.items():
        for unit in _units(times):
            start_cs, end_cs = unit[0][0], max(end for _, end in unit)
            is_backchannel = end_cs - start_cs <= BACKCHANNEL_CS
            events[speaker].append(
                M3Event(kind="BC" if is_backchannel else "TURN", start_cs=start_cs, end_cs=end_cs)
            )
            events[speaker] += _short_pauses(unit)
            if not is_backchannel:
                turns.append(_Turn(speaker=speaker, start_cs=start_cs, end_cs=end_cs))
    for speaker, event in _relations(turns):
        events[speaker].append(event)
    return {speaker: tuple(sorted(listed, key=_order)) for speaker, listed in events.items()}


def _order(event: M3Event) -> tuple[int, int, int]:
    rank = {"TURN": 0, "BC": 0, "BARGE_IN": 1}.get(event.kind, 2)
    return event.start_cs, rank, event.end_cs


def _units(times: Iterable[Times]) -> list[list[Times]]:
    units: list[list[Times]] = []
    reached = 0
    for start_cs, end_cs in sorted(times):
        if units and start_cs - reached <= IPU_GAP_CS:
            units[-1].append((start_cs, end_cs))
            reached = max(reached, end_cs)
        else:
            units.append([(start_cs, end_cs)])
            reached = end_cs
    return units


def _short_pauses(unit: list[Times]) -> list[M3Event]:
    pauses: list[M3Event] = []
    reached = unit[0][1]
    for start_cs, end_cs in unit[1:]:
        if start_cs - reached >= SHORT_PAUSE_CS:
            pauses.append(M3Event(kind="SHORTPAUSE", start_cs=reached, end_cs=start_cs))
        reached = max(reached, end_cs)
    return pauses


def _relations(turns: list[_Turn]) -> list[tuple[str, M3Event]]:
    """Return how each turn relates to the floor: the turn seen so far that ends last."""
    relations: list[tuple[str, M3Event]] = []
    floor: _Turn | None = None
    for turn in sorted(turns, key=lambda t: (t.start_cs, t.end_cs, t.speaker)):
        if floor is not None:
            overlap_cs = floor.end_cs - turn.start_cs
            if turn.speaker == floor.speaker:
                kind, start_cs, end_cs = "TURN_HOLD", floor.end_cs, turn.start_cs
            elif overlap_cs <= SHIFT_OVERLAP_CS:
                kind, start_cs, end_cs = "TURN_SHIFT", floor.end_cs, turn.start_cs
            else:
                kind, start_cs, end_cs = "BARGE_IN", turn.start_cs, floor.end_cs
            relations.append((turn.speaker, M3Event(kind=kind, start_cs=start_cs, end_cs=end_cs)))
        if floor is None or turn.end_cs > floor.end_cs:
            floor = turn
    return relations
