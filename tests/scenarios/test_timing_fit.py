"""Fitting: a known law comes back; few transitions give a law and say so; every kind of transition is found."""

import numpy as np
import pytest
from scipy import stats

from duplexkit import RecipeError
from duplexkit.scenarios.events import label
from duplexkit.scenarios.quantile_law import law_of, quantile
from duplexkit.scenarios.timing import read_profile
from duplexkit.scenarios.timing_fit import ProfileSource, fit_profile, fit_table
from duplexkit.scenarios.transitions import Transitions, add_transitions

ROLES = {"0": "system", "1": "user"}
U = (np.arange(20_000) + 0.5) / 20_000
ABOUT = ProfileSource(name="x", variable="shift", source="test", language="en", licence="CC0-1.0")

LAWS = {
    "ex-Gaussian": stats.exponnorm(0.3 / 0.15, loc=0.15, scale=0.15),
    "uniform": stats.uniform(-0.3, 1.3),
    "gamma": stats.gamma(2.0, loc=-0.2, scale=0.2),
}


def dialogue(gaps_s, turn_s=2.0):
    """Words of a dialogue whose turns take over after those gaps, alternately user (1) and system (0)."""
    words, at, speaker = {"0": [], "1": []}, 0, "1"
    for gap_s in (*gaps_s, None):
        end = at + round(100 * turn_s)
        words[speaker].append((at, end))
        if gap_s is not None:
            at, speaker = end + round(100 * gap_s), "0" if speaker == "1" else "1"
    return words


def w1_s(table, law):
    grid = np.linspace(-2.0, 8.0, 20_001)
    exact = np.interp(U, law.cdf(grid), grid)
    return float(np.mean(np.abs(quantile(law_of(table.quantiles), U) - exact)))


@pytest.mark.parametrize("name", LAWS)
def test_two_thousand_transitions_of_a_known_law_recover_it_within_15_ms(name):
    """Through words, M3's rule and 10 ms rounding, as a user's files would."""
    law = LAWS[name]
    drawn = law.rvs(4000, random_state=np.random.default_rng(20))
    drawn = np.clip(drawn, -0.4, None)
    found = Transitions()
    for start in range(0, 4000, 40):
        add_transitions(found, label(dialogue(drawn[start : start + 40])), roles=ROLES, variable="shift")
    profile = fit_profile(found, ABOUT)
    for direction in ("user_to_system", "system_to_user"):
        table = profile.tables[direction]
        assert (table.n, table.method) == (2000, "quantiles")
        assert w1_s(table, law) <= 0.015


def test_both_directions_count_as_one_between_equals():
    found = Transitions()
    words = dialogue(np.tile([0.1, 0.5], 30))
    add_transitions(found, label(words), roles={"0": "equal", "1": "equal"}, variable="shift")
    profile = fit_profile(found, ABOUT)
    assert profile.tables["user_to_system"] == profile.tables["system_to_user"]
    assert profile.n == 60


def test_directions_stay_apart():
    found = Transitions()
    add_transitions(found, label(dialogue(np.tile([0.2, 0.6], 30))), roles=ROLES, variable="shift")
    profile = fit_profile(found, ABOUT)
    assert set(profile.tables["user_to_system"].quantiles) == {0.2}
    assert set(profile.tables["system_to_user"].quantiles) == {0.6}


@pytest.mark.parametrize("n", [40, 199])
def test_few_transitions_give_a_law_and_say_so(n):
    law = LAWS["ex-Gaussian"]
    table = fit_table("system_to_user", list(law.rvs(n, random_state=np.random.default_rng(6))))
    assert table.n == n
    assert table.method in ("ex_gaussian", "log_normal")
    assert set(table.law) >= {"low_s", "high_s"}
    assert w1_s(table, law) < 0.12
    assert fit_table("system_to_user", [0.1] * 19) is None


def test_too_few_are_refused_with_counts():
    found = Transitions()
    add_transitions(found, label(dialogue([0.2] * 6)), roles=ROLES, variable="shift")
    with pytest.raises(RecipeError, match="3 user_to_system, 3 system_to_user"):
        fit_profile(found, ABOUT)


def found_in(words, variable="shift"):
    found = Transitions()
    add_transitions(found, label(words), roles=ROLES, variable=variable)
    return found


def test_a_hold_a_token_and_a_barge_in_are_found():
    found = found_in(
        {
            # two phrases with a pause at 2.00 s, a silence of 0.90 s, then a turn that is interrupted
            "0": [(0, 200), (230, 500), (590, 1000)],
            # a token 0.15 s after the phrase end at 2.00 s; a barge-in at 9.0 s
            "1": [(215, 255), (900, 1200)],
        }
    )
    assert found.times["hold"] == [0.9]
    assert found.times["backchannel_lag"] == [pytest.approx(0.15)]
    assert found.times["backchannel_place"] == [pytest.approx(200 / 500)]
    assert found.times["barge_in_overlap"] == [pytest.approx(1.0)]
    assert found.times["barge_in_onset"] == [pytest.approx((900 - 590) / (1000 - 590))]
    assert (found.n_tokens, found.n_barge_ins, found.n_holds) == (1, 1, 1)


def test_a_contained_barge_in_overlaps_only_as_long_as_it_lasts():
    found = found_in({"0": [(0, 1000)], "1": [(300, 500)]})
    assert found.times["barge_in_overlap"] == [pytest.approx(2.0)]


def test_fto_counts_every_talkspurt_and_shift_does_not():
    words = {"0": [(0, 200), (300, 500)], "1": [(220, 260)]}  # a token between two turns of the other
    assert found_in(words).times.get("system_to_user") is None
    fto = found_in(words, variable="fto")
    assert fto.times["system_to_user"] == [pytest.approx(0.2)]
    assert fto.times["user_to_system"] == [pytest.approx(0.4)]
    inside = found_in({"0": [(0, 500)], "1": [(220, 260)]}, variable="fto")
    assert "system_to_user" not in inside.times  # it hands over nothing


def test_a_fitted_profile_can_be_read_back(tmp_path):
    from duplexkit.scenarios.timing import profile_json

    found = Transitions()
    add_transitions(found, label(dialogue(np.linspace(0, 1, 100))), roles=ROLES, variable="shift")
    profile = fit_profile(found, ABOUT)
    path = tmp_path / "x.json"
    path.write_text(profile_json(profile), encoding="utf-8")
    assert read_profile(path) == profile
    assert profile.status == "estimated"
