import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from duplexkit import AudioError
from duplexkit.acoustics.filters import echo, high_shelf, low_pass, taps

RATE_HZ = 24_000
GRID_HZ = np.geomspace(50, 10_000, 60)


def response_db(impulse_response, hz=GRID_HZ):
    n = np.arange(impulse_response.size)
    return 20 * np.log10(
        np.abs(np.exp(-2j * np.pi * hz[:, None] * n / RATE_HZ) @ impulse_response.astype(float))
    )


def click(n_samples=4_800):
    samples = np.zeros(n_samples, np.float32)
    samples[0] = 1.0
    return samples


def cookbook_high_shelf(corner_hz, gain_db, q):
    """R. Bristow-Johnson's high shelf, b and a."""
    a, w = 10 ** (gain_db / 40), 2 * np.pi * corner_hz / RATE_HZ
    alpha, cos = np.sin(w) / (2 * q), np.cos(w)
    b = [
        a * ((a + 1) + (a - 1) * cos + 2 * np.sqrt(a) * alpha),
        -2 * a * ((a - 1) + (a + 1) * cos),
        a * ((a + 1) + (a - 1) * cos - 2 * np.sqrt(a) * alpha),
    ]
    return np.array(b), np.array(
        [
            (a + 1) - (a - 1) * cos + 2 * np.sqrt(a) * alpha,
            2 * ((a - 1) - (a + 1) * cos),
            (a + 1) - (a - 1) * cos - 2 * np.sqrt(a) * alpha,
        ]
    )


def bilinear_low_pass(corner_hz):
    k = np.tan(np.pi * corner_hz / RATE_HZ)
    return np.array([k, k]) / (1 + k), np.array([1.0, (k - 1) / (k + 1)])


def polynomial_db(b, a, hz=GRID_HZ):
    z = np.exp(-2j * np.pi * hz / RATE_HZ)
    return 20 * np.log10(np.abs(np.polyval(b[::-1], z) / np.polyval(a[::-1], z)))


@pytest.mark.parametrize(
    ("corner_hz", "gain_db", "q"), [(2_000, -12, 0.5), (1_230, -6, 0.71), (2_740, -23, 0.4)]
)
def test_shelf_matches_its_formula(corner_hz, gain_db, q):
    result = high_shelf(click(), corner_hz=corner_hz, gain_db=gain_db, q=q, sample_rate_hz=RATE_HZ)
    wanted = polynomial_db(*cookbook_high_shelf(corner_hz, gain_db, q))
    np.testing.assert_allclose(response_db(result), wanted, atol=0.02)
    assert response_db(result, np.array([float(corner_hz)]))[0] == pytest.approx(gain_db / 2, abs=0.01)


@pytest.mark.parametrize(("corner_hz", "n_sections"), [(2_500, 1), (2_500, 2), (500, 2), (4_000, 4)])
def test_low_pass_matches_its_formula(corner_hz, n_sections):
    result = low_pass(click(), corner_hz=corner_hz, n_sections=n_sections, sample_rate_hz=RATE_HZ)
    wanted = n_sections * polynomial_db(*bilinear_low_pass(corner_hz))
    np.testing.assert_allclose(response_db(result), wanted, atol=0.02)
    at_corner = response_db(result, np.array([float(corner_hz)]))[0]
    assert at_corner == pytest.approx(-3.0103 * n_sections, abs=0.01)


def test_pedalboard_is_scipy_within_100_db(syllables):
    speech = syllables(np.random.default_rng(0), duration_s=2.0)
    b, a = cookbook_high_shelf(2_000, -12, 0.5)
    pairs = [
        (
            high_shelf(speech, corner_hz=2_000, gain_db=-12, q=0.5, sample_rate_hz=RATE_HZ),
            lfilter(b, a, speech.astype(float)),
        ),
        (
            low_pass(speech, corner_hz=2_500, n_sections=2, sample_rate_hz=RATE_HZ),
            lfilter(*bilinear_low_pass(2_500), lfilter(*bilinear_low_pass(2_500), speech.astype(float))),
        ),
    ]
    for ours, theirs in pairs:
        residual = 10 * np.log10(np.mean((ours - theirs) ** 2) / np.mean(theirs**2))
        assert residual < -100.0


def test_taps_land_on_their_samples():
    # delays that a float32 of seconds would truncate one sample short
    delays = (0.005, 0.011, 0.020, 0.080)
    result = taps(click(10), delays_s=delays, gains_db=(-6, -7, -8, -20), sample_rate_hz=RATE_HZ)
    assert result.size == 10 + 1_920
    np.testing.assert_array_equal(np.flatnonzero(result), [0, 120, 264, 480, 1_920])
    np.testing.assert_allclose(result[result != 0], [1, 0.501187, 0.446684, 0.398107, 0.1], rtol=1e-5)


