"""How long after a place a listener's backchannel comes: the kernel that turns marked places into Q."""

from __future__ import annotations

import math

NAME = "listener-lag@1"
"""Our choice: a normal law of lag after the marked clause end, cut to [LOW_S, HIGH_S]."""

MEAN_S, SD_S = 0.35, 0.20
LOW_S, HIGH_S = -0.10, 0.90
WINDOW_S = 0.2

RESPONSE_SHARE = {"continuer": 0.7, "agreement": 0.5, "assessment": 0.5, "newsmark": 0.4}
"""Our choice: which share of listeners says something at a place marked with that function."""


def _law(lag_s: float) -> float:
    return 0.5 * (1.0 + math.erf((lag_s - MEAN_S) / (SD_S * math.sqrt(2.0))))


def mass(start_s: float, stop_s: float) -> float:
    """Return the probability that the lag lies in [start_s, stop_s].

    Examples
    --------
    >>> round(mass(-1.0, 2.0), 6)
    1.0
    """
    low, high = max(start_s, LOW_S), min(stop_s, HIGH_S)
    if high <= low:
        return 0.0
    return (_law(high) - _law(low)) / (_law(HIGH_S) - _law(LOW_S))


def n_windows(duration_s: float) -> int:
    """Return how many windows of 200 ms a sample of this length has; the last one may be shorter.

    Examples
    --------
    >>> n_windows(0.6), n_windows(0.61)
    (3, 4)
    """
    return math.ceil(round(duration_s / WINDOW_S, 9))


def window_at(time_s: float) -> int:
    """Return the window of 200 ms in which a time lies; an edge belongs to the window that starts there.

    Examples
    --------
    >>> window_at(0.59), window_at(0.6)
    (2, 3)
    """
    return math.floor(round(time_s / WINDOW_S, 9))


def backchannel_q(places: list[tuple[float, str]], duration_s: float) -> tuple[float, ...]:
    """Return, for each 200 ms window of the sample, the expected share of listeners who start a token in it.

    Parameters
    ----------
    places
        Time in seconds and function of each marked place.
    duration_s
        Length of the sample; the last window may be shorter.
    """
    q = [0.0] * n_windows(duration_s)
    for time_s, function in places:
        for i in range(len(q)):
            start_s = i * WINDOW_S - time_s
            q[i] += RESPONSE_SHARE[function] * mass(start_s, start_s + WINDOW_S)
    return tuple(min(1.0, value) for value in q)
