"""The tools behind docs/word-times.md: what they compute, on data whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

word_lag = pytest.importorskip("duplexkit.tools.word_lag", reason="the wheel has no tools")
word_aligners = pytest.importorskip("duplexkit.tools.word_aligners")


def test_three_differences_give_each_ones_own_error() -> None:
    rng = np.random.default_rng(5)
    truth = rng.uniform(0.0, 5.0, size=40_000)
    own_s = np.array([0.005, 0.010, 0.030])
    times_s = truth[:, None] + rng.normal(size=(truth.size, 3)) * own_s + [0.0, -0.09, 0.05]
    assert word_lag.own_errors_s(times_s) == pytest.approx(own_s, rel=0.05)


def test_an_error_that_two_share_is_put_on_the_third() -> None:
    rng = np.random.default_rng(6)
    shared = rng.normal(size=40_000) * 0.02
    alone = rng.normal(size=(40_000, 3)) * 0.005
    times_s = alone + np.stack([shared, shared, 0 * shared], axis=1)
    own_s = word_lag.own_errors_s(times_s)
    assert own_s == pytest.approx([0.005, 0.005, np.hypot(0.02, 0.005)], rel=0.05)


def test_bias_and_spread_are_apart() -> None:
    assert word_lag.spread([0.03, 0.04, 0.05, 0.06, 0.14]) == (
        "5 words, median +50 ms, spread about it 26.0 ms, 95 % within 76 ms, 80.0 % within 60 ms"
    )


def test_words_are_found_where_they_stand() -> None:
    assert word_aligners.english_words("It's 'tis, Ann's!") == {0: "it's", 5: "'tis", 11: "ann's"}


WORDS = ("see", "easy", "read", "the", "banana", "all")


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_best_path_is_the_one_that_was_spoken(words: list[str], seed: int) -> None:
    """Frames that say one pronunciation of each word, with blanks: the onsets are known by construction."""
    pytest.importorskip("pocketsphinx")
    rng = np.random.default_rng(seed)
    tokens = sorted({symbol for symbols in word_aligners.IPA.values() for symbol in symbols.split()})
    tokens += ["<wb>", "<blank>"]
    said = ["<blank>"] * int(rng.integers(1, 5))
    onsets = []
    for k, word in enumerate(words):
        if k:
            said += ["<blank>"] * int(rng.integers(0, 4)) + ["<wb>"] * int(rng.integers(1, 3))
            said += ["<blank>"] * int(rng.integers(0, 4))
        choices = word_aligners.pronunciations()[word]
        onsets.append(len(said))
        for phoneme in choices[rng.integers(len(choices))]:
            symbols = word_aligners.IPA[phoneme].split()
            said += [symbols[rng.integers(len(symbols))]] * int(rng.integers(1, 3))
            said += ["<blank>"] * int(rng.integers(1, 4))
    log_probs = np.full((len(said), len(tokens)), np.log(0.1 / len(tokens)))
    log_probs += rng.uniform(-0.5, 0.5, size=log_probs.shape)
    log_probs[np.arange(len(said)), [tokens.index(token) for token in said]] = np.log(0.9)
    graph = word_aligners._Graph(words, tokens)
    path = graph.best_path(log_probs)
    found = [int(np.flatnonzero(np.isin(path, firsts))[0]) for firsts in graph.firsts]
    assert found == onsets
