"""Cutting a long conversation into segments that split nothing that is said."""

from __future__ import annotations

from collections.abc import Iterable

TARGET_S = 120.0
SHORTEST_S = 20.0
"""What is left at a conversation's end and is shorter than this joins the segment before it."""


def segment_bounds(
    spoken: Iterable[tuple[float, float]], length_s: float, *, target_s: float = TARGET_S
) -> tuple[tuple[float, float], ...]:
    """Return start and end in seconds of segments that cover [0, length_s] and split no span.

    Each cut lies in the middle of the silence (of all speakers) that is nearest to `target_s` after the last
    cut, at least half and, where there is such a silence, at most one and a half of it away.

    Examples
    --------
    >>> segment_bounds([(0.0, 100.0), (110.0, 200.0)], 210.0)
    ((0.0, 105.0), (105.0, 210.0))
    """
    cuts = _silences(spoken, length_s)
    bounds: list[tuple[float, float]] = []
    start_s = 0.0
    while length_s - start_s > 1.5 * target_s:
        later = [cut for cut in cuts if cut >= start_s + 0.5 * target_s]
        near = [cut for cut in later if cut <= start_s + 1.5 * target_s] or later[:1]
        if not near or length_s - min(near) < SHORTEST_S:
            break
        end_s = min(near, key=lambda cut: abs(cut - start_s - target_s))
        bounds.append((start_s, end_s))
        start_s = end_s
    if length_s - start_s >= SHORTEST_S or not bounds:
        bounds.append((start_s, length_s))
    else:
        bounds[-1] = (bounds[-1][0], length_s)
    return tuple(bounds)


def _silences(spoken: Iterable[tuple[float, float]], length_s: float) -> list[float]:
    """Return the middles of the silences between the spans."""
    middles: list[float] = []
    reached_s = 0.0
    for onset_s, offset_s in sorted(spoken):
        if onset_s > reached_s > 0.0:
            middles.append((reached_s + onset_s) / 2)
        reached_s = max(reached_s, offset_s)
    return [middle for middle in middles if middle < length_s]
