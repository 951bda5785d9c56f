"""Plan and durations to a timeline: where everything lies, in samples. Nothing is drawn here."""

from __future__ import annotations

from ..scenarios.conversation import Pause, PlacedTurn, Plan, Shape, Timeline, Word

FREE_S = 0.2
"""An overlap leaves at least this much of the interrupted turn alone."""

AFTER_S = 0.8
"""A turn that overlaps another's end goes on at least this long alone, as does one that stops another."""

CLEAR_S = 0.6
"""What one speaker says stays this far apart, tokens too (M3 would join what is 0.5 s apart)."""


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
    redrawn = shortened = 0
    for turn, shape in zip(plan.turns, shapes, strict=True):
        onset, was_redrawn, was_shortened = _onset(plan, shape, placed, sample_rate_hz)
        redrawn, shortened = redrawn + was_redrawn, shortened + was_shortened
        if turn.stop_latency_s is not None and turn.start.turn is not None:
            stop = onset + to_samples(turn.stop_latency_s, sample_rate_hz)
            latest = onset + (shape.offset - shape.onset) - to_samples(AFTER_S, sample_rate_hz)
            placed[turn.start.turn] = _cut(placed[turn.start.turn], min(stop, max(latest, onset + 1)))
        placed.append(_placed(shape, onset))
    _clear_tokens(plan, shapes, placed, sample_rate_hz)
    last = max(turn.offset for turn in placed)
    n_samples = last if plan.tail_s is None else last + to_samples(plan.tail_s, sample_rate_hz)
    return Timeline(
        sample_rate_hz=sample_rate_hz,
        n_samples=n_samples,
        turns=tuple(placed),
        redrawn_overlaps=redrawn,
        shortened_overlaps=shortened,
    )


def _onset(plan: Plan, shape: Shape, placed: list[PlacedTurn], rate: int) -> tuple[int, bool, bool]:
    """Return where the next turn starts, whether it was drawn again, and whether it had to be moved."""
    turn = plan.turns[len(placed)]
    start = turn.start
    if start.turn is None:
        return max(to_samples(start.distance_s, rate), shape.onset), False, False
    earlier = placed[start.turn]
    if start.fraction < 1:
        length = earlier.planned_offset - earlier.onset
        onset = earlier.onset + int(start.fraction * length + 0.5) + to_samples(start.distance_s, rate)
        return onset, False, False
    earliest = -shape.offset
    if plan.turns[start.turn].role is not turn.role:
        earliest = _earliest(plan, shape, placed, rate)
    for i, distance_s in enumerate((start.distance_s, *start.others_s)):
        onset = earlier.offset + to_samples(distance_s, rate)
        if onset >= earliest:
            return onset, i > 0, False
    return earliest, False, True


def _earliest(plan: Plan, shape: Shape, placed: list[PlacedTurn], rate: int) -> int:
    """Return where the next turn may start: it swallows nobody, and keeps clear of its speaker's last turn."""
    turn = plan.turns[len(placed)]
    assert turn.start.turn is not None
    earlier = placed[turn.start.turn]
    overlapping = max(
        earlier.onset + to_samples(FREE_S, rate),
        earlier.offset - (shape.offset - shape.onset) + to_samples(AFTER_S, rate),
    )
    own = [
        p.offset
        for p, said in zip(placed, plan.turns, strict=False)
        if said.role is turn.role and said.move != "backchannel"
    ]
    clear = max(own) + to_samples(CLEAR_S, rate) if own else 0
    return max(min(overlapping, earlier.offset), clear)


def _clear_tokens(plan: Plan, shapes: tuple[Shape, ...], placed: list[PlacedTurn], rate: int) -> None:
    """Move listeners' tokens, in place, so far from their speaker's own turns that they stay tokens.

    Where there is no such room, a token stands in the middle of what there is.
    """
    clear = to_samples(CLEAR_S, rate)
    for i, turn in enumerate(plan.turns):
        if turn.move != "backchannel" or turn.start.turn is None or turn.start.fraction >= 1:
            continue
        own = [
            placed[k]
            for k, other in enumerate(plan.turns)
            if other.role is turn.role and other.move != "backchannel"
        ]
        middle = placed[turn.start.turn]
        before = [t.offset for t in own if t.onset < middle.onset]
        after = [t.onset for t in own if t.onset >= middle.onset]
        low = max([middle.onset, *(offset + clear for offset in before)])
        room_end = min(after) - clear if after else max(placed[i].offset, low + shapes[i].offset)
        high = room_end - (shapes[i].offset - shapes[i].onset)
        onset = min(max(placed[i].onset, low), high) if low <= high else (low + high) // 2
        if onset != placed[i].onset:
            placed[i] = _placed(shapes[i], onset)


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
