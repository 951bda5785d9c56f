"""What is tried for: that the best try of each turn is found, costs no sample, and repeats."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.build import BuildResult
from duplexkit.builders.quality.measure import SpokenClip
from duplexkit.builders.quality.truncation import end_level_db
from duplexkit.builders.stems import read_stem
from duplexkit.builders.tries import Tries, total
from tests.builders.test_build import rows_of, shards_of

Build = Callable[..., BuildResult]
Voice = tuple[bool, float]
"""One try of one turn: whether it passes its gates, and how far it stays behind what is tried for."""

WORLDS = st.integers(1, 3).flatmap(
    lambda n_turns: st.lists(
        st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.2, 0.3])), min_size=6, max_size=6),
        min_size=n_turns,
        max_size=n_turns,
    )
)


def searched(
    world: list[list[Voice]], n_attempts: int
) -> tuple[tuple[int, ...] | None, list[tuple[int, ...]]]:
    """Return the tries that a search over a world ends with (None: rejected), and all attempts it made."""
    tries = Tries((0,) * len(world))
    made: list[tuple[int, ...]] = []
    good = False
    for _ in range(n_attempts):
        made.append(tries.now)
        said = [world[i][n] for i, n in enumerate(tries.now)]
        failed = frozenset(i for i, (passes, _) in enumerate(said) if not passes)
        good = good or not failed
        tries.after([(short,) for _, short in said], failed, improving=good)
        if good and not tries.is_behind:
            break
    return (tries.best()[0] if good else None), made


@given(world=WORLDS, n_attempts=st.integers(1, 5))
def test_the_best_try_of_each_turn_is_found(world: list[list[Voice]], n_attempts: int) -> None:
    found, made = searched(world, n_attempts)
    asked = [sorted({tries[i] for tries in made}) for i in range(len(world))]
    assert all(numbers == list(range(len(numbers))) for numbers in asked), "no try is left out"
    if found is None:
        assert all(any(not world[i][n][0] for i, n in enumerate(tries)) for tries in made)
        return
    for i, n in enumerate(found):
        passing = [(world[i][k][1], k) for k in asked[i] if world[i][k][0]]
        assert (world[i][n][1], n) == min(passing)
        if n < asked[i][-1]:  # spoken again although one was there already: only as long as it was behind
            assert all(world[i][k][1] > 0 for k in asked[i][:-1] if world[i][k][0])


@given(world=WORLDS, n_attempts=st.integers(1, 5))
def test_trying_for_more_loses_no_sample(world: list[list[Voice]], n_attempts: int) -> None:
    content = [[(passes, 0.0) for passes, _ in turn] for turn in world]
    assert (searched(world, n_attempts)[0] is None) == (searched(content, n_attempts)[0] is None)


def test_a_failure_of_the_whole_says_nothing_of_a_turn() -> None:
    tries = Tries((2, 0))
    tries.after([(0.0,), (0.0,)], None, improving=False)
    assert tries.now == (3, 1) and tries.is_behind
    tries.after([(0.5,), (0.0,)], frozenset(), improving=True)
    assert tries.now == (4, 1) and tries.is_behind
    tries.after((), None, improving=True)
    assert tries.now == (5, 1)
    assert tries.best() == ((3, 1), (0.5,)) and tries.attempt_of((3, 1)) == 1


def test_values_are_looked_at_in_the_order_of_their_gates() -> None:
    tries = Tries((0,))
    tries.after([(0.1, 0.0)], frozenset(), improving=True)
    tries.after([(0.0, 9.0)], frozenset(), improving=True)
    assert tries.best() == ((1,), (0.0, 9.0)) and tries.is_behind
    assert total([(0.5, 1.0), (0.25, 0.0)]) == (0.75, 1.0)


RECIPE = """
name = "tried"
version = "1.0.0"
seed = 11
languages = ["en"]
licence = "CC-BY-4.0"
[speech]
engine = "hibari"
speed = {speed}
[checks]
gates = {{ end_level_db = {{ try_for = {level} }} }}
attempts = {attempts}
[scenarios.user_interruption]
count = 4
"""
SPEEDS = (1.0, 0.96, 1.04)
OUT_OF_REACH_DB = -99.0


def end_levels_db(folder: Path) -> dict[tuple[str, int], tuple[float, float]]:
    """Return speed and end level of each turn of a build, measured on its stem."""
    found = {}
    for id_, row in rows_of(folder).items():
        for i, turn in enumerate(row["provenance"]["turns"]):
            clip = SpokenClip(
                samples=read_stem(folder, turn["stem"]), sample_rate_hz=24000, text="", language="en"
            )
            level_db = end_level_db(clip)
            assert level_db is not None
            found[id_, i] = turn["speed"], level_db
    return found


@pytest.fixture
def tried(tone_build: Build, tmp_path: Path) -> Callable[..., BuildResult]:
    """Return a function that builds with the fast engine, and tries for an end level."""

    def built(
        name: str, level_db: float, *, speed: float = 1.0, attempts: int = 3, **options: object
    ) -> BuildResult:
        text = RECIPE.format(speed=speed, level=level_db, attempts=attempts)
        return tone_build(text, tmp_path / name, **options)

    return built


@pytest.fixture
def best(tried: Callable[..., BuildResult]) -> BuildResult:
    return tried("best", OUT_OF_REACH_DB)


@pytest.mark.slow
def test_a_build_keeps_the_best_of_its_attempts(best: BuildResult, tried: Callable[..., BuildResult]) -> None:
    """Against builds at each of the three speeds that are tried: the lowest end wins, turn by turn."""
    at_speed = [end_levels_db(tried(f"at{speed}", -25.0, speed=speed).folder) for speed in SPEEDS]
    found = end_levels_db(best.folder)
    assert len(found) == 8 and not best.rejects
    for turn, (speed, level_db) in found.items():
        assert at_speed[0][turn][0] == 1.0, "what is there at once is not spoken again"
        levels_db = [levels[turn][1] for levels in at_speed]
        lowest_db = min(levels_db)
        assert level_db == pytest.approx(lowest_db, abs=0.1), "the seed of a later attempt is another one"
        assert levels_db[SPEEDS.index(speed)] == pytest.approx(lowest_db, abs=0.1)
    assert len({speed for speed, _ in found.values()}) == 3, "each speed is best somewhere"
    facts = json.loads((best.folder / "quality.json").read_text(encoding="utf-8"))
    assert facts["gates"]["end_level_db"] == [
        "utterance: at most -25 (dB re the clip's speech), tried for -99"
    ]
    card = (best.folder / "README.md").read_text(encoding="utf-8")
    n_later = sum(row["provenance"]["attempt"] > 0 for row in rows_of(best.folder).values())
    assert f"{n_later} of 4 samples are of a later attempt" in card and n_later
    for row in rows_of(best.folder).values():
        speeds = [turn["speed"] for turn in row["provenance"]["turns"]]
        assert row["provenance"]["attempt"] == max(map(SPEEDS.index, speeds))


@pytest.mark.slow
def test_a_build_that_goes_on_gives_the_same_bytes(
    best: BuildResult, tried: Callable[..., BuildResult]
) -> None:
    """Samples that are behind are tried again where there are more attempts, and nothing is made anew where not."""

    def stop(folder: Path) -> None:
        raise KeyboardInterrupt  # all samples are made, the folder has no name yet

    for attempts, n_resumed in ((1, 0), (3, 4)):
        with pytest.raises(KeyboardInterrupt):
            tried(f"after{attempts}", OUT_OF_REACH_DB, attempts=attempts, describe=stop)
        again = tried(f"after{attempts}", OUT_OF_REACH_DB)
        assert again.n_resumed == n_resumed and shards_of(again.folder) == shards_of(best.folder)
