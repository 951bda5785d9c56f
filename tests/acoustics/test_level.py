import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import AudioError
from duplexkit.acoustics.level import (
    from_pcm16,
    p56_level_dbov,
    peak_dbfs,
    scale_to_level,
    span_level_dbov,
    to_pcm16,
    true_peak_dbfs,
)

RATE_HZ = 24_000


def test_a_full_scale_sine_has_3_01_db_less_than_full_scale_dc(tone):
    sine = tone(n_samples=24_000, hz=1_000, amplitude=1.0)
    assert span_level_dbov(sine, [(0, 24_000)]) == pytest.approx(-3.0103, abs=1e-4)
    assert span_level_dbov(np.ones(10, np.float32), [(0, 10)]) == 0.0


def test_level_is_over_the_union_of_the_spans():
    samples = np.array([1.0, 1.0, 0.0, 0.0, 9.0], np.float32)
    # mean square over samples 0..4 is 2/4, however often and in whatever order they are named
    assert span_level_dbov(samples, [(2, 4), (0, 3), (0, 2)]) == pytest.approx(10 * np.log10(0.5))


@given(
    st.floats(-60, 0),
    st.integers(0, 2**32 - 1),
    st.integers(1, 500),
    st.lists(st.integers(0, 499), min_size=2),
)
def test_scaling_meets_the_level_and_leaves_its_input(level_dbov, seed, n_samples, edges):
    samples = np.random.default_rng(seed).uniform(-1, 1, n_samples).astype(np.float32)
    samples[samples == 0] = 0.5
    before = samples.copy()
    a, b = sorted(edge % n_samples for edge in edges[:2])
    spans = [(a, b + 1)]
    scaled = scale_to_level(samples, spans=spans, level_dbov=level_dbov)
    assert span_level_dbov(scaled, spans) == pytest.approx(level_dbov, abs=1e-4)
    assert scaled.dtype == np.float32
    np.testing.assert_array_equal(samples, before)


@pytest.mark.parametrize("spans", [[], [(3, 3)], [(-1, 3)], [(0, 11)], [(5, 2)]])
def test_bad_spans_are_refused(spans):
    with pytest.raises(AudioError, match="span"):
        span_level_dbov(np.ones(10, np.float32), spans)


def test_silence_has_no_level():
    silence = np.zeros(100, np.float32)
    with pytest.raises(AudioError, match="zeros"):
        span_level_dbov(silence, [(0, 100)])
    with pytest.raises(AudioError, match="zeros"):
        scale_to_level(silence, spans=[(0, 100)], level_dbov=-26)
    with pytest.raises(AudioError, match="zeros"):
        peak_dbfs(silence)
    with pytest.raises(AudioError, match="zeros"):
        true_peak_dbfs(silence, sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match=r"P\.56"):
        p56_level_dbov(np.zeros(RATE_HZ, np.float32), sample_rate_hz=RATE_HZ)


def test_peak_between_the_samples_is_seen():
    # a sine at a quarter of the rate, sampled 45 degrees off its peaks: samples at 0.707, peak 1
    n = np.arange(-2_000, 2_000)
    sine = np.sin(np.pi / 2 * n + np.pi / 4) * np.hanning(n.size)
    sine = sine.astype(np.float32)
    assert peak_dbfs(sine) == pytest.approx(-3.0103, abs=0.01)
    assert true_peak_dbfs(sine, sample_rate_hz=RATE_HZ) == pytest.approx(0.0, abs=0.02)


@given(st.integers(0, 2**32 - 1))
def test_true_peak_is_never_below_the_peak(seed):
    samples = np.random.default_rng(seed).uniform(-1, 1, 50).astype(np.float32)
    assert true_peak_dbfs(samples, sample_rate_hz=RATE_HZ) >= peak_dbfs(samples)


def test_p56_of_steady_sound_is_its_rms_and_silence_does_not_count(tone):
    steady = tone(n_samples=10 * RATE_HZ, hz=500, amplitude=0.1)
    rms_dbov = 20 * np.log10(0.1) - 3.0103
    assert p56_level_dbov(steady, sample_rate_hz=RATE_HZ) == pytest.approx(rms_dbov, abs=0.1)
    half = steady.copy()
    half[5 * RATE_HZ :] = 0.0
    # 5 s of sound and 0.2 s of hangover: 10 log10(5 / 5.2) = -0.17 dB, not the -3 dB of the whole file
    assert p56_level_dbov(half, sample_rate_hz=RATE_HZ) == pytest.approx(rms_dbov - 0.17, abs=0.1)


def test_p56_moves_with_the_gain(syllables):
    speech = syllables(np.random.default_rng(1), duration_s=4.0)
    loud = p56_level_dbov(speech, sample_rate_hz=RATE_HZ)
    soft = p56_level_dbov(speech * np.float32(0.1), sample_rate_hz=RATE_HZ)
    assert loud - soft == pytest.approx(20.0, abs=0.1)


def test_every_16_bit_sample_comes_back():
    pcm = np.arange(-32_768, 32_768).astype(np.int16)
    np.testing.assert_array_equal(to_pcm16(from_pcm16(pcm)), pcm)


@given(st.lists(st.floats(-1, 1, width=32), min_size=1))
def test_16_bits_round_to_nearest(values):
    samples = np.array(values, np.float32)
    wanted = np.minimum(samples.astype(np.float64) * 32_768, 32_767)
    assert np.max(np.abs(to_pcm16(samples) - wanted)) <= 0.5


def test_16_bits_never_clip_in_secret():
    with pytest.raises(AudioError, match=r"samples\[1\] is 1\.0001"):
        to_pcm16(np.array([0.0, 1.0001, -3.0], np.float32))
    np.testing.assert_array_equal(to_pcm16(np.array([1.0, -1.0], np.float32)), [32_767, -32_768])


@pytest.mark.parametrize(
    "pcm", [np.zeros(3, np.int32), np.zeros((2, 3), np.int16), np.zeros(0, np.int16), [1, 2], np.zeros(3)]
)
def test_from_pcm16_takes_only_16_bit_samples_of_one_channel(pcm):
    with pytest.raises(AudioError, match="wanted int16"):
        from_pcm16(pcm)
