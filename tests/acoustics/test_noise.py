import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import welch

from duplexkit import AudioError
from duplexkit.acoustics.noise import (
    COLOURS,
    NoiseParams,
    draw_noise,
    make_noise,
    noise_floor,
    recorded_noise,
    samples_sha256,
)

RATE_HZ = 24_000


def rms_db(samples):
    return 10 * np.log10(np.mean(samples.astype(np.float64) ** 2))


@pytest.mark.parametrize(("colour", "slope_db"), [("white", 0.0), ("pink", -3.01), ("brown", -6.02)])
def test_each_colour_falls_as_its_name_says(colour, slope_db):
    noise = noise_floor(
        60 * RATE_HZ, np.random.default_rng(0), level_dbov=-30.0, colour=colour, sample_rate_hz=RATE_HZ
    )
    hz, power = welch(noise, RATE_HZ, nperseg=8_192)
    octaves = [
        10 * np.log10(np.mean(power[(hz >= low) & (hz < 2 * low)]))
        for low in (62.5, 125, 250, 500, 1_000, 2_000)
    ]
    np.testing.assert_allclose(np.diff(octaves), slope_db, atol=0.5)


@settings(max_examples=40)
@given(
    n=st.integers(1, 5_000),
    level=st.floats(-100, -10),
    colour=st.sampled_from(COLOURS),
    seed=st.integers(0, 9),
)
def test_the_level_is_exact(n, level, colour, seed):
    noise = noise_floor(
        n, np.random.default_rng(seed), level_dbov=level, colour=colour, sample_rate_hz=RATE_HZ
    )
    assert noise.shape == (n,) and noise.dtype == np.float32
    assert rms_db(noise) == pytest.approx(level, abs=1e-3)


@given(length=st.integers(4_800, 20_000), n=st.integers(1, 60_000), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_a_recording_is_cut_or_repeated_without_a_hole(length, n, seed):
    recording = np.random.default_rng(1).uniform(-0.5, 0.5, length).astype(np.float32)
    copy = recording.copy()
    noise = recorded_noise(
        recording, n, np.random.default_rng(seed), level_dbov=-40.0, sample_rate_hz=RATE_HZ
    )
    assert noise.shape == (n,) and rms_db(noise) == pytest.approx(-40.0, abs=1e-3)
    np.testing.assert_array_equal(recording, copy)
    if n >= 4_800:  # no stretch of it is much fainter than the rest
        blocks = noise[: n - n % 1_200].reshape(-1, 1_200)
        assert np.min(10 * np.log10(np.mean(blocks.astype(float) ** 2, axis=1))) > -41.5


def test_params_make_the_same_noise_at_the_stated_ratio():
    params = draw_noise(np.random.default_rng(0), snr_db=(20.0, 20.0))
    one, two = (
        make_noise(params, n_samples=9_000, speech_level_dbov=-26.0, sample_rate_hz=RATE_HZ) for _ in range(2)
    )
    assert one.tobytes() == two.tobytes() and rms_db(one) == pytest.approx(-46.0, abs=1e-3)


def test_a_recording_is_known_by_its_hash():
    recording = np.random.default_rng(0).uniform(-0.1, 0.1, 9_000).astype(np.float32)
    params = NoiseParams(recording=samples_sha256(recording), snr_db=10.0, seed=1)
    numbers = {"n_samples": 100, "speech_level_dbov": -26.0, "sample_rate_hz": RATE_HZ}
    noise = make_noise(params, recording=recording, **numbers)
    assert rms_db(noise) == pytest.approx(-36.0, abs=1e-3)
    with pytest.raises(AudioError, match="wants the recording with hash"):
        make_noise(params, recording=recording[1:], **numbers)
    with pytest.raises(AudioError, match="wants the recording with hash"):
        make_noise(params, **numbers)


def test_what_is_no_noise_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(AudioError, match="give one of them"):
        NoiseParams(snr_db=10.0, seed=0)
    with pytest.raises(AudioError, match="wanted a kind"):
        draw_noise(rng, colours=())
    with pytest.raises(AudioError, match="wanted a kind and a range"):
        draw_noise(rng, snr_db=(20.0, 10.0))
    with pytest.raises(AudioError, match="colour 'violet'"):
        noise_floor(10, rng, level_dbov=-30.0, colour="violet", sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="n_samples 0"):
        noise_floor(0, rng, level_dbov=-30.0, sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="level_dbov is 10"):
        noise_floor(10, rng, level_dbov=10.0, sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="at least 4800"):
        recorded_noise(np.ones(100, np.float32), 10, rng, level_dbov=-30.0, sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="only zeros"):
        recorded_noise(np.zeros(9_000, np.float32), 10, rng, level_dbov=-30.0, sample_rate_hz=RATE_HZ)
