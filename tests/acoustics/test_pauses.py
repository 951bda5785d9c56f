import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import AudioError
from duplexkit.acoustics.pauses import Trimmed, set_hush, trim

RATE_HZ = 24_000


@given(
    before=st.integers(0, 5_000),
    after=st.integers(1_000, 5_000),
    length=st.integers(1_000, 9_000),
    hz=st.floats(200, 4e3),
)
def test_trim_keeps_the_speech_bit_by_bit_and_15_ms_around_it(before, after, length, hz):
    tone = 0.1 * np.cos(2 * np.pi * hz * np.arange(length) / RATE_HZ)
    raw = np.pad(tone, (before, after)).astype(np.float32)
    copy = raw.copy()
    trimmed = trim(raw, sample_rate_hz=RATE_HZ)
    speech = trimmed.samples[trimmed.onset : trimmed.offset]
    start = trimmed.onset + trimmed.head
    np.testing.assert_array_equal(speech, raw[start : start + speech.size])
    assert abs(trimmed.onset + trimmed.head - before) <= 1
    assert abs(speech.size - length) <= 2
    assert trimmed.onset == min(360, trimmed.onset + trimmed.head)  # 15 ms, where the clip has it
    assert trimmed.samples.size - trimmed.offset == min(360, raw.size - (trimmed.head + trimmed.offset))
    np.testing.assert_array_equal(raw, copy)


def test_trim_fades_only_what_is_kept_around_the_speech():
    raw = np.concatenate([np.full(2_000, 1e-4), np.full(4_000, 0.1), np.full(2_000, 1e-4)]).astype(np.float32)
    raw *= np.resize(np.array([1, -1], np.float32), raw.size)
    trimmed = trim(raw, sample_rate_hz=RATE_HZ)
    head = np.abs(trimmed.samples[: trimmed.onset])
    assert head[0] < 1e-7 and np.all(np.diff(head[:120]) > 0)  # 5 ms = 120 samples rise from zero
    np.testing.assert_allclose(head[120:], 1e-4, rtol=1e-5)
    tail = np.abs(trimmed.samples[trimmed.offset :])
    assert tail[-1] < 1e-7 and np.all(np.diff(tail[-120:]) < 0)
    np.testing.assert_allclose(tail[:-120], 1e-4, rtol=1e-5)


def test_trim_refuses_silence_and_clipping():
    with pytest.raises(AudioError, match="no speech"):
        trim(np.zeros(RATE_HZ, np.float32), sample_rate_hz=RATE_HZ)
    flat = np.zeros(RATE_HZ, np.float32)
    flat[1_000:1_003] = 1.0
    with pytest.raises(AudioError, match="clipped: 3 samples in a row at 1 from sample 1000"):
        trim(flat, sample_rate_hz=RATE_HZ)


def test_a_trimmed_clip_must_hold_its_speech():
    with pytest.raises(AudioError, match="do not fit"):
        Trimmed(samples=np.zeros(5, np.float32), onset=2, offset=6, head=0)


@given(
    start=st.integers(0, 500), old=st.integers(0, 900), after=st.integers(1, 500), new=st.integers(0, 2_000)
)
def test_set_hush_gives_the_length_and_leaves_the_rest(start, old, after, new):
    rng = np.random.default_rng(start)
    samples = rng.uniform(-0.5, 0.5, start + old + after).astype(np.float32)
    copy = samples.copy()
    changed = set_hush(samples, hush=(start, start + old), n_samples=new, sample_rate_hz=RATE_HZ)
    assert changed.dtype == np.float32 and changed.size == start + new + after
    np.testing.assert_array_equal(changed[:start], samples[:start])
    np.testing.assert_array_equal(changed[start + new :], samples[start + old :])
    assert np.max(np.abs(changed[start : start + new]), initial=0.0) <= 0.5
    np.testing.assert_array_equal(samples, copy)


def test_a_longer_hush_has_zeros_in_its_middle_and_no_step():
    samples = np.full(3_000, 1e-3, np.float32)
    longer = set_hush(samples, hush=(1_000, 2_000), n_samples=2_000, sample_rate_hz=RATE_HZ)
    np.testing.assert_array_equal(longer[1_500:2_500], 0.0)
    assert np.max(np.abs(np.diff(longer))) < 1e-3 * np.pi / 2 / 120 * 1.01  # steepest slope of the fade
    shorter = set_hush(samples, hush=(1_000, 2_000), n_samples=600, sample_rate_hz=RATE_HZ)
    assert np.max(np.abs(np.diff(shorter))) < 1e-3 * np.pi / 2 / 120 * 1.01
    np.testing.assert_array_equal(shorter[1_000:1_180], samples[1_000:1_180])


@pytest.mark.parametrize("hush", [(-1, 5), (5, 4), (0, 11)])
def test_a_hush_outside_the_clip_is_refused(hush):
    with pytest.raises(AudioError, match="leaves the signal"):
        set_hush(np.zeros(10, np.float32), hush=hush, n_samples=3, sample_rate_hz=RATE_HZ)


@pytest.mark.parametrize(("hush", "n_samples"), [((0, 10), 0), ((2, 4), -1)])
def test_a_length_that_leaves_nothing_is_refused(hush, n_samples):
    with pytest.raises(AudioError, match="n_samples"):
        set_hush(np.zeros(10, np.float32), hush=hush, n_samples=n_samples, sample_rate_hz=RATE_HZ)