def test_echo_matches_its_formula():
    result = echo(click(1), delay_s=0.08, gain_db=-12.0, feedback=0.25, sample_rate_hz=RATE_HZ)
    g = 10 ** (-12 / 20)
    hz = np.linspace(20, 400, 400)
    z = np.exp(-2j * np.pi * hz * 1_920 / RATE_HZ)
    wanted = 20 * np.log10(np.abs(1 + g * z / (1 - 0.25 * z)))
    np.testing.assert_allclose(response_db(result, hz), wanted, atol=0.02)
    at = np.flatnonzero(result)
    np.testing.assert_array_equal(at % 1_920, 0)
    np.testing.assert_allclose(result[at[:4]], [1, g, g / 4, g / 16], rtol=1e-5)
    assert result[at[-1]] < 1e-4 <= result[at[-2]]


@settings(max_examples=40)
@given(
    n=st.integers(1, 5_000),
    delay_s=st.floats(0.001, 0.3),
    gain_db=st.floats(-40, 0),
    feedback=st.floats(0, 0.6),
    seed=st.integers(0, 2**32 - 1),
)
def test_echo_is_the_sum_of_its_repeats(n, delay_s, gain_db, feedback, seed):
    samples = np.random.default_rng(seed).uniform(-1, 1, n).astype(np.float32)
    copy = samples.copy()
    result = echo(samples, delay_s=delay_s, gain_db=gain_db, feedback=feedback, sample_rate_hz=RATE_HZ)
    delay = int(np.floor(delay_s * RATE_HZ + 0.5))
    wanted = np.zeros(result.size)
    wanted[:n] = samples
    for k in range(1, (result.size - n) // delay + 1):
        wanted[k * delay : k * delay + n] += samples * 10 ** (gain_db / 20) * feedback ** (k - 1)
    np.testing.assert_allclose(result, wanted, atol=3e-4)
    np.testing.assert_array_equal(samples, copy)


@settings(max_examples=25)
@given(n=st.integers(1, 3_000), seed=st.integers(0, 2**32 - 1), a=st.floats(-2, 2), b=st.floats(-2, 2))
def test_every_effect_is_linear_and_causal(n, seed, a, b):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-0.5, 0.5, (2, n)).astype(np.float32)
    both = (a * x + b * y).astype(np.float32)
    late = np.concatenate([np.zeros(37, np.float32), x])
    for effect in (
        lambda s: high_shelf(s, corner_hz=2_000, gain_db=-12, q=0.5, sample_rate_hz=RATE_HZ),
        lambda s: low_pass(s, corner_hz=2_500, n_sections=2, sample_rate_hz=RATE_HZ),
        lambda s: taps(s, delays_s=[0.003], gains_db=[-6], sample_rate_hz=RATE_HZ),
        lambda s: echo(s, delay_s=0.01, gain_db=-12, feedback=0.25, sample_rate_hz=RATE_HZ),
    ):
        np.testing.assert_allclose(effect(both), a * effect(x) + b * effect(y), atol=2e-5)
        np.testing.assert_allclose(effect(late)[37:], effect(x), atol=1e-6)
        np.testing.assert_array_equal(effect(late)[:37], 0.0)


@pytest.mark.parametrize(
    ("effect", "numbers", "message"),
    [
        (high_shelf, {"corner_hz": 2_000, "gain_db": -12, "q": 1.5}, "q is 1.5"),
        (high_shelf, {"corner_hz": 11_000, "gain_db": -12, "q": 0.5}, "corner_hz is 11000"),
        (high_shelf, {"corner_hz": 2_000, "gain_db": float("nan"), "q": 0.5}, "gain_db is nan"),
        (low_pass, {"corner_hz": 2_000, "n_sections": 0}, "n_sections is 0"),
        (taps, {"delays_s": [0.1], "gains_db": []}, "1 delays_s and 0 gains_db"),
        (taps, {"delays_s": [-0.1], "gains_db": [-6]}, "a delay of delays_s is -0.1"),
        (echo, {"delay_s": 0.08, "gain_db": -12, "feedback": 1.0}, "feedback is 1.0"),
        (echo, {"delay_s": 0.08, "gain_db": 3, "feedback": 0.2}, "gain_db is 3"),
    ],
)
def test_numbers_out_of_range_are_refused(effect, numbers, message):
    with pytest.raises(AudioError, match=message):
        effect(np.ones(10, np.float32), sample_rate_hz=RATE_HZ, **numbers)
