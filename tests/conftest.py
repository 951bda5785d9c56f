"""What many tests share: small recipes, and folders built once."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from duplexkit.builders.build import BuildResult, build
from duplexkit.cards.card import write_card
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.recipe import load_recipe
from tests import tone

# No deadline: speed is measured in tests/benchmarks, and a first example may import scipy. The same examples every
# time, so that a change is judged by what it changed; `make explore` draws others.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

pytest_plugins = ["tests.browser", "tests.extras"]


@pytest.fixture(scope="module", autouse=True)
def _no_folders_left(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Remove what a module's fixtures and examples made once all its tests have passed, as pytest does for a test."""
    home = tmp_path_factory.getbasetemp()
    before, n_failed = set(home.iterdir()), request.session.testsfailed
    yield
    if request.session.testsfailed == n_failed:
        for made in set(home.iterdir()) - before:
            shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module", autouse=True)
def _tone_engine_for_fixtures() -> None:
    tone.install()


@pytest.fixture(autouse=True)
def _tone_engine() -> None:
    """Give each test the engine, whatever the one before did to the list of engines."""
    tone.install()


TONE_RECIPE = """
name = "tones"
version = "1.0.0"
seed = {seed}
languages = ["en", "ja"]
licence = "CC0-1.0"
[speech]
engine = "tone"
"""

LIMITS = {"pause_handling": [0.1, 120.0], "smooth_turn_taking": [0.1, 120.0], "backchannel": [0.1, 120.0]}
"""Tones are not as long as speech: the limits on lengths are opened."""


def tone_recipe_text(
    *scenarios: str,
    seed: int = 5,
    count: int = 2,
    room: str | None = None,
    extra: dict[str, str] | None = None,
) -> str:
    text = TONE_RECIPE.format(seed=seed)
    for name in scenarios or SCENARIOS:
        text += f"[scenarios.{name}]\ncount = {count}\n"
        if name != "mt_qa":
            text += "length_s = [0.05, 120.0]\n"
        else:
            text += "pairs = [4, 4]\n"
        if room is not None:
            text += f'room = "{room}"\n'
        text += (extra or {}).get(name, "")
    return text


@pytest.fixture
def tone_build(tmp_path: Path) -> Callable[..., BuildResult]:
    """Return a function that builds a tone recipe in this process."""
    return partial(build_tones, tmp_path)


def build_tones(place: Path, text: str, out: Path | None = None, **options: object) -> BuildResult:
    """Build a tone recipe in a folder: what the fixture above does in the test's own, for folders built once."""
    path = place / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return build(
        load_recipe(str(path)),
        out or place / "out",
        cache_dir=place / "cache",
        workers=1,
        describe=options.pop("describe", write_card),  # type: ignore[arg-type]
        progress=lambda outcome, done, total: None,
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that runs code in a fresh interpreter and gives what it prints."""

    def run(code: str) -> str:
        environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
