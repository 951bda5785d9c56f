"""Full-Duplex-Bench v1's rules for recorded conversations: one planted case per exclusion; cutting into segments."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.scenarios.fdb_selection import pause_handling, smooth_turn_taking
from duplexkit.scenarios.segments import segment_bounds


def reasons(chosen):
    return [excluded.reason for excluded in chosen[1]]


def test_a_turn_with_one_pause_fits():
    (found,), excluded = pause_handling((((0.0, 3.0), (3.7, 6.0)), ()))
    assert (found.channel, found.start_s, found.end_s) == (0, 0.0, 6.0)
    assert found.pauses == ((3.0, 3.7),)
    assert excluded == ()


def test_both_ends_of_the_pause_range_fit():
    (found,), _ = pause_handling((((0.0, 3.0), (3.4, 6.0), (7.0, 9.0)), ()))
    assert [round(b - a, 6) for a, b in found.pauses] == [0.4, 1.0]


@pytest.mark.parametrize(
    ("speech", "reason"),
    [
        ((((0.0, 3.0), (3.3, 6.0)), ()), "no inner pause of 0.4-1.0 s"),
        ((((0.0, 3.0), (3.7, 6.0)), ((3.2, 3.5),)), "the other speaker is active"),
        ((((0.0, 2.0), (2.7, 4.9)), ()), "the turn is shorter than 5 s"),
        ((((0.0, 0.6), (1.2, 6.0)), ()), "the speech beside the pause may be a backchannel"),
        ((((0.0, 5.0), (5.7, 6.3)), ()), "the speech beside the pause may be a backchannel"),
    ],
)
def test_each_exclusion_of_the_pause_task(speech, reason):
    selected, _ = chosen = pause_handling(speech)
    assert selected == ()
    assert reasons(chosen)[0] == reason


def test_a_longer_silence_is_no_inner_pause():
    selected, _ = chosen = pause_handling((((0.0, 6.0), (7.01, 13.0)), ()))
    assert selected == ()
    assert reasons(chosen) == ["no inner pause of 0.4-1.0 s"] * 2


def test_smooth_turns_fit_and_the_user_is_the_last_but_one():
    speech = (((0.0, 5.0), (10.0, 15.0)), ((5.2, 9.7), (15.39, 20.0)))
    (found,), excluded = smooth_turn_taking(speech)
    assert found.channel == 0
    assert [channel for channel, _, _ in found.turns] == [0, 1, 0, 1]
    assert (found.start_s, found.end_s) == (0.0, 15.0)
    assert excluded == ()


@pytest.mark.parametrize(
    ("speech", "reason"),
    [
        ((((0.0, 5.0),), ((5.4, 10.0),)), "a gap of 0.4 s or more"),
        ((((0.0, 5.0),), ((4.9, 10.0),)), "overlap"),
        ((((0.0, 5.0),), ((5.2, 9.2),)), "a turn of 4 s or less"),
        ((((0.0, 5.0),), ((5.2, 5.9),)), "a backchannel"),
        ((((0.0, 5.0), (6.2, 11.0)), ()), "the same speaker goes on"),
        ((((0.0, 4.5), (4.9, 10.0)), ((4.55, 4.85), (10.2, 15.0))), "a backchannel in it"),
    ],
)
def test_each_exclusion_of_the_turn_taking_task(speech, reason):
    selected, _ = chosen = smooth_turn_taking(speech)
    assert selected == ()
    assert reason in reasons(chosen)


def test_a_run_ends_where_a_rule_is_broken_and_another_begins():
    speech = (((0.0, 5.0), (10.2, 15.0)), ((5.2, 9.7), (15.2, 20.0)))
    (first, second), excluded = smooth_turn_taking(speech)
    assert len(first.turns) == 2 and len(second.turns) == 2
    assert [e.reason for e in excluded] == ["a gap of 0.4 s or more"]


def test_what_overlaps_a_long_turn_starts_no_run():
    speech = (((0.0, 20.0),), ((2.0, 7.0), (12.0, 18.0)))
    selected, excluded = smooth_turn_taking(speech)
    assert selected == ()
    assert [e.reason for e in excluded] == ["overlap"] * 3


spans = st.lists(st.tuples(st.floats(0.1, 20.0), st.floats(0.05, 9.0)), min_size=1, max_size=80)


@given(spans)
def test_segments_cover_everything_and_split_no_span(steps):
    spoken, at = [], 0.0
    for length, hush in steps:
        spoken.append((at, at + length))
        at += length + hush
    bounds = segment_bounds(spoken, at)
    assert bounds[0][0] == 0.0 and bounds[-1][1] == at
    assert all(a[1] == b[0] for a, b in pairwise(bounds))
    for _, cut in bounds[:-1]:
        assert not any(onset < cut < offset for onset, offset in spoken)
    # silences are at most 9 s apart by 20 s: every segment but the last is near two minutes
    assert all(60.0 <= end - start <= 180.0 for start, end in bounds[:-1])
    assert bounds[-1][1] - bounds[-1][0] <= 200.0


def test_somebody_who_never_stops_is_not_cut():
    assert segment_bounds([(0.0, 600.0)], 600.0) == ((0.0, 600.0),)
