"""Rows with arrays from a folder; what is not there is named."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from duplexkit import ReleaseError
from duplexkit.builders.build import BuildResult
from duplexkit.cards.load import load
from tests.conftest import tone_recipe_text


def test_rows_come_with_float_audio(tone_build: Callable[..., BuildResult]) -> None:
    folder = tone_build(tone_recipe_text("talking_to_others", "mt_qa")).folder
    rows = list(load(folder, "talking_to_others", "test", version="1.0.0"))
    assert [row["language"] for row in rows] == ["en", "en", "ja", "ja"]
    for row in rows:
        n = round(row["duration_s"] * row["sample_rate_hz"])
        for track in ("input", "clean_input", "untreated_input"):
            assert row[track].dtype == np.float32 and row[track].shape == (n,)
        assert row["system"] is None
    assert len(list(load(folder, "mt_qa-ja", "test"))) == 2


@pytest.mark.parametrize(
    ("config", "split", "version", "words"),
    [
        ("mt_qu", "test", None, "no configuration 'mt_qu'; there are mt_qa, mt_qa-en, mt_qa-ja"),
        ("mt_qa", "dev", None, "mt_qa has no split 'dev'; there are test"),
        ("mt_qa", "test", "2.0.0", "holds version 1.0.0, asked for 2.0.0"),
    ],
)
def test_what_is_not_there_is_named(
    config: str, split: str, version: str | None, words: str, tone_build: Callable[..., BuildResult]
) -> None:
    folder = tone_build(tone_recipe_text("mt_qa", count=1)).folder
    with pytest.raises(ReleaseError, match=words):
        load(folder, config, split, version=version)


def test_a_repository_needs_a_version(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"a repository needs version"):
        load("me/none", "mt_qa", "test")
