import numpy as np
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.mix import Canvas, add_at, mix


def test_clips_add_up_where_they_are_put():
    one, two = np.ones(3, np.float32), np.full(2, 0.25, np.float32)
    np.testing.assert_array_equal(mix([(one, 1), (two, 3)], n_samples=6), [0, 1, 1, 1.25, 0.25, 0])
    np.testing.assert_array_equal(one, 1.0)


def test_the_canvas_gives_copies():
    canvas = Canvas(4)
    add_at(canvas, np.ones(2, np.float32), start=2)
    first = canvas.samples
    first[:] = 7.0
    np.testing.assert_array_equal(canvas.samples, [0, 0, 1, 1])
    assert canvas.n_samples == 4


@pytest.mark.parametrize("start", [-1, 3])
def test_a_clip_that_leaves_the_canvas_is_refused(start):
    with pytest.raises(AudioError, match=f"2 samples at {start} leaves the canvas of 4"):
        add_at(Canvas(4), np.ones(2, np.float32), start=start)


def test_a_canvas_has_samples():
    with pytest.raises(AudioError, match="at least one"):
        Canvas(0)


def test_an_absent_clip_changes_nothing_elsewhere():
    rng = np.random.default_rng(0)
    speech = rng.uniform(-0.1, 0.1, 100).astype(np.float32)
    event = rng.uniform(-0.1, 0.1, 20).astype(np.float32)
    with_event = mix([(speech, 0), (event, 40)], n_samples=100)
    without = mix([(speech, 0)], n_samples=100)
    np.testing.assert_array_equal(with_event[:40], without[:40])
    np.testing.assert_array_equal(with_event[60:], without[60:])
