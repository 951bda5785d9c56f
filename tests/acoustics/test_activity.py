import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import AudioError
from duplexkit.acoustics.activity import (
    speech_spans,
    speech_threshold_dbfs,
    webrtc_spans,
)

RATE_HZ = 24_000


@settings(max_examples=150)
@given(
    before=st.integers(0, 30_000),
    length=st.integers(1_200, 24_000),
    after=st.integers(3_000, 30_000),
    level_dbfs=st.floats(-40, 0),
    hz=st.floats(200, 4_000),
    phase=st.floats(0, 2 * np.pi),
)
def test_a_tone_in_digital_silence_is_found_to_the_sample(before, length, after, level_dbfs, hz, phase):
    amplitude = 10 ** (level_dbfs / 20)
    tone = amplitude * np.sin(2 * np.pi * hz * np.arange(length) / RATE_HZ + phase)
    samples = np.pad(tone, (before, after)).astype(np.float32)
    sounding = np.flatnonzero(samples)
    spans = speech_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=0.1)
    assert len(spans) == 1
    assert abs(spans[0][0] - sounding[0]) <= 1
    assert abs(spans[0][1] - (sounding[-1] + 1)) <= 1


def test_a_very_faint_tone_is_found_too():
    # amplitude -60 dBFS: the absolute floor of -85 dBFS is 25 dB below it, a few samples into the wave
    samples = np.zeros(10_000, np.float32)
    samples[4_000:7_000] = 1e-3 * np.sin(2 * np.pi * 200 * np.arange(3_000) / RATE_HZ)
    ((start, stop),) = speech_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=0.1)
    assert 4_000 <= start <= 4_002 and 6_998 <= stop <= 7_000


@given(hush=st.integers(4_801, 12_000), hz=st.floats(200, 4_000))
def test_a_long_hush_splits_and_a_short_one_does_not(hush, hz):
    tone = (0.1 * np.cos(2 * np.pi * hz * np.arange(6_000) / RATE_HZ)).astype(np.float32)
    samples = np.concatenate([np.zeros(3_000, np.float32), tone, np.zeros(hush, np.float32), tone])
    split = speech_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=0.2)
    assert len(split) == 2
    assert abs((split[1][0] - split[0][1]) - hush) <= 2
    joined = speech_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=(hush + 3) / RATE_HZ)
    assert len(joined) == 1


@pytest.mark.parametrize("gain", [1.0, 0.3, 0.1])
def test_edges_do_not_depend_on_the_level(clip_with_hush, gain):
    clip = clip_with_hush(np.random.default_rng(3))
    wanted = speech_spans(clip, sample_rate_hz=RATE_HZ, min_hush_s=0.3)
    scaled = (clip * np.float32(gain)).astype(np.float32)
    assert speech_spans(scaled, sample_rate_hz=RATE_HZ, min_hush_s=0.3) == wanted
    # truth of this clip: speech from 0.3 s to 1.1 s, whose rhythm starts and ends softly
    assert wanted[0][0] / RATE_HZ == pytest.approx(0.3, abs=0.03)
    assert wanted[-1][1] / RATE_HZ == pytest.approx(1.1, abs=0.03)


def test_threshold_follows_the_rule():
    quiet = np.tile([1.0, 1.0, -1.0, -1.0], 6_000)
    loud = 0.1 * quiet  # every window at -20 dBFS exactly
    for quiet_dbfs, wanted in ((-90.0, -60.0), (-50.0, -42.0), (-24.0, -60.0)):
        samples = np.concatenate([loud, quiet * 10 ** (quiet_dbfs / 20)]).astype(np.float32)
        assert speech_threshold_dbfs(samples, sample_rate_hz=RATE_HZ) == pytest.approx(wanted, abs=0.01)
    faint = (loud * 1e-3).astype(np.float32)  # -80 dBFS: the absolute floor holds
    assert speech_threshold_dbfs(
        np.concatenate([faint, np.zeros(24_000, np.float32)]), sample_rate_hz=RATE_HZ
    ) == pytest.approx(-85.0)


@pytest.mark.parametrize("n_samples", [1, 100, 24_000])
def test_silence_holds_no_speech(n_samples):
    silence = np.zeros(n_samples, np.float32)
    assert speech_spans(silence, sample_rate_hz=RATE_HZ, min_hush_s=0.3) == ()
    assert webrtc_spans(silence, sample_rate_hz=RATE_HZ, min_hush_s=0.3) == ()
    assert speech_threshold_dbfs(silence, sample_rate_hz=RATE_HZ) == -85.0


def test_one_loud_sample_is_a_span():
    samples = np.zeros(4_800, np.float32)
    samples[2_000] = 0.5
    assert speech_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=0.3) == ((2_000, 2_001),)


@given(hz=st.floats(5, 30), level_db=st.floats(-35, -22), tail_s=st.floats(0.3, 0.7))
def test_rumble_after_speech_is_no_speech(hz, level_db, tail_s):
    """A voice that leaves a rumble behind its last word ends with that word."""
    tone = (0.2 * np.sin(2 * np.pi * 500 * np.arange(24_000) / RATE_HZ)).astype(np.float32)
    t = np.arange(int(tail_s * RATE_HZ)) / RATE_HZ
    swell = np.minimum(1.0, np.minimum(t, t[::-1]) / 0.1)
    rumble = (0.2 * 10 ** (level_db / 20) * swell * np.cos(2 * np.pi * hz * t)).astype(np.float32)
    hush = np.zeros(7_200, np.float32)
    ((start, stop),) = speech_spans(
        np.concatenate([hush, tone, rumble, hush]), sample_rate_hz=RATE_HZ, min_hush_s=0.05
    )
    assert abs(start - 7_200) <= 2
    assert abs(stop - (7_200 + 24_000)) <= 0.03 * RATE_HZ


def test_a_constant_offset_is_no_speech():
    tone = (0.2 * np.sin(2 * np.pi * 500 * np.arange(24_000) / RATE_HZ)).astype(np.float32)
    samples = np.pad(tone, 12_000) + np.float32(0.02)
    ((start, stop),) = speech_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=0.05)
    assert abs(start - 12_000) <= 0.03 * RATE_HZ and abs(stop - 36_000) <= 0.03 * RATE_HZ


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 48_000])
def test_webrtc_finds_a_loud_voice_at_any_rate(syllables, rate_hz):
    speech = syllables(np.random.default_rng(5), duration_s=1.0, rate_hz=rate_hz)
    samples = np.pad(speech, (rate_hz, rate_hz))
    spans = webrtc_spans(samples, sample_rate_hz=rate_hz, min_hush_s=0.3)
    assert spans[-1][1] <= samples.size
    assert abs(spans[0][0] / rate_hz - 1.0) < 0.15
    assert 1.8 < spans[-1][1] / rate_hz < 2.3
    assert webrtc_spans(samples, sample_rate_hz=rate_hz, min_hush_s=0.3) == spans


def test_webrtc_refuses_what_it_does_not_know():
    samples = np.zeros(100, np.float32)
    with pytest.raises(AudioError, match="modes 0-3"):
        webrtc_spans(samples, sample_rate_hz=RATE_HZ, mode=4, min_hush_s=0.3)
    with pytest.raises(AudioError, match=r"frame_s 0\.04"):
        webrtc_spans(samples, sample_rate_hz=RATE_HZ, frame_s=0.04, min_hush_s=0.3)
    with pytest.raises(AudioError, match="peak"):
        webrtc_spans(samples + np.float32(2.0), sample_rate_hz=RATE_HZ, min_hush_s=0.3)
