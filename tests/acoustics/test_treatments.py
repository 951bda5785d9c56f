import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import AudioError
from duplexkit.acoustics.draw import TreatmentParams
from duplexkit.acoustics.level import scale_to_level
from duplexkit.acoustics.presets import PRESETS, Number
from duplexkit.acoustics.treatments import (
    TREATMENTS,
    apply_treatment,
    draw_treatment,
    treat,
    treatment_from_json,
    treatment_to_json,
)

RATE_HZ = 24_000
CALIBRATED = sorted(preset.name for preset in PRESETS if preset.target_db is not None)
GAIN_FIRST = sorted(preset.name for preset in PRESETS if preset.gain_first_db is not None)
GEOMETRY = sorted(preset.name for preset in PRESETS if preset.room is not None)


def test_the_presets_are_those_we_promise():
    assert set(CALIBRATED) == {
        "off_axis@1",
        "off_axis_varied@1",
        "next_room@1",
        "next_room_varied@1",
        "closed_door@1",
    }
    assert set(GAIN_FIRST) == {"off_axis_gain_first@1", "next_room_gain_first@1"}
    assert set(GEOMETRY) == {"turned_away_room@1", "second_talker_room@1"}


def test_the_fixed_presets_have_the_published_levels():
    rng = np.random.default_rng(0)
    state = rng.bit_generator.state
    assert draw_treatment("off_axis@1", rng).target_db == -8.0
    assert draw_treatment("next_room@1", rng).target_db == -15.0
    assert draw_treatment("off_axis_gain_first@1", rng).gain_first_db == -8.0
    assert draw_treatment("next_room_gain_first@1", rng).gain_first_db == -15.0
    assert rng.bit_generator.state == state  # fixed numbers take nothing from the generator


def test_every_number_of_every_preset_has_a_source():
    numbers = 0
    for preset in PRESETS:
        for field in preset.__dataclass_fields__:
            value = getattr(preset, field)
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, Number):
                    numbers += 1
                    assert len(number.source) >= len("our choice")
    assert numbers > 60


def test_an_unknown_preset_answers_with_those_there_are():
    with pytest.raises(AudioError, match=r"'off_axis' is unknown; known are .*off_axis@1"):
        draw_treatment("off_axis", np.random.default_rng(0))


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(TREATMENTS)), seed=st.integers(0, 2**32 - 1))
def test_params_survive_json_and_keep_to_their_ranges(name, seed):
    params = draw_treatment(name, np.random.default_rng(seed))
    assert treatment_from_json(json.loads(json.dumps(treatment_to_json(params)))) == params
    assert draw_treatment(name, np.random.default_rng(seed)) == params
    preset = TREATMENTS[name]
    for field in ("target_db", "low_pass_hz", "echo_delay_s", "echo_gain_db", "angle_deg"):
        number = getattr(preset, field)
        if number is not None:
            assert number.low <= getattr(params, field) <= number.high
    assert len(params.tap_delays_s) == len(preset.tap_delays_s)
    if params.talker is not None:
        distance = np.linalg.norm(np.subtract(params.talker.position_m, params.room.microphone_m))
        assert distance < 8.0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"preset": "off_axis@1", "target_db": -8, "colour": 1}, "has no colour"),
        ({"target_db": -8.0}, "preset"),
        ({"preset": "x"}, "exactly one"),
        ({"preset": "x", "target_db": -8.0, "gain_first_db": -8.0}, "exactly one"),
        ({"preset": "x", "target_db": -8.0, "shelf_q": 0.5}, "all of their parts"),
        ({"preset": "x", "target_db": -8.0, "tap_gains_db": [-6.0]}, "differ in length"),
    ],
)
def test_numbers_that_are_no_treatment_are_refused(data, message):
    with pytest.raises(AudioError, match=message):
        treatment_from_json(data)


def _event(syllables, rng, duration_s=0.9):
    """A trimmed clip at the normal level: 15 ms, speech, 15 ms; and its span."""
    speech = syllables(rng, duration_s=duration_s)
    clip = np.pad(speech, (360, 360))
    span = (360, 360 + speech.size)
    return scale_to_level(clip, spans=[span], level_dbov=-26.0), span


def plain_level_db(samples, span):
    """Level over a span by other code than ours."""
    cut = [float(x) for x in samples[span[0] : span[1]]]
    return 10 * np.log10(sum(x * x for x in cut) / len(cut))


@pytest.mark.parametrize("name", CALIBRATED)
def test_the_level_is_the_target_and_the_input_stays(syllables, name):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        clip, span = _event(syllables, rng)
        copy = clip.copy()
        params = draw_treatment(name, rng)
        treated = treat(clip, params, span=span, reference_level_dbov=-25.3, sample_rate_hz=RATE_HZ)
        np.testing.assert_array_equal(clip, copy)
        assert treated.measured_db == pytest.approx(params.target_db, abs=1e-3)
        assert plain_level_db(treated.samples, span) + 25.3 == pytest.approx(params.target_db, abs=1e-3)


