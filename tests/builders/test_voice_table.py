"""The measured table of the default voices: what it must show, that it is the list's, and that it can be repeated."""

import json
import re
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.quality.equal_error import equal_error_rate
from duplexkit.builders.speakers.kokoro import Kokoro
from tools.voice_table import (
    SENTENCES,
    TABLE,
    VOICES,
    as_text,
    other_voice,
    same_voice,
    voice_figures,
    with_ratings,
)

DATA = json.loads(TABLE.read_text(encoding="utf-8"))
MEASURED = {voice["id"]: voice for voice in DATA["voices"]}
LEAST_VOICES = {"en": 26, "ja": 10}
LEAST_DNSMOS = {"en": 3.3, "ja": 3.2}


class TestTable:
    @pytest.mark.parametrize("language", SENTENCES)
    def test_the_default_voices_can_be_told_apart(self, language: str, tmp_path: Path) -> None:
        ids = Kokoro(tmp_path).voice_sets()[language]["default"]
        found = DATA["default"][language]
        assert found["n_voices"] == len(ids) >= LEAST_VOICES[language]
        most = {frozenset(pair[:2]): pair[2] for pair in found["pairs"]}
        assert set(most) == {frozenset(pair) for pair in combinations(ids, 2)}
        assert max(most.values()) == found["other_voice"]["most"] < 0.80
        least = min(value for name in ids for value in MEASURED[name]["same_voice"])
        assert least == found["same_voice"]["least"] > 0.85
        assert found["equal_error_rate"] == 0.0  # no pair of two is as alike as any pair of one
        assert found["other_voice"]["n"] == len(most) * len(SENTENCES[language]) ** 2
        assert all(length_s >= 3.0 for name in ids for length_s in MEASURED[name]["speech_s"])

    @pytest.mark.parametrize("language", SENTENCES)
    def test_they_sound_clean(self, language: str) -> None:
        ids = {name for pair in DATA["default"][language]["pairs"] for name in pair[:2]}
        ratings = [rating for name in ids for rating in MEASURED[name]["dnsmos_ovrl"]]
        assert len(ratings) == len(ids) * len(SENTENCES[language])
        assert fmean(ratings) == pytest.approx(DATA["default"][language]["dnsmos_ovrl_mean"], abs=6e-4)
        assert fmean(ratings) >= LEAST_DNSMOS[language]

    def test_the_list_of_voices_has_its_ratings(self, tmp_path: Path) -> None:
        voices = Kokoro(tmp_path).voices()
        assert {name for name, voice in voices.items() if voice.dnsmos is not None} == set(MEASURED)
        for name, measured in MEASURED.items():
            assert voices[name].dnsmos == pytest.approx(fmean(measured["dnsmos_ovrl"]), abs=0.0051), name

    def test_it_was_made_with_the_styles_and_sentences_that_are_here(self, tmp_path: Path) -> None:
        assert DATA["sentences"] == {language: list(texts) for language, texts in SENTENCES.items()}
        made, now = (
            re.findall(r"(?:model|styles|revision)=\S+", v)
            for v in (DATA["engine"], Kokoro(tmp_path).version)
        )
        assert made == now, "run tools/voice_table.py again"


class TestWriting:
    def test_a_voice_is_one_line_and_nothing_is_lost(self) -> None:
        assert json.loads(as_text(DATA)) == DATA
        lines = as_text(DATA).splitlines()
        assert sum('"id": ' in line for line in lines) == len(MEASURED)

    def test_only_ratings_change(self) -> None:
        text = VOICES.read_text(encoding="utf-8")
        before, after = json.loads(text), json.loads(with_ratings(text, {"af_heart": 1.25, "ef_dora": 2.5}))
        changed = {
            v["id"]: v["dnsmos"] for v, old in zip(after["voices"], before["voices"], strict=True) if v != old
        }
        assert changed == {"af_heart": 1.25, "ef_dora": 2.5}
        assert {k: v for k, v in after.items() if k != "voices"} == {
            k: v for k, v in before.items() if k != "voices"
        }


class TestEqualErrorRate:
    def test_it_is_that_of_two_known_distributions(self) -> None:
        """Normal, one standard deviation wide, two apart: at the middle each side errs by the tail beyond 1."""
        quantiles = [NormalDist().inv_cdf((k + 0.5) / 4000) for k in range(4000)]
        rate, limit = equal_error_rate([q + 2 for q in quantiles], quantiles)
        assert rate == pytest.approx(NormalDist().cdf(-1), abs=1e-3)
        assert limit == pytest.approx(1.0, abs=0.01)

    @given(
        st.lists(st.integers(0, 20), min_size=1, max_size=12),
        st.lists(st.integers(0, 20), min_size=1, max_size=12),
    )
    def test_no_limit_brings_the_shares_closer(self, same: list[int], other: list[int]) -> None:
        rate, limit = equal_error_rate(same, other)

        def shares(at: float) -> tuple[float, float]:
            return fmean(x < at for x in same), fmean(x >= at for x in other)

        assert rate == pytest.approx(fmean(shares(limit)))
        between = [a + 0.5 for a in range(min(same + other), max(same + other))] or [same[0]]
        assert abs(np.subtract(*shares(limit))) <= min(abs(np.subtract(*shares(at))) for at in between) + 1e-9


@pytest.mark.slow
@pytest.mark.extras("quality", "similarity")
def test_a_sample_measures_what_the_table_says(tmp_path: Path) -> None:
    """Two voices of each language, spoken anew: ratings within 0.1, similarities within 0.03 (another CPU)."""
    speaker = Kokoro(tmp_path)
    for language, names in {
        "en": ("bf_emma", "bm_lewis~am_echo+hm_psi"),
        "ja": ("jm_kumo", "jf_nezumi~bf_emma"),
    }.items():
        figures = [voice_figures(tmp_path, speaker.voices()[name]) for name in names]
        for voice in figures:
            kept = MEASURED[voice.id]
            assert voice.dnsmos_ovrl == pytest.approx(kept["dnsmos_ovrl"], abs=0.1)
            assert same_voice(voice) == pytest.approx(kept["same_voice"], abs=0.03)
        (most,) = (pair[2] for pair in DATA["default"][language]["pairs"] if set(pair[:2]) == set(names))
        assert max(other_voice(*figures)) == pytest.approx(most, abs=0.03)
