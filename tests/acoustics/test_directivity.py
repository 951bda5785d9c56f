import numpy as np
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.directivity import BANDS_HZ, SHELVES, TABLE_DB, directivity_db, shelf_at
from duplexkit.acoustics.filters import high_shelf
from duplexkit.acoustics.presets import OFF_AXIS

RATE_HZ = 24_000


def shelf_db(corner_hz, gain_db, q, hz):
    click = np.zeros(4_800, np.float32)
    click[0] = 1.0
    impulse = high_shelf(click, corner_hz=corner_hz, gain_db=gain_db, q=q, sample_rate_hz=RATE_HZ)
    n = np.arange(impulse.size)
    return 20 * np.log10(np.abs(np.exp(-2j * np.pi * np.asarray(hz)[:, None] * n / RATE_HZ) @ impulse))


def rms_misfit(response_db, table_db):
    """Misfit in dB rms once one broadband gain is free: the level is calibrated anyway."""
    difference = np.asarray(response_db) - np.asarray(table_db)
    return float(np.sqrt(np.mean((difference - difference.mean()) ** 2)))


def test_the_120_degree_shelf_fits_talkers():
    shelf = (OFF_AXIS.shelf_corner_hz.low, OFF_AXIS.shelf_gain_db.low, OFF_AXIS.shelf_q.low)
    assert rms_misfit(shelf_db(*shelf, BANDS_HZ), TABLE_DB[120]) <= 1.5
    # and a shelf of half or twice the gain would not
    for gain_db in (-6.0, -24.0):
        assert rms_misfit(shelf_db(shelf[0], gain_db, shelf[2], BANDS_HZ), TABLE_DB[120]) > 1.5


@pytest.mark.parametrize("angle_deg", sorted(SHELVES))
def test_each_fitted_shelf_fits_its_angle(angle_deg):
    assert rms_misfit(shelf_db(*SHELVES[angle_deg], BANDS_HZ), TABLE_DB[angle_deg]) <= 2.0
    assert shelf_at(float(angle_deg)) == pytest.approx(SHELVES[angle_deg])


@pytest.mark.parametrize("angle_deg", [75.0, 100.0, 110.0, 127.0, 142.0, 165.0])
def test_shelves_between_the_fits_follow_the_table(angle_deg):
    wanted = directivity_db(angle_deg, np.array(BANDS_HZ))
    assert rms_misfit(shelf_db(*shelf_at(angle_deg), BANDS_HZ), wanted) <= 2.0


def test_a_talker_is_loudest_in_front_and_darker_behind():
    hz = np.array([250.0, 8_000.0])
    np.testing.assert_array_equal(directivity_db(0.0, hz), 0.0)
    assert directivity_db(180.0, hz).tolist() == pytest.approx([-5.1, -26.3])
    assert directivity_db(105.0, np.array([2_000.0]))[0] == pytest.approx((-6.6 - 8.6) / 2)


def test_angles_out_of_range_are_refused():
    with pytest.raises(AudioError, match="angle_deg is 181"):
        directivity_db(181.0, np.array([1_000.0]))
    with pytest.raises(AudioError, match="angle_deg is 30"):
        shelf_at(30.0)
