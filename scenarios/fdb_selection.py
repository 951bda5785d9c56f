"""Full-Duplex-Bench v1's rules for recorded conversations: what fits its pause and turn-taking tasks, and why not.

The rules as published: pause handling takes stretches in which one speaker is active, at least 5 s long, with
an inner pause of 0.4-1.0 s whose speech just before and after is no backchannel; smooth turn-taking takes
consecutive turns with gaps below 0.4 s, no overlap, each turn above 4 s and no backchannels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

SpanS = tuple[float, float]

PAUSE_S = (0.4, 1.0)
LONG_TURN_S = 5.0
SMOOTH_GAP_S = 0.4
SMOOTH_TURN_S = 4.0
APPENDED_S = 5.0
"""So much silence follows the last turn of a turn-taking sample."""

BACKCHANNEL_S = 1.0
"""Shorter speech may be a backchannel (Full-Duplex-Bench counts below 1 s with at most two words)."""

TURN_JOIN_S = 1.0
"""One speaker's speech that is closer makes one turn here: longer silences are no inner pause any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """A stretch that fits: its bounds, the channel that speaks last (the user), its turns, and its inner pauses."""

    channel: int
    start_s: float
    end_s: float
    turns: tuple[tuple[int, float, float], ...]
    pauses: tuple[SpanS, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A stretch that does not fit, and the first rule it breaks."""

    channel: int
    start_s: float
    end_s: float
    reason: str


Chosen = tuple[tuple[Selected, ...], tuple[Excluded, ...]]


def pause_handling(speech: tuple[tuple[SpanS, ...], tuple[SpanS, ...]]) -> Chosen:
    """Return what fits the pause task, and why other turns do not.

    Parameters
    ----------
    speech
        Spans of speech of both channels in seconds, ascending.
    """
    selected: list[Selected] = []
    excluded: list[Excluded] = []
    for channel, other in ((0, 1), (1, 0)):
        for turn in _turns(speech[channel]):
            start_s, end_s = turn[0][0], turn[-1][1]
            pieces = _joined(turn, PAUSE_S[0])
            pauses = [(a[1], b[0]) for a, b in pairwise(pieces)]
            short = any(min(a[1] - a[0], b[1] - b[0]) < BACKCHANNEL_S for a, b in pairwise(pieces))
            reason = (
                "no inner pause of 0.4-1.0 s"
                if not pauses
                else "the other speaker is active"
                if any(a < end_s and b > start_s for a, b in speech[other])
                else "the turn is shorter than 5 s"
                if end_s - start_s < LONG_TURN_S
                else "the speech beside the pause may be a backchannel"
                if short
                else ""
            )
            if reason:
                excluded.append(Excluded(channel=channel, start_s=start_s, end_s=end_s, reason=reason))
            else:
                selected.append(
                    Selected(
                        channel=channel,
                        start_s=start_s,
                        end_s=end_s,
                        turns=((channel, start_s, end_s),),
                        pauses=tuple(pauses),
                    )
                )
    return tuple(sorted(selected, key=lambda s: s.start_s)), tuple(sorted(excluded, key=lambda s: s.start_s))


def smooth_turn_taking(speech: tuple[tuple[SpanS, ...], tuple[SpanS, ...]]) -> Chosen:
    """Return the runs of at least two consecutive turns that fit, and why runs end or turns do not fit.

    The user is the speaker of the last turn but one; `end_s` is where that turn ends (silence is appended
    there), the last turn being the recorded answer.
    """
    turns = sorted(
        (span[0][0], span[-1][1], channel) for channel in (0, 1) for span in _turns(speech[channel])
    )
    runs: list[list[_Turn]] = [[]]
    excluded: list[Excluded] = []
    for turn in turns:
        own = _misfit(turn, turns)
        reason = own or (_break(runs[-1][-1], turn) if runs[-1] else "")
        if reason:
            excluded.append(Excluded(channel=turn[2], start_s=turn[0], end_s=turn[1], reason=reason))
            runs.append([] if own else [turn])
        else:
            runs[-1].append(turn)
    selected = [
        Selected(
            channel=run[-2][2],
            start_s=run[0][0],
            end_s=run[-2][1],
            turns=tuple((channel, start_s, end_s) for start_s, end_s, channel in run),
        )
        for run in runs
        if len(run) >= 2
    ]
    return tuple(selected), tuple(excluded)


_Turn = tuple[float, float, int]


def _misfit(turn: _Turn, turns: list[_Turn]) -> str:
    """Return why a turn fits into no run; nothing where it does."""
    start_s, end_s, channel = turn
    over = [t for t in turns if t[2] != channel and t[0] < end_s and t[1] > start_s]
    if end_s - start_s < BACKCHANNEL_S:
        return "a backchannel"
    if end_s - start_s <= SMOOTH_TURN_S:
        return "a turn of 4 s or less"
    if over and all(t[1] - t[0] < BACKCHANNEL_S for t in over):
        return "a backchannel in it"
    return "overlap" if over else ""


def _break(last: _Turn, turn: _Turn) -> str:
    """Return why a turn does not follow the last one smoothly; nothing where it does."""
    if turn[2] == last[2]:
        return "the same speaker goes on"
    return "a gap of 0.4 s or more" if _gap_s(last[1], turn[0]) >= SMOOTH_GAP_S else ""


def _gap_s(end_s: float, start_s: float) -> float:
    """Return a gap without the last bits of float times, which would decide at the limits."""
    return round(start_s - end_s, 6)


def _turns(spans: tuple[SpanS, ...]) -> list[list[SpanS]]:
    """Return groups of spans at most 1 s apart."""
    turns: list[list[SpanS]] = []
    for span in spans:
        if turns and _gap_s(turns[-1][-1][1], span[0]) <= TURN_JOIN_S:
            turns[-1].append(span)
        else:
            turns.append([span])
    return turns


def _joined(spans: list[SpanS], gap_s: float) -> list[SpanS]:
    """Return the spans, those closer than `gap_s` made one."""
    joined = [spans[0]]
    for start_s, end_s in spans[1:]:
        if _gap_s(joined[-1][1], start_s) < gap_s:
            joined[-1] = (joined[-1][0], max(end_s, joined[-1][1]))
        else:
            joined.append((start_s, end_s))
    return joined
