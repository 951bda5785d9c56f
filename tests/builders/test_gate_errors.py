"""The planted faults of tools/gate_errors.py are what they say, on clips whose words are known to the sample."""

from pathlib import Path

import numpy as np
import pytest

from duplexkit.builders.quality.measure import Tools
from tests.conftest import build_tones, tone_recipe_text
from tools.gate_errors import (
    FEWEST_WORDS,
    Take,
    counted,
    takes,
    with_words_twice,
    without_a_word,
    without_its_end,
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Take]:
    text = tone_recipe_text("mt_qa", "background_speech", "talking_to_others", count=2)
    return takes(build_tones(tmp_path_factory.mktemp("gates"), text).folder, 6)


def test_turns_are_english_long_and_of_many_voices(found: list[Take]) -> None:
    assert len(found) == 6 and all(len(take.words) >= FEWEST_WORDS for take in found)
    assert len({take.clip.text for take in found}) == 6
    for take in found:
        assert " ".join(text for text, _, _ in take.words)[:4] == take.clip.text[:4]
        assert max(stop for _, _, stop in take.words) == take.offset <= take.clip.samples.size


def test_a_word_less_or_words_more_are_as_long_as_they_are(found: list[Take]) -> None:
    fade = round(0.005 * 24000)
    for take in found:
        size, starts = take.clip.samples.size, [start for _, start, _ in take.words]
        less, word = without_a_word(take)
        gone = size - fade - less.samples.size
        i = next(i for i in range(1, len(starts) - 1) if starts[i + 1] - starts[i] == gone)
        assert word in [text for text, _, _ in take.words[1:-1]]
        assert np.array_equal(less.samples[: starts[i] - fade], take.clip.samples[: starts[i] - fade])
        more, words = with_words_twice(take)
        assert more.samples.size > size and words in " ".join(text for text, _, _ in take.words)
        assert less.text == more.text == take.clip.text


def test_a_cut_end_is_caught_and_a_clean_one_is_not(found: list[Take], tmp_path: Path) -> None:
    assert all(without_its_end(take)[0].samples.size == take.offset - 7200 for take in found)
    *_, last = counted("end_level_db", found, Tools(cache_dir=tmp_path))
    in_words = [any(a < take.offset - 7200 <= b for _, a, b in take.words) for take in found]
    assert (
        sum(in_words) > 3 and last == f"end_level_db: rejects 0 of 6 clean, misses {6 - sum(in_words)} of 6"
    )
