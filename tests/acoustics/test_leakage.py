import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import AudioError
from duplexkit.acoustics.leakage import LeakageParams, draw_leakage, leak

RATE_HZ = 24_000


@settings(max_examples=40)
@given(
    seed=st.integers(0, 99),
    level_db=st.floats(-60, 0),
    delay=st.integers(0, 3_000),
    echoes=st.integers(1, 2_000),
)
def test_the_leak_has_its_level_and_delay(seed, level_db, delay, echoes):
    rng = np.random.default_rng(seed)
    system = np.zeros(20_000, np.float32)
    system[2_000:9_000] = rng.uniform(-0.3, 0.3, 7_000)
    copy = system.copy()
    rir = (rng.standard_normal(echoes) * np.exp(-np.arange(echoes) / 200)).astype(np.float32)
    rir[0] = 1.0
    params = LeakageParams(level_db=level_db, delay_s=delay / RATE_HZ)
    leaked = leak(
        system, params, spans=[(2_000, 9_000)], rir=rir, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ
    )
    np.testing.assert_array_equal(system, copy)
    assert leaked.shape == system.shape
    span = leaked[2_000 + delay : 9_000 + delay].astype(float)
    assert 10 * np.log10(np.mean(span**2)) == pytest.approx(-26.0 + level_db, abs=1e-3)
    assert np.max(np.abs(leaked[: 2_000 + delay - 1]), initial=0.0) < 1e-5 * np.max(np.abs(span))
    assert abs(leaked[2_000 + delay]) > 0.0


def test_without_a_room_it_is_the_stem_itself():
    system = np.random.default_rng(0).uniform(-0.3, 0.3, 5_000).astype(np.float32)
    params = LeakageParams(level_db=-20.0, delay_s=0.01)
    leaked = leak(
        system, params, spans=[(0, 5_000)], rir=None, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ
    )
    ratio = leaked[240:] / system[:-240]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)


def test_what_would_leak_after_the_end_is_cut():
    system = np.ones(1_000, np.float32) * np.float32(0.1)
    params = LeakageParams(level_db=-20.0, delay_s=0.03)
    leaked = leak(
        system, params, spans=[(0, 1_000)], rir=None, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ
    )
    np.testing.assert_array_equal(leaked[:720], 0.0)
    assert np.all(leaked[720:] > 0)


def test_draws_keep_to_their_ranges_and_bad_numbers_are_refused():
    rng = np.random.default_rng(0)
    for _ in range(50):
        params = draw_leakage(rng)
        assert -40 <= params.level_db <= -15 and 0.02 <= params.delay_s <= 0.25
    with pytest.raises(AudioError, match="level_db is 30"):
        LeakageParams(level_db=30.0, delay_s=0.0)
    silent = np.zeros(100, np.float32)
    with pytest.raises(AudioError, match="zeros"):
        leak(
            silent,
            LeakageParams(level_db=-20.0, delay_s=0.0),
            spans=[(0, 100)],
            rir=None,
            reference_level_dbov=-26.0,
            sample_rate_hz=RATE_HZ,
        )
