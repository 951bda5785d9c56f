"""Wanted splits that cannot be met are refused before anything is spoken; those that can are not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import RecipeError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.candidates import Candidate
from duplexkit.builders.foresee import most_left
from duplexkit.builders.selection import bundles_of, group_sizes, select
from duplexkit.scenarios.wanted_splits import SplitWish, WantedSplits
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        (
            "[splits.test]\ncount = 5",
            "splits.test: asked for 5 samples in group user_backchannel/en, but only 2 are planned; ask for less",
        ),
        (
            "[splits.test]\ncount = 2\n[splits.validation]\ncount = 1",
            "splits.validation: asked for 1 samples in group user_backchannel/en, but only 2 are planned, of "
            "which other splits leave at most 0;",
        ),
        (
            "[splits.test]\ncount = 2",
            "splits: nothing would be left for train: all 4 planned samples are asked for",
        ),
        (
            "[splits]\nspeaker_disjoint = true\n[splits.test]\nfraction = 0.5\nspeakers = 4",
            "splits: asked for 4 test speakers and some for train, but there are only 4: tone-a, tone-b, tone-c",
        ),
        (
            "[splits.test]\nfraction = 0.5\nmeasure = 'dnsmos'",
            "splits.test.measure: unknown value; did you mean 'dnsmos_",
        ),
        (
            "[splits.test]\nfraction = 0.5\nmeasure = 'dnsmos_ovrl'",
            "splits.test.measure = 'dnsmos_ovrl': nothing measures it in this build; add 'dnsmos' to checks.measures",
        ),
    ],
)
def test_impossible_splits_are_refused_unspoken(
    tone_build: Build, tmp_path: Path, splits: str, message: str
) -> None:
    spoken = ToneSpeaker.n_spoken
    with pytest.raises(RecipeError, match=message):
        tone_build(tone_recipe_text("user_backchannel", count=2) + splits)
    assert ToneSpeaker.n_spoken == spoken
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.partial").exists()


def candidate(script: int, language: str) -> Candidate:
    return Candidate(
        id=f"mt_qa/{language}/{script}/0",
        scenario="mt_qa",
        language=language,
        script=str(script),
        domain="",
        intent="",
        speakers=frozenset({"a"}),
        length_s=1.0,
        values={},
    )


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([("en",), ("ja",), ("en", "ja")]), min_size=1, max_size=8),
    st.lists(st.integers(1, 9), min_size=1, max_size=2),
    st.booleans(),
)
def test_what_is_foreseen_to_fail_fails(
    scripts: list[tuple[str, ...]], counts: list[int], keep_parallel: bool
) -> None:
    """Nothing that selection can do is refused before."""
    candidates = [candidate(i, language) for i, spoken in enumerate(scripts) for language in spoken]
    names = ("test", "validation")[: len(counts)]
    wanted = WantedSplits(
        wishes=tuple(SplitWish(split=name, count=n) for name, n in zip(names, counts, strict=True)),
        within=("scenario",),
        keep_parallel=keep_parallel,
    )
    bundles = bundles_of(candidates, wanted)
    ((group, size),) = group_sizes(bundles).items()
    try:
        left = most_left(wanted, group, bundles, size)
    except RecipeError:
        left = 0
    if not left:
        with pytest.raises(RecipeError):
            select(candidates, wanted, seed=1)
