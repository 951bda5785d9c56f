"""Gaps, holds, tokens and barge-ins of one dialogue, taken from its events by M3's rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .events import M3Event
from .timing import DIRECTIONS

PHRASE_PAUSE_CS = 10
"""A silence of at least this inside the other's speech ends a phrase, after which a token may come."""

TOKEN_FROM_S, TOKEN_TO_S = -0.5, 1.5
"""A token belongs to the nearest phrase end if it starts in this range after it."""

EQUAL = "equal"
"""As roles: both speakers are people; both directions of a shift count as one."""


@dataclass(slots=True, kw_only=True)
class Transitions:
    """What was found: times (or shares) per table of a profile, and the counts that rates need."""

    times: dict[str, list[float]] = field(default_factory=dict)
    n_shifts: int = 0
    n_barge_ins: int = 0
    n_tokens: int = 0
    n_turns: int = 0
    n_holds: int = 0
    turns_s: float = 0.0

    def add(self, table: str, value: float) -> None:
        """Count one value of a table."""
        self.times.setdefault(table, []).append(value)


def add_transitions(
    found: Transitions,
    events: Mapping[str, tuple[M3Event, ...]],
    *,
    roles: Mapping[str, str],
    variable: str,
) -> None:
    """Add the transitions of one dialogue to `found`.

    Parameters
    ----------
    found
        Where they are counted.
    events
        Channel to events, as `events.label` gives them.
    roles
        Channel to ``user`` or ``system``; both ``equal`` when the speakers are equals.
    variable
        ``shift``: M3's TURN_SHIFTs. ``fto``: every talkspurt that takes over from the other and ends later
        (what lies inside the other's talkspurt hands over nothing).
    """
    if variable == "fto":
        _add_ftos(found, events, roles)
    for channel, listed in events.items():
        others = {k: v for k, v in events.items() if k != channel}
        for event in listed:
            seconds = (event.end_cs - event.start_cs) / 100
            if event.kind == "TURN_SHIFT":
                found.n_shifts += 1
                if variable == "shift":
                    _add_gap(found, roles[channel], seconds)
            elif event.kind == "TURN_HOLD":
                found.n_holds += 1
                found.add("hold", seconds)
            elif event.kind == "TURN":
                found.n_turns += 1
                found.turns_s += seconds
            elif event.kind == "BARGE_IN":
                found.n_barge_ins += 1
                _add_barge_in(found, event, listed, others)
            elif event.kind == "BC":
                _add_token(found, event, others)


def _add_gap(found: Transitions, taker: str, seconds: float) -> None:
    if taker == EQUAL:
        for direction in DIRECTIONS:
            found.add(direction, seconds)
    else:
        found.add("user_to_system" if taker == "system" else "system_to_user", seconds)


def _add_ftos(
    found: Transitions, events: Mapping[str, tuple[M3Event, ...]], roles: Mapping[str, str]
) -> None:
    spurts = sorted(
        (event.start_cs, event.end_cs, channel)
        for channel, listed in events.items()
        for event in listed
        if event.kind in ("TURN", "BC")
    )
    floor: tuple[int, int, str] | None = None
    for spurt in spurts:
        if floor is not None and spurt[2] != floor[2] and spurt[1] > floor[1]:
            _add_gap(found, roles[spurt[2]], (spurt[0] - floor[1]) / 100)
        if floor is None or spurt[1] > floor[1]:
            floor = spurt


def _add_barge_in(
    found: Transitions,
    event: M3Event,
    own: tuple[M3Event, ...],
    others: Mapping[str, tuple[M3Event, ...]],
) -> None:
    turn_end = max(e.end_cs for e in own if e.kind == "TURN" and e.start_cs == event.start_cs)
    found.add("barge_in_overlap", (min(event.end_cs, turn_end) - event.start_cs) / 100)
    for listed in others.values():
        for other in listed:
            if other.kind == "TURN" and other.end_cs == event.end_cs and other.start_cs <= event.start_cs:
                share = (event.start_cs - other.start_cs) / (other.end_cs - other.start_cs)
                found.add("barge_in_onset", share)


def _add_token(found: Transitions, event: M3Event, others: Mapping[str, tuple[M3Event, ...]]) -> None:
    found.n_tokens += 1
    ends = [
        (event.start_cs - at, at, listed)
        for listed in others.values()
        for other in listed
        for at in _phrase_ends(other)
    ]
    near = [end for end in ends if TOKEN_FROM_S <= end[0] / 100 <= TOKEN_TO_S]
    if not near:
        return
    lag_cs, at, listed = min(near, key=lambda end: abs(end[0]))
    found.add("backchannel_lag", lag_cs / 100)
    for other in listed:
        if other.kind == "TURN" and other.start_cs < at <= other.end_cs:
            found.add("backchannel_place", (at - other.start_cs) / (other.end_cs - other.start_cs))


def _phrase_ends(event: M3Event) -> tuple[int, ...]:
    if event.kind == "TURN":
        return (event.end_cs,)
    if event.kind == "SHORTPAUSE" and event.end_cs - event.start_cs >= PHRASE_PAUSE_CS:
        return (event.start_cs,)
    return ()
