"""The share of listeners who start a token in each 200 ms window, from listeners' responses."""

from __future__ import annotations

from collections.abc import Sequence

from .listener_lag import WINDOW_S, n_windows, window_at

LONGEST_TOKEN_S = 1.0
"""A longer response is no token (Full-Duplex-Bench counts responses below 1 s as backchannels)."""


def listeners_q(responses: Sequence[Sequence[tuple[float, float]]], duration_s: float) -> tuple[float, ...]:
    """Return Q per 200 ms window: how many of the listeners start a token in it, divided by all listeners.

    Parameters
    ----------
    responses
        Per listener the spans of speech in seconds; one who says nothing counts too.
    duration_s
        Length of what they listened to; the last window may be shorter.

    Examples
    --------
    >>> listeners_q([[(0.25, 0.6)], [(0.3, 0.5)], []], 0.6)[1]
    0.6666666666666666
    """
    q = [0.0] * n_windows(duration_s)
    for spans in responses:
        starts = [a for a, b in spans if b - a < LONGEST_TOKEN_S and 0 <= a < duration_s]
        for window in {min(window_at(a), len(q) - 1) for a in starts}:
            q[window] += 1
    return tuple(count / len(responses) for count in q) if responses else tuple(q)


def q_source(n_listeners: int) -> str:
    """Return what a row says of a Q that comes from people.

    Examples
    --------
    >>> q_source(12)
    'listeners, n = 12'
    """
    return f"listeners, n = {n_listeners}"


def responsive_runs(q: Sequence[float]) -> tuple[tuple[float, float, float], ...]:
    """Return the stretches of windows in which somebody starts a token: start, end (seconds), share of listeners.

    The share is the sum over the windows, at most 1.
    """
    runs: list[tuple[float, float, float]] = []
    for i, share in enumerate(q):
        if share == 0.0:
            continue
        start_s, end_s = round(i * WINDOW_S, 6), round((i + 1) * WINDOW_S, 6)
        if runs and runs[-1][1] == start_s:
            runs[-1] = (runs[-1][0], end_s, min(1.0, runs[-1][2] + share))
        else:
            runs.append((start_s, end_s, share))
    return tuple(runs)
