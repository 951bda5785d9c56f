"""A build that goes on under other limits gives what a new build under them gives, and makes no more than it must."""

from collections.abc import Callable
from pathlib import Path

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.build import BuildResult
from tests.builders.test_build import rows_of, shards_of
from tests.conftest import tone_recipe_text

Build = Callable[..., BuildResult]
ONLY = {"only": ("user_backchannel-en",), "describe": lambda folder: None}


def text_with(*, attempts: int = 3, lost: float = 1.0, gate: str = "", length_s: str = "[0.05, 0.2]") -> str:
    text = tone_recipe_text("user_backchannel", count=10).replace("[0.05, 120.0]", length_s)
    checks = f"[checks]\nattempts = {attempts}\nmax_rejected_fraction = {lost}\n"
    if gate:
        checks += f"[checks.gates]\nspeech_s = {{ {gate} }}\n"
    return text.replace("[speech]", f"{checks}[speech]")


def stopped(folder: Path) -> None:
    raise KeyboardInterrupt  # all samples are made, the folder has no name yet


def same_as_new(again: BuildResult, tone_build: Build, text: str, folder: Path) -> None:
    new = tone_build(text, folder / "new", **ONLY)
    assert shards_of(again.folder) == shards_of(new.folder)
    assert (again.folder / "rejects.jsonl").read_bytes() == (new.folder / "rejects.jsonl").read_bytes()
    assert rows_of(again.folder).keys() == rows_of(new.folder).keys()
    assert not (folder / "out.partial").exists()


def test_more_attempts_try_again_what_was_rejected(tone_build: Build, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="max_rejected_fraction = 0:"):
        tone_build(text_with(attempts=1, lost=0.0), **ONLY)
    rejected = len(list((tmp_path / "out.partial").rglob("*.reject.json")))
    good = len(list((tmp_path / "out.partial").rglob("*.parquet")))
    assert rejected > 1 and good > 1
    text = text_with(attempts=6)
    again = tone_build(text, **ONLY)
    assert again.n_resumed == good, "what was good is kept, what was rejected is tried again"
    assert len(again.rejects) < rejected
    same_as_new(again, tone_build, text, tmp_path)


def test_a_rejection_stays_while_nothing_is_changed(tone_build: Build, tmp_path: Path) -> None:
    text = text_with(attempts=2)
    with pytest.raises(KeyboardInterrupt):
        tone_build(text, **{**ONLY, "describe": stopped})
    again = tone_build(text, **ONLY)
    assert again.rejects and again.n_resumed == 10 and again.n_spoken == again.n_cached == 0


def test_fewer_attempts_give_up_what_came_late(tone_build: Build, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        tone_build(text_with(attempts=6), **{**ONLY, "describe": stopped})
    text = text_with(attempts=1)
    same_as_new(tone_build(text, **ONLY), tone_build, text, tmp_path)


@pytest.mark.parametrize(
    ("before", "after"), [("at_least = 0.25", "at_least = 0.1"), ("", "at_least = 0.25")]
)
def test_a_changed_gate_is_asked_again(tone_build: Build, tmp_path: Path, before: str, after: str) -> None:
    open_ = "[0.05, 120.0]"
    with pytest.raises(KeyboardInterrupt):
        tone_build(text_with(gate=before, length_s=open_), **{**ONLY, "describe": stopped})
    text = text_with(gate=after, length_s=open_)
    again = tone_build(text, **ONLY)
    assert 0 < again.n_resumed < 10, "first attempts that pass the new gate are kept"
    assert again.n_spoken == 0 or not before, "and nothing is spoken that was spoken"
    same_as_new(again, tone_build, text, tmp_path)
