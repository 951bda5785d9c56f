"""What a recogniser hears of the embedded English voices: that the table is the bank's and the list's, and repeats."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from duplexkit.builders.speakers.kokoro import Kokoro
from duplexkit.scenarios.markup import shown
from tools.intelligibility import (
    HEARD,
    LANGUAGE,
    N_LINES,
    TURNS,
    as_meant,
    bank_lines,
    bank_tokens,
    heard_line,
    heard_token,
)

DATA = json.loads(HEARD.read_text(encoding="utf-8"))
MOST_MISHEARD, MOST_OF_THE_BEST = 0.01, 0.007
"""Shares of the words in the bank's lines, each said once by each of its voices, and the best of three attempts."""


def default_voices() -> list[str]:
    return list(Kokoro(Path()).voice_sets()[LANGUAGE]["default"])


class TestTable:
    def test_the_lines_are_the_banks_and_each_voice_says_some(self) -> None:
        lines, spoken = DATA["lines"], bank_lines()
        assert lines["n_lines"] == len(spoken) == N_LINES
        voices = default_voices()
        said = {(line.key, voices[(i + k) % len(voices)]) for k in TURNS for i, line in enumerate(spoken)}
        assert lines["n_voices_a_line"] == len(TURNS) and len(said) == len(TURNS) * N_LINES
        assert {(one["line"], one["voice"]) for one in lines["errors"]} <= said, (
            "run tools/intelligibility.py lines again"
        )
        assert sorted(lines["by_voice"]) == sorted(voices)
        for key in ("n_words", "n_errors"):
            assert sum(one[key] for one in lines["by_voice"].values()) == lines[key]

    def test_few_words_are_misheard(self) -> None:
        lines = DATA["lines"]
        assert lines["n_errors"] == sum(one["errors"].count(" > ") for one in lines["errors"])
        assert lines["word_error_rate"] == pytest.approx(lines["n_errors"] / lines["n_words"], abs=1e-5)
        assert lines["word_error_rate"] <= MOST_MISHEARD
        assert lines["best_of_attempts"]["word_error_rate"] <= MOST_OF_THE_BEST

    def test_every_backchannel_was_heard_from_every_voice(self) -> None:
        tokens, voices = DATA["tokens"], default_voices()
        assert list(tokens["heard_as_meant"]) == [shown(text) for text in bank_tokens()], (
            "run tools/intelligibility.py tokens again"
        )
        n_meant = 0
        for token, names in tokens["heard_as_meant"].items():
            otherwise = tokens["heard_otherwise"].get(token, {})
            assert not any(as_meant(token, heard) for heard in otherwise), token
            found = [*names.split(), *" ".join(otherwise.values()).split()]
            assert sorted(found) == sorted(voices), token
            n_meant += len(names.split())
        assert (tokens["n_pairs"], tokens["n_heard_as_meant"]) == (len(voices) * len(bank_tokens()), n_meant)

    @pytest.mark.parametrize("part", ["lines", "tokens"])
    def test_it_was_made_with_the_styles_that_are_here(self, part: str) -> None:
        made, now = (
            re.findall(r"(?:model|styles|revision)=\S+", version)
            for version in (DATA[part]["engine"], Kokoro(Path()).version)
        )
        assert made == now, "run tools/intelligibility.py again"


@pytest.mark.parametrize(
    ("token", "heard", "meant"),
    [
        ("Uh-huh.", "Uh-huh.", True),
        ("Uh-huh.", "Aha!", True),
        ("Mm-hmm.", "Mhm.", True),
        ("Alright.", "All right.", True),
        ("Neat.", "Neet.", True),
        ("Fair.", "Fairly.", False),
        ("Mm-hmm.", "Mama.", False),
        ("Cool.", "", False),
    ],
)
def test_other_spellings_are_as_meant_other_sounds_are_not(token: str, heard: str, meant: bool) -> None:
    assert as_meant(token, heard) is meant


@pytest.mark.slow
@pytest.mark.extras("quality")
def test_a_sample_is_heard_as_the_table_says(tmp_path: Path) -> None:
    """Four lines and six backchannels, spoken and heard anew (another CPU may hear a word otherwise)."""
    voices = default_voices()
    lines = [replace(line, voice=voices[i]) for i, line in enumerate(bank_lines()[:20]) if i % 5 == 0]
    wrong = {(one["line"], one["voice"]): one["errors"].count(" > ") for one in DATA["lines"]["errors"]}
    for line in lines:
        assert abs(heard_line(tmp_path, line)["n_errors"] - wrong.get((line.key, line.voice), 0)) <= 1, line
    texts = {shown(text): text for text in bank_tokens()}
    asked = [(token, name) for token in ("Exactly.", "No way!", "Crazy.") for name in voices[:2]]
    n_meant = sum(as_meant(token, heard_token(tmp_path, (texts[token], name))[2]) for token, name in asked)
    kept = sum(name in DATA["tokens"]["heard_as_meant"][token].split() for token, name in asked)
    assert abs(n_meant - kept) <= 1