@pytest.mark.parametrize("name", sorted(TREATMENTS))
def test_the_end_is_where_it_has_faded_below_40_db(syllables, name):
    rng = np.random.default_rng(8)
    clip, span = _event(syllables, rng)
    params = draw_treatment(name, rng)
    treated = treat(clip, params, span=span, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ)
    assert treated.samples.size == treated.audible_stop >= span[1] + 120
    assert abs(treated.samples[-1]) < 1e-5
    whole = apply_treatment(clip, params, sample_rate_hz=RATE_HZ)
    whole = whole * (treated.samples[span[0] : span[1]] @ whole[span[0] : span[1]])
    whole /= np.sum(apply_treatment(clip, params, sample_rate_hz=RATE_HZ)[span[0] : span[1]] ** 2)
    limit = 10 ** ((plain_level_db(treated.samples, span) - 40) / 20)
    assert np.max(np.abs(whole[treated.audible_stop :]), initial=0.0) <= limit * 1.001
    # nothing but the last 5 ms is faded
    same = slice(0, treated.audible_stop - 120)
    np.testing.assert_allclose(treated.samples[same], whole[same], atol=1e-6)


@pytest.mark.parametrize("name", sorted(TREATMENTS))
def test_a_click_stays_where_it_is(name):
    rng = np.random.default_rng(2)
    params = draw_treatment(name, rng)
    clip = np.zeros(4_000, np.float32)
    clip[1_234] = 0.5
    result = apply_treatment(clip, params, sample_rate_hz=RATE_HZ)
    first = int(np.argmax(np.abs(result) > 0.05 * np.max(np.abs(result))))
    assert abs(first - 1_234) <= 1


@pytest.mark.parametrize("name", sorted(TREATMENTS))
def test_the_numbers_of_the_row_make_the_same_bytes(syllables, name):
    rng = np.random.default_rng(11)
    clip, span = _event(syllables, rng)
    params = draw_treatment(name, rng)
    row = json.dumps(treatment_to_json(params))
    one = treat(clip, params, span=span, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ)
    two = treat(
        clip,
        treatment_from_json(json.loads(row)),
        span=span,
        reference_level_dbov=-26.0,
        sample_rate_hz=RATE_HZ,
    )
    assert one.samples.tobytes() == two.samples.tobytes()


@pytest.mark.parametrize("name", GAIN_FIRST)
def test_gain_first_reports_its_level_and_forces_none(syllables, name):
    rng = np.random.default_rng(4)
    clip, span = _event(syllables, rng)
    params = draw_treatment(name, rng)
    treated = treat(clip, params, span=span, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ)
    filtered = apply_treatment(clip, params, sample_rate_hz=RATE_HZ)
    wanted = params.gain_first_db + plain_level_db(filtered, span) - plain_level_db(clip, span)
    assert treated.measured_db == pytest.approx(wanted, abs=1e-3)
    assert abs(treated.measured_db - params.gain_first_db) > 0.1


def test_geometry_makes_its_own_level(syllables):
    rng = np.random.default_rng(5)
    clip, span = _event(syllables, rng)
    levels = []
    for _ in range(8):
        params = draw_treatment("turned_away_room@1", rng)
        turned = abs((params.talker.facing_deg - params.room.user.facing_deg + 180) % 360 - 180)
        assert 90 <= turned <= 180 and params.talker.position_m == params.room.user.position_m
        treated = treat(clip, params, span=span, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ)
        levels.append(treated.measured_db)
    # a real talker who turns away in a room is some 1 to 9 dB fainter, never the 15 of another room
    assert min(levels) > -9.0 and max(levels) < -0.5


def test_a_second_talker_shares_the_room(syllables):
    rng = np.random.default_rng(6)
    room = draw_treatment("turned_away_room@1", rng).room
    params = draw_treatment("second_talker_room@1", rng, room=room)
    assert params.room == room and params.talker.position_m != room.user.position_m


def test_clipped_and_silent_clips_are_refused():
    params = draw_treatment("off_axis@1", np.random.default_rng(0))
    numbers = {"span": (10, 90), "reference_level_dbov": -26.0, "sample_rate_hz": RATE_HZ}
    with pytest.raises(AudioError, match="zeros"):
        treat(np.zeros(100, np.float32), params, **numbers)
    with pytest.raises(AudioError, match="clipped"):
        treat(np.ones(100, np.float32), params, **numbers)
    with pytest.raises(AudioError, match="beyond full scale"):
        treat(np.full(100, 1.5, np.float32), params, **numbers)
    with pytest.raises(AudioError, match="span"):
        treat(np.full(50, 0.1, np.float32), params, **numbers)
    with pytest.raises(AudioError, match="reference_level_dbov is 3"):
        treat(np.full(100, 0.1, np.float32), params, **(numbers | {"reference_level_dbov": 3.0}))


def test_one_sample_of_speech_can_be_treated():
    params = TreatmentParams(preset="x", target_db=-8.0)
    treated = treat(
        np.array([0.25], np.float32), params, span=(0, 1), reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ
    )
    assert treated.measured_db == pytest.approx(-8.0, abs=1e-3)
