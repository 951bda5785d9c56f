"""A built folder opens with `load_dataset`, without torch, and never shows rows of an earlier build."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import soundfile

from duplexkit.builders.build import BuildResult
from duplexkit.builders.schema import COLUMNS, card_features, features
from duplexkit.scenarios import SCENARIOS
from tests.conftest import tone_recipe_text

AUDIO = ("input", "clean_input", "untreated_input", "system")


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from datasets import Audio, load_dataset

    def load(folder: Path, config: str, **options: object) -> object:
        ds = load_dataset(str(folder), config, split="test", cache_dir=str(tmp_path / "hf"), **options)
        for name in AUDIO:
            ds = ds.cast_column(name, Audio(decode=False))
        return ds

    return load


def test_every_configuration_opens(
    tone_build: Callable[..., BuildResult], opened: Callable[..., object]
) -> None:
    folder = tone_build(tone_recipe_text()).folder
    for scenario in SCENARIOS:
        joint = opened(folder, scenario)
        parts = [opened(folder, f"{scenario}-{language}") for language in ("en", "ja")]
        assert joint["id"] == [id_ for part in parts for id_ in part["id"]]
        assert len(joint) == 4 and [column.name for column in COLUMNS] == joint.column_names
        for row in joint:
            for name in AUDIO:
                if row[name] is None:
                    continue
                samples, rate = soundfile.read(io.BytesIO(row[name]["bytes"]))
                assert samples.ndim == 1 and rate == 24000
                assert samples.size == round(row["duration_s"] * rate)
        assert (
            (joint[0]["system"] is not None) == (scenario == "mt_qa") == (joint[0]["m3_events"] is not None)
        )
        assert (joint[0]["treatment"] is not None) == (scenario in ("talking_to_others", "background_speech"))
    assert "torch" not in sys.modules


def test_streaming_opens_too(tone_build: Callable[..., BuildResult], opened: Callable[..., object]) -> None:
    folder = tone_build(tone_recipe_text("mt_qa", "talking_to_others")).folder
    assert len(list(opened(folder, "mt_qa", streaming=True))) == 4


def test_a_rebuilt_folder_shows_its_new_rows(
    tone_build: Callable[..., BuildResult], opened: Callable[..., object], tmp_path: Path
) -> None:
    folder = tone_build(tone_recipe_text("user_backchannel", seed=1)).folder
    before = opened(folder, "user_backchannel")[0]["input"]["bytes"]
    assert tone_build(tone_recipe_text("user_backchannel", seed=2), overwrite=True).folder == folder
    after = opened(folder, "user_backchannel")[0]["input"]["bytes"]
    assert before != after


def test_card_and_shards_state_the_same_features() -> None:
    from datasets import Features

    assert Features._from_yaml_list(card_features(24000)) == Features.from_dict(features(24000))
