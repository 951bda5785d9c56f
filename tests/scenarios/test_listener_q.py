"""Windows of 200 ms: an edge belongs to the window that starts there, in every count of listeners."""

from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.listen.answers import q_of_presses
from duplexkit.scenarios.listener_lag import n_windows, window_at
from duplexkit.scenarios.listener_q import listeners_q


@given(st.integers(0, 10_000))
def test_an_edge_starts_its_window(i: int) -> None:
    """Times in seconds are floats: 0.6 // 0.2 is 2.0, though 0.6 s is the edge of window 3."""
    assert window_at(i / 5) == i == window_at(i * 0.2)
    assert window_at((200 * i + 199) / 1000) == i
    assert n_windows(i / 5) == i


@given(st.integers(1, 300), st.data())
def test_responses_and_presses_at_a_time_are_in_the_same_window(n: int, data: st.DataObject) -> None:
    at_s = data.draw(st.integers(0, n - 1)) / 5
    q = listeners_q([[(at_s, at_s + 0.3)], []], n / 5)
    assert list(q) == q_of_presses([[at_s], []], n / 5)
    assert [i for i, share in enumerate(q) if share] == [round(at_s * 5)]


def test_a_response_at_600_ms_is_in_window_3() -> None:
    assert listeners_q([[(0.6, 0.9)]], 1.0) == (0.0, 0.0, 0.0, 1.0, 0.0)
