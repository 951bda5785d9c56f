import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit.acoustics.level import span_level_dbov
from duplexkit.acoustics.resample import resample, resample_spans, resample_to_level, resampled_length

RATES_HZ = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)


@settings(max_examples=80)
@given(n=st.integers(1, 30_000), a=st.sampled_from(RATES_HZ), b=st.sampled_from(RATES_HZ))
def test_length_is_the_same_time(n, a, b):
    samples = np.random.default_rng(n).uniform(-0.5, 0.5, n).astype(np.float32)
    copy = samples.copy()
    result = resample(samples, from_rate_hz=a, to_rate_hz=b)
    assert result.size == max(1, int(np.floor(n * b / a + 0.5)))
    assert result.size == resampled_length(n, from_rate_hz=a, to_rate_hz=b)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(samples, copy)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_a_tone_stays_the_tone_it_was(tone, rate_hz):
    result = resample(tone(n_samples=24_000, hz=700), from_rate_hz=24_000, to_rate_hz=rate_hz)
    wanted = tone(n_samples=rate_hz, hz=700, rate_hz=rate_hz)
    middle = slice(rate_hz // 10, -rate_hz // 10)
    np.testing.assert_allclose(result[middle], wanted[middle], atol=1e-4)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_the_level_of_the_speech_is_restored(syllables, rate_hz):
    stem = np.pad(syllables(np.random.default_rng(2), duration_s=1.5), (5_001, 7_000))
    spans = [(5_001, 20_000), (25_000, 41_001)]
    restored = resample_to_level(stem, spans=spans, from_rate_hz=24_000, to_rate_hz=rate_hz)
    moved = [(round(a * rate_hz / 24_000), round(b * rate_hz / 24_000)) for a, b in spans]
    assert span_level_dbov(restored, moved) == pytest.approx(span_level_dbov(stem, spans), abs=0.01)


def test_spans_keep_their_time():
    assert resample_spans([(3, 10), (24_000, 24_001)], from_rate_hz=24_000, to_rate_hz=8_000) == (
        (1, 3),
        (8_000, 8_001),
    )
