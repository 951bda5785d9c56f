import numpy as np
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.microphone import MicrophoneParams, draw_microphone, pick_up


def test_gain_is_gain():
    picked = pick_up(np.array([0.1, -0.9], np.float32), MicrophoneParams(gain_db=20.0))
    np.testing.assert_allclose(picked.samples, [1.0, -9.0], rtol=1e-6)  # nothing is clipped unless asked for
    assert picked.clipped_share == 0.0


def test_clipping_is_where_it_is_asked_for_and_is_counted():
    samples = np.array([0.1, 0.4, -0.6, 0.5], np.float32)
    copy = samples.copy()
    picked = pick_up(samples, MicrophoneParams(clip_dbfs=-6.0206))
    np.testing.assert_allclose(picked.samples, [0.1, 0.4, -0.5, 0.5], rtol=1e-5)
    assert picked.clipped_share == 0.25
    np.testing.assert_array_equal(samples, copy)


def test_draws_keep_to_their_ranges():
    rng = np.random.default_rng(0)
    for _ in range(50):
        params = draw_microphone(rng, gain_db=(-3.0, 3.0), clip_dbfs=(-12.0, -6.0))
        assert -3 <= params.gain_db <= 3 and -12 <= params.clip_dbfs <= -6
    assert draw_microphone(rng).clip_dbfs is None


def test_numbers_out_of_range_are_refused():
    with pytest.raises(AudioError, match="gain_db is 99"):
        MicrophoneParams(gain_db=99.0)
    with pytest.raises(AudioError, match="clip_dbfs is 1"):
        MicrophoneParams(clip_dbfs=1.0)
