import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.plots import BANDS_HZ, main, response_db, third_octaves_db
from duplexkit.acoustics.treatments import TREATMENTS, draw_treatment

RATE_HZ = 24_000
DOCS = Path(__file__).parents[2] / "docs"


def test_a_click_is_flat_and_a_half_is_6_db_less():
    click = np.zeros(100, np.float32)
    click[3] = 0.5
    np.testing.assert_allclose(third_octaves_db(click, sample_rate_hz=RATE_HZ), -6.0206, atol=1e-3)


def test_next_room_is_its_two_sections():
    gain_db = response_db(draw_treatment("next_room@1", np.random.default_rng(0)), sample_rate_hz=RATE_HZ)
    for band, hz in enumerate(BANDS_HZ):
        if not 250 < hz < 6_500:  # narrower than the comb of the echo; steep
            continue
        ratio = np.tan(np.pi * hz / RATE_HZ) / np.tan(np.pi * 2_500 / RATE_HZ)
        wanted = 2 * -10 * np.log10(1 + ratio**2)
        echo_db = 10 * np.log10(1 + 0.0631 + 0.0631 * 0.0625)  # -12 dB, then 12 dB less each time, in power
        assert gain_db[band] == pytest.approx(wanted + echo_db, abs=0.4)


def test_turning_away_darkens():
    gain_db = response_db(
        draw_treatment("turned_away_room@1", np.random.default_rng(1)), sample_rate_hz=RATE_HZ
    )
    assert np.mean(gain_db[BANDS_HZ > 3_000]) < np.mean(gain_db[BANDS_HZ < 500]) - 3.0


def test_the_command_draws_every_treatment(tmp_path, capsys):
    assert main([str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(TREATMENTS)
    for name in TREATMENTS:
        picture = ElementTree.parse(tmp_path / f"{name.replace('@', '-')}.svg").getroot()
        lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
        assert len(lines) == (
            1 if name.startswith(("off_axis@", "next_room@")) or "gain_first" in name else 12
        )


def test_the_page_shows_every_treatment():
    page = (DOCS / "acoustics.md").read_text(encoding="utf-8")
    for name in TREATMENTS:
        assert f"`{name}`" in page
        assert f"acoustics/{name.replace('@', '-')}.svg" in page
        assert (DOCS / "acoustics" / f"{name.replace('@', '-')}.svg").exists()


def test_a_rate_too_low_for_the_bands_is_refused():
    with pytest.raises(AudioError, match="sample_rate_hz is 16000"):
        third_octaves_db(np.ones(10, np.float32), sample_rate_hz=16_000)
