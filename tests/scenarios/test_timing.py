"""Profiles: shipped ones are made from their laws and have the stated means; wrong ones are refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from duplexkit import RecipeError
from duplexkit.scenarios import make_profiles
from duplexkit.scenarios.quantile_law import (
    cut_law,
    ks_distance,
    law_of,
    probability_below,
    probability_up_to,
    quantile,
    wasserstein_distance,
)
from duplexkit.scenarios.strata import serial_correlation, strata
from duplexkit.scenarios.timing import (
    DIRECTIONS,
    load_profile,
    profile_digest,
    profile_json,
    read_profile,
    require_variable,
    shipped_profiles,
    table_law,
)
from duplexkit.scenarios.timing_laws import PROBABILITIES, ex_gaussian_quantiles, log_normal_quantiles
from duplexkit.scenarios.timing_show import describe

U = (np.arange(100_000) + 0.5) / 100_000
WANTED = {
    "constant",
    "en-fto-v1",
    "ja-shift-toy-v1",
    "qa-system-constant-v1",
    "qa-system-exgauss-v1",
    "shared-shift-v1",
    "uniform",
}


def mean_s(name, direction="system_to_user"):
    return float(quantile(table_law(load_profile(name), direction), U).mean())


def test_shipped_profiles_are_made_from_their_laws(tmp_path):
    make_profiles.main(tmp_path)
    assert set(shipped_profiles()) == WANTED == {path.stem for path in tmp_path.glob("*.json")}
    for name in WANTED:
        made = read_profile(tmp_path / f"{name}.json")
        assert profile_digest(made) == profile_digest(load_profile(name))


def test_the_two_variables_have_the_means_that_tell_them_apart():
    assert load_profile("ja-shift-toy-v1").variable == "shift"
    assert mean_s("ja-shift-toy-v1") == pytest.approx(0.546, abs=0.001)
    assert load_profile("en-fto-v1").variable == "fto"
    assert mean_s("en-fto-v1") == pytest.approx(0.287, abs=0.001)


def test_en_fto_has_the_published_anchors():
    law = table_law(load_profile("en-fto-v1"), "system_to_user")
    drawn = quantile(law, U)
    assert np.median(drawn) == pytest.approx(0.233, abs=0.001)
    assert drawn.std() == pytest.approx(0.425, abs=0.002)
    assert np.mean(drawn < 0) == pytest.approx(0.28, abs=0.005)
    assert np.quantile(drawn, 0.95) == pytest.approx(1.06, abs=0.005)


def test_the_system_answers_at_m3s_constant():
    assert set(load_profile("qa-system-constant-v1").tables["user_to_system"].quantiles) == {0.2}


@pytest.mark.parametrize("name", sorted(WANTED))
def test_a_profile_survives_its_file(name, tmp_path):
    profile = load_profile(name)
    path = tmp_path / "x.json"
    path.write_text(profile_json(profile), encoding="utf-8")
    assert read_profile(path) == profile
    assert json.loads(path.read_text(encoding="utf-8"))["status"] == "anchored, not estimated"
    assert all(len(table.quantiles) == 101 for table in profile.tables.values())


def test_every_profile_can_be_looked_at():
    for name in WANTED:
        text = describe(load_profile(name))
        assert name in text and "anchored, not estimated" in text


def test_variables_are_checked_where_they_are_used():
    require_variable(load_profile("shared-shift-v1"), "shift")
    with pytest.raises(RecipeError, match="'en-fto-v1' holds 'fto', but 'shift' is wanted"):
        require_variable(load_profile("en-fto-v1"), "shift")


@pytest.mark.parametrize(
    ("name", "low", "high"), [("constant:0.35", 0.35, 0.35), ("uniform:-0.1:0.5", -0.1, 0.5)]
)
def test_controlled_profiles(name, low, high):
    profile = load_profile(name)
    assert profile.name == name
    for direction in DIRECTIONS:
        points = profile.tables[direction].quantiles
        assert (points[0], points[-1]) == (low, high)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variable": "gap"}, "variable = 'gap'; wanted shift or fto"),
        ({"tables": {"user_to_sistem": {}}}, "did you mean 'user_to_system'"),
        ({"tables": {"hold": {"unit": "ms"}}}, r"tables.hold: no timing profile: the key 'n' is missing"),
        ({"tables": {}}, "neither user_to_system nor system_to_user"),
        ({"tables": []}, r"tables: no timing profile: \[\]; wanted an object"),
        ({"tables": {"user_to_system": 5}}, "tables.user_to_system: no timing profile: 5; wanted an object"),
        ({"n": "many"}, 'n = "many"; wanted a whole number, or null'),
        ({"n": True}, "n = true; wanted"),
        ({"version": 1.5}, "version = 1.5; wanted a whole number"),
        ({"name": ["a"]}, r'name = \["a"\]; wanted a text'),
        ({"licence": None}, "licence = null; wanted a text"),
        ({"rate": {}}, "rate: unknown key; did you mean 'rates'"),
        ({"rates": {"speed": 1}}, "rates.speed: unknown key; known: backchannels_per_minute"),
        ({"rates": {"barge_in_share": float("nan")}}, "rates.barge_in_share = NaN; wanted a number from 0"),
        ({"rates": [1]}, r"rates: no timing profile: \[1\]; wanted an object"),
    ],
)
def test_a_wrong_profile_is_refused_by_file_and_key(change, message, tmp_path):
    data = json.loads(profile_json(load_profile("uniform")))
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**data, **change}), encoding="utf-8")
    with pytest.raises(RecipeError, match=message) as caught:
        load_profile(str(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 100_000, '"profile"', "\x00"])
def test_what_is_no_profile_at_all_is_refused(text, tmp_path):
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match="no timing profile: "):
        load_profile(str(path))
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(RecipeError, match="not UTF-8 text"):
        read_profile(path)


@pytest.mark.parametrize(
    "name", ["constant:1e9", "constant:nan", "constant:inf", "uniform:-61:0", "uniform:0:121", "constant:0:1"]
)
def test_controlled_profiles_stay_within_what_a_dialogue_can_hold(name):
    with pytest.raises(RecipeError, match="seconds from -60 to 120"):
        load_profile(name)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([0.0] * 100, "100 quantiles; wanted a list of 101"),
        ([1.0, *[0.0] * 100], "must be ascending"),
        (["0.1"] * 101, r'quantiles\[0\] = "0.1"; wanted a number from -60 to 120'),
        ([*[0.0] * 100, float("nan")], r"quantiles\[100\] = NaN"),
        ([*[0.0] * 100, 1e9], r"quantiles\[100\] = 1000000000.0; wanted a number from -60 to 120"),
        ([[0.0]] * 101, r"quantiles\[0\] = \[0.0\]"),
        ({"0": 0.0}, "wanted a list of 101"),
    ],
)
def test_wrong_quantiles_are_refused(points, message, tmp_path):
    data = json.loads(profile_json(load_profile("uniform")))
    data["tables"]["hold"]["quantiles"] = points
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(RecipeError, match=f"tables.hold.*{message}"):
        read_profile(path)


def test_laws_equal_those_of_scipy():
    law = stats.exponnorm(0.5 / 0.22, loc=0.05, scale=0.22)
    ours = ex_gaussian_quantiles(mu_s=0.05, sigma_s=0.22, tau_s=0.5, low_s=-3.0, high_s=15.0)
    assert ours[1:-1] == pytest.approx(law.ppf(PROBABILITIES[1:-1]), abs=2e-4)
    law = stats.lognorm(0.964, loc=-0.45, scale=0.674)
    ours = log_normal_quantiles(origin_s=-0.45, shape=0.964, scale_s=0.674, low_s=-0.45, high_s=80.0)
    assert ours[1:-1] == pytest.approx(law.ppf(PROBABILITIES[1:-1]), abs=2e-4)


def test_the_ends_of_a_table_keep_the_mean():
    low, high, law = -0.4, 6.0, stats.exponnorm(0.285 / 0.389, loc=-0.081, scale=0.389)
    u = law.cdf(low) + U * (law.cdf(high) - law.cdf(low))
    grid = np.linspace(low, high, 64_001)
    exact = np.interp(u, law.cdf(grid), grid)
    assert mean_s("en-fto-v1") == pytest.approx(exact.mean(), abs=3e-4)


microseconds = st.integers(
    -5_000_000, 5_000_000
)  # finer times are none: quantiles would differ by rounding alone
ascending = st.lists(microseconds, min_size=2, max_size=30).map(
    lambda v: law_of(tuple(t / 1e6 for t in sorted(v)))
)


@given(ascending, st.floats(0, 1))
def test_quantile_and_probability_invert_each_other(law, u):
    value = float(quantile(law, u))
    assert float(probability_below(law, value)) <= u + 1e-9
    assert float(probability_up_to(law, value)) >= u - 1e-9


@given(ascending, st.floats(-5, 5))
def test_probability_is_that_of_a_large_sample(law, x):
    drawn = quantile(law, (np.arange(2000) + 0.5) / 2000)
    assert float(probability_up_to(law, x + 1e-9)) >= np.mean(drawn <= x) - 1e-3
    assert float(probability_below(law, x - 1e-9)) <= np.mean(drawn < x) + 1e-3


def test_cutting_a_law_keeps_its_shape_inside():
    law = table_law(load_profile("shared-shift-v1"), "system_to_user")
    cut = cut_law(law, low=-0.3, high=1.0)
    drawn = quantile(law, U)
    inside = drawn[(drawn >= -0.3) & (drawn <= 1.0)]
    assert ks_distance(inside, cut) < 1e-4
    with pytest.raises(RecipeError, match="nothing of the timing law"):
        cut_law(law, low=10.0, high=11.0)


def test_ks_and_w1_equal_scipys():
    rng = np.random.default_rng(2)
    sample = rng.uniform(-0.1, 1.0, 300)
    law = law_of((0.0, 1.0))
    assert ks_distance(sample, law) == pytest.approx(stats.kstest(sample, "uniform").statistic, abs=1e-12)
    exact = stats.wasserstein_distance(sample, U)
    assert wasserstein_distance(sample, law) == pytest.approx(exact, abs=1e-4)


def test_a_constant_law_is_met_to_the_sample():
    law = law_of((0.2, 0.2))
    assert ks_distance([0.2 + 1e-5, 0.2 - 1e-5], law) == 0.5
    assert ks_distance([0.2 + 1e-5, 0.2 - 1e-5], law, resolution=2e-5) == 0.0
    assert ks_distance([0.2, 0.3], law, resolution=2e-5) == 0.5


@given(st.lists(st.integers(0, 15), min_size=1, max_size=12), st.integers(0, 2**32))
def test_strata_hold_one_value_each(counts, seed):
    made = strata(np.random.default_rng(seed), tuple(counts), n_draws=3)
    assert [each.shape for each in made] == [(count, 3) for count in counts]
    n = sum(counts)
    if n:
        drawn = np.concatenate(made)
        for k in range(3):
            assert sorted(np.floor(drawn[:, k] * n).astype(int)) == list(range(n))
        assert ks_distance(drawn[:, 0], law_of((0.0, 1.0))) < 1 / n


def test_serial_correlation_is_spearmans_inside_sequences():
    rng = np.random.default_rng(4)
    sequences = tuple(rng.normal(size=n) for n in (8, 1, 5))
    first = np.concatenate([s[:-1] for s in sequences])
    second = np.concatenate([s[1:] for s in sequences])
    assert serial_correlation(sequences) == pytest.approx(stats.spearmanr(first, second).statistic)
    assert serial_correlation((np.ones(9),)) == 0.0
