"""Plan and durations to a timeline: where everything lies, in samples. Nothing is drawn here."""

from __future__ import annotations

from ..scenarios.conversation import Pause, PlacedTurn, Plan, PlannedTurn, Shape, Timeline, Word

FREE_S = 0.2
"""An overlap leaves at least this much of either turn alone."""


def to_samples(seconds: float, sample_rate_hz: int) -> int:
    """Return a time as a sample index, halves up.

    Examples
    --------
    >>> to_samples(0.5, 3), to_samples(-0.5, 3)
    (2, -1)
    """
    return int((seconds * sample_rate_hz + 0.5) // 1)


def place(plan: Plan, shapes: tuple[Shape, ...], *, sample_rate_hz: int) -> Timeline:
    """Return where each turn lies.

    Parameters
    ----------
    plan
        What was decided.
    shapes
        One per turn of the plan, at `sample_rate_hz`.
    """
    placed: list[PlacedTurn] = []
    shortened = 0
    for turn, shape in zip(plan.turns, shapes, strict=True):
        onset, was_shortened = _onset(turn, shape, placed, sample_rate_hz)
        shortened += was_shortened
        if turn.stop_latency_s is not None and turn.start.turn is not None:
            stop = onset + to_samples(turn.stop_latency_s, sample_rate_hz)
            placed[turn.start.turn] = _cut(placed[turn.start.turn], stop)
        placed.append(_placed(shape, onset))
    last = max(turn.offset for turn in placed)
    n_samples = last if plan.tail_s is None else last + to_samples(plan.tail_s, sample_rate_hz)
    return Timeline(
        sample_rate_hz=sample_rate_hz,
        n_samples=n_samples,
        turns=tuple(placed),
        shortened_overlaps=shortened,
    )


def _onset(turn: PlannedTurn, shape: Shape, placed: list[PlacedTurn], rate: int) -> tuple[int, int]:
    distance = to_samples(turn.start.distance_s, rate)
    if turn.start.turn is None:
        return max(distance, shape.onset), 0
    earlier = placed[turn.start.turn]
    length = earlier.planned_offset - earlier.onset
    at = (
        earlier.onset + int(turn.start.fraction * length + 0.5) if turn.start.fraction < 1 else earlier.offset
    )
    onset = at + distance
    if turn.start.fraction < 1:
        return onset, 0
    free = to_samples(FREE_S, rate)
    earliest = max(earlier.onset + free, earlier.offset - (shape.offset - shape.onset) + free)
    if onset < earliest < earlier.offset:
        return earliest, 1
    return onset, 0


def _placed(shape: Shape, onset: int) -> PlacedTurn:
    start = onset - shape.onset
    return PlacedTurn(
        clip_start=start,
        onset=onset,
        offset=start + shape.offset,
        planned_offset=start + shape.offset,
        words=tuple(Word(text=w.text, start=start + w.start, stop=start + w.stop) for w in shape.words),
        pauses=tuple(
            Pause(start=start + p.start, stop=start + p.stop, kind=p.kind, intended_s=p.intended_s)
            for p in shape.pauses
        ),
        places=tuple((start + at, function) for at, function in shape.places),
    )


def _cut(turn: PlacedTurn, stop: int) -> PlacedTurn:
    """Return the turn silenced from sample `stop` on; a turn that ends before is left as it is."""
    if stop >= turn.offset or stop <= turn.onset:
        return turn
    return PlacedTurn(
        clip_start=turn.clip_start,
        onset=turn.onset,
        offset=stop,
        planned_offset=turn.planned_offset,
        words=turn.words,
        pauses=tuple(p for p in turn.pauses if p.stop <= stop),
        places=turn.places,
        cut=stop,
    )
