"""Events of an excerpt of a recorded conversation, by M3's rule: there is no plan that says what was meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..scenarios.conversation import Event, Role
from ..scenarios.events import M3Event
from .corpora.excerpt import RATE_HZ, Excerpt

M3 = Mapping[str, tuple[M3Event, ...]]
"""Role to events."""


def chat_events(m3: M3) -> tuple[Event, ...]:
    """Return our events for M3's, by onset."""
    users = sorted(event.start_cs for event in m3.get("user", ()) if event.kind == "TURN")
    first = min((e.start_cs for events in m3.values() for e in events if e.kind == "TURN"), default=0)
    found: list[Event] = []
    for role, listed in m3.items():
        turn_ends = {event.start_cs: event.end_cs for event in listed if event.kind == "TURN"}
        for m3_event in listed:
            event = _event(Role(role), m3_event, turn_ends)
            if event is not None:
                taken_cs = max(m3_event.start_cs, m3_event.end_cs)
                asked = max((start for start in users if start < taken_cs), default=first)
                found.append(replace(event, context_start=_at(first), input_start=_at(asked)))
    return tuple(sorted(found, key=lambda event: (event.onset, event.kind)))


def _event(role: Role, event: M3Event, turn_ends: Mapping[int, int]) -> Event | None:
    low, high = sorted((_at(event.start_cs), _at(event.end_cs)))
    match event.kind:
        case "TURN_SHIFT":
            fto_s = (event.end_cs - event.start_cs) / 100
            return Event(kind="shift", role=role, onset=low, offset=high, fto_s=fto_s)
        case "TURN_HOLD":
            return Event(kind="hold", role=role, onset=low, offset=high)
        case "BC":
            return Event(kind="backchannel", role=role, onset=low, offset=high)
        case "BARGE_IN":
            return Event(
                kind="barge_in",
                role=role,
                onset=_at(event.start_cs),
                offset=_at(turn_ends[event.start_cs]),
                fto_s=(event.start_cs - event.end_cs) / 100,
                system_stop=_at(event.end_cs) if role is Role.USER else None,
            )
        case _:
            return None


def task_events(excerpt: Excerpt, m3: M3) -> tuple[Event, ...]:
    """Return the pauses of a pause sample, or the shifts that a turn-taking sample offers the system."""
    if excerpt.scenario == "pause_handling":
        return tuple(
            Event(
                kind="pause",
                role=Role.USER,
                onset=round((onset_s - excerpt.start_s) * RATE_HZ),
                offset=round((offset_s - excerpt.start_s) * RATE_HZ),
                turn=0,
                context_start=0,
                input_start=0,
            )
            for onset_s, offset_s in excerpt.pauses
        )
    return tuple(event for event in chat_events(m3) if event.kind == "shift" and event.role is Role.SYSTEM)


def _at(centiseconds: int) -> int:
    return centiseconds * RATE_HZ // 100
