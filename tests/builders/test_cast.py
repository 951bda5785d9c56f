"""Who speaks: balanced voices and genders, distinct roles, nobody in two splits."""

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import RecipeError
from duplexkit.builders.cast import cast
from duplexkit.builders.disjoint import company_of
from duplexkit.builders.jobs import jobs_of, plan_of
from duplexkit.scenarios.conversation import Cast, Role, Voice
from duplexkit.scenarios.recipe import Recipe, load_recipe

RECIPE = """
name = "cast"
version = "1.0.0"
seed = 3
languages = ["en", "ja"]
licence = "CC0-1.0"
[speech]
engine = "kokoro"
[scenarios.mt_qa]
count = 40
splits = { train = 0.6, test = 0.4 }
[scenarios.background_speech]
count = 30
splits = { train = 0.6, test = 0.4 }
"""


def voice(id_: str, gender: str = "female", languages: tuple[str, ...] = ("en",), *parents: str) -> Voice:
    parts = parents or (id_,)
    return Voice(
        id=id_,
        engine="tests",
        languages=languages,
        gender=gender,
        accent="",
        licence="CC0-1.0",
        attribution="",
        mix=tuple((part, 1 / len(parts)) for part in parts),
    )


def pools(*voices: Voice) -> dict[Role, tuple[Voice, ...]]:
    return dict.fromkeys(Role, voices)


def recipe(tmp_path: Path, text: str = RECIPE) -> Recipe:
    path = tmp_path / "cast.toml"
    path.write_text(text)
    return load_recipe(str(path))


POOL = pools(
    *(voice(f"f{i}") for i in range(6)),
    *(voice(f"m{i}", "male") for i in range(3)),
)


def casts(n: int, roles: tuple[str, ...] = ("user",), **more: object) -> list[Cast]:
    asked = {"roles": roles, "seed": 1, "group": "g/en", "take": 0, **more}
    return [cast(POOL, position=i, **asked) for i in range(n)]


def test_each_block_uses_each_voice_once() -> None:
    users = [c[Role.USER] for c in casts(27)]
    for start in (0, 9, 18):
        assert len(set(users[start : start + 9])) == 9
    assert set(Counter(users).values()) == {3}
    assert users[:9] != users[9:18], "each block has an order of its own"


@given(seed=st.integers(0, 10_000))
def test_genders_are_spread_evenly(seed: int) -> None:
    """Six women and three men: any three in a row of a block hold exactly one man."""
    users = [c[Role.USER] for c in casts(9, seed=seed)]
    for start in (0, 3, 6):
        assert sum(name.startswith("m") for name in users[start : start + 3]) == 1


def test_roles_are_distinct_and_unrelated() -> None:
    mixed = voice("f0+m0", "female", ("en",), "f0", "m0")
    for position in range(60):
        chosen = cast(
            pools(voice("f0"), voice("m0", "male"), mixed, voice("f1")),
            roles=("user", "other"),
            seed=2,
            group="g/en",
            position=position,
            take=0,
        )
        pair = {chosen[Role.USER], chosen[Role.OTHER]}
        assert len(pair) == 2
        assert "f0+m0" not in pair or pair == {"f0+m0", "f1"}


def test_a_choice_that_leaves_the_next_role_nobody_is_not_made() -> None:
    some = {Role.USER: (voice("a"), voice("b")), Role.OTHER: (voice("a"),)}
    for position in range(8):
        chosen = cast(some, roles=("user", "other"), seed=0, group="g", position=position, take=0)
        assert (chosen[Role.USER], chosen[Role.OTHER]) == ("b", "a")


def test_too_few_voices_are_an_error_that_names_them() -> None:
    with pytest.raises(RecipeError, match=r"unrelated voice for each of user, system.*user: a; system: a"):
        cast(pools(voice("a")), roles=("user", "system"), seed=0, group="mt_qa/en", position=0, take=0)


def test_a_variant_gives_a_role_to_somebody_else() -> None:
    by_id = {one.id: one for one in POOL[Role.USER]}
    for position, was in enumerate(casts(18, ("user", "other"))):
        before = {role: by_id[name] for role, name in was.voices.items()}
        after = casts(position + 1, ("user", "other"), other_than=before)[-1]
        assert after[Role.USER] != was[Role.USER] and after[Role.OTHER] != was[Role.OTHER]


@given(
    links=st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=2, unique=True), min_size=3, max_size=9),
    was=st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=2, unique=True), min_size=2, max_size=2),
    again=st.integers(0, 8),
    seed=st.integers(0, 99),
)
def test_a_variant_shares_as_few_styles_with_who_played_before_as_it_can(
    links: list[list[int]], was: list[list[int]], again: int, seed: int
) -> None:
    """Against every cast there is: nobody twice, and no cast has fewer roles that keep a style."""
    roles = (Role.USER, Role.OTHER)
    pool = [voice(f"v{i}", "female", ("en",), *(f"p{k}" for k in link)) for i, link in enumerate(links)]
    others = [voice(f"w{i}", "female", ("en",), *(f"p{k}" for k in link)) for i, link in enumerate(was)]
    before = dict(zip(roles, (pool[again] if again < len(pool) else others[0], others[1]), strict=True))

    def n_alike(pair: tuple[Voice, Voice]) -> int:
        return sum(
            bool(set(one.parents) & set(before[role].parents)) for role, one in zip(roles, pair, strict=True)
        )

    able = [
        pair
        for pair in itertools.product(pool, repeat=2)
        if not set(pair[0].parents) & set(pair[1].parents)
        and all(one.id != before[role].id for role, one in zip(roles, pair, strict=True))
    ]
    asked = {"seed": seed, "group": "g/en", "position": 0, "take": 0, "other_than": before}
    if not able:
        with pytest.raises(RecipeError, match="other than before"):
            cast(pools(*pool), roles=("user", "other"), **asked)
        return
    chosen = cast(pools(*pool), roles=("user", "other"), **asked)
    by_id = {one.id: one for one in pool}
    pair = (by_id[chosen[Role.USER]], by_id[chosen[Role.OTHER]])
    assert pair in able and n_alike(pair) == min(map(n_alike, able))


def families_heard(company, split: str) -> set[str]:
    return {
        part
        for roles in company.pools[split].values()
        for pool in roles.values()
        for v in pool
        for part in v.parents
    }


def test_no_part_of_a_voice_is_in_two_splits_across_languages(tmp_path: Path) -> None:
    en = [voice(f"e{i}", "male" if i % 2 else "female") for i in range(10)]
    ja = [voice(f"j{i}+e{i}", "female", ("ja",), f"j{i}", f"e{i}") for i in range(6)]
    made = company_of(recipe(tmp_path), {"en": pools(*en), "ja": pools(*ja)})
    assert made.disjoint == {"en": "all languages", "ja": "all languages"}
    assert not families_heard(made, "train") & families_heard(made, "test")
    for language, whole in (("en", en), ("ja", ja)):
        parts = [{v.id for v in made.pools[s][language][Role.USER]} for s in ("train", "test")]
        assert set.union(*parts) == {v.id for v in whole}, "nobody is left out"
    assert abs(len(made.pools["train"]["en"][Role.USER]) - 6) <= 1, "by their share of the samples"
    for split in ("train", "test"):
        assert {v.gender for v in made.pools[split]["en"][Role.USER]} == {"male", "female"}


def test_a_language_with_too_few_voices_is_left_undivided(tmp_path: Path) -> None:
    en = [voice(f"e{i}") for i in range(8)]
    ja = [voice(f"j{i}", "female", ("ja",)) for i in range(3)]  # two splits with two roles need four
    made = company_of(recipe(tmp_path), {"en": pools(*en), "ja": pools(*ja)})
    assert made.disjoint == {"en": "this language", "ja": "no"}
    assert made.pools["train"]["ja"] == made.pools["test"]["ja"] == pools(*ja)
    names = [{v.id for v in made.pools[s]["en"][Role.USER]} for s in ("train", "test")]
    assert not names[0] & names[1] and len(names[0] | names[1]) == 8


@settings(max_examples=40, deadline=None)
@given(
    links=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=2, unique=True), min_size=1, max_size=14),
    seed=st.integers(0, 99),
)
def test_whoever_is_divided_is_apart_and_can_be_cast(tmp_path_factory, links: list, seed: int) -> None:
    """Whatever the mixes: apart where it says so, and every role finds somebody."""
    made_of = [[f"p{k}" for k in link] for link in links]
    voices = [voice(f"v{i}", "female", ("en",), *parts) for i, parts in enumerate(made_of)]
    path = tmp_path_factory.mktemp("cast")
    one = recipe(path, RECIPE.replace('["en", "ja"]', '["en"]').replace("seed = 3", f"seed = {seed}"))
    made = company_of(one, {"en": pools(*voices)})
    if made.disjoint["en"] == "no":
        assert made.pools["train"]["en"] == pools(*voices)
        return
    assert not families_heard(made, "train") & families_heard(made, "test")
    for split in ("train", "test"):
        cast(made.pools[split]["en"], roles=("user", "system"), seed=0, group="g", position=0, take=0)


def test_samples_of_two_splits_share_no_speaker(tmp_path: Path) -> None:
    """The plans themselves, with the default engine's mixed voices."""
    from duplexkit.builders.cast import voice_pools
    from duplexkit.builders.speakers import make_speaker

    made, speaker = recipe(tmp_path), make_speaker("kokoro", tmp_path)
    company = company_of(made, voice_pools(made, speaker))
    heard: dict[str, set[str]] = {"train": set(), "test": set()}
    used: dict[str, Counter] = {"train": Counter(), "test": Counter()}
    for job in jobs_of(made):
        for turn in plan_of(made, job, company.pools[job.split]).turns:
            heard[job.split] |= set(speaker.voices()[turn.voice].parents)
            if turn.name == "context" and job.language == "en":
                used[job.split][turn.voice] += 1
    assert heard["train"] and heard["test"] and not heard["train"] & heard["test"]
    for counter in used.values():
        assert max(counter.values()) - min(counter.values()) <= 1, "balanced inside a split"


def test_a_bank_or_a_count_that_grows_changes_no_earlier_choice(tmp_path: Path) -> None:
    voices = pools(*(voice(f"e{i}") for i in range(8)))
    made = recipe(tmp_path, RECIPE.replace('["en", "ja"]', '["en"]'))
    grown = replace(made, entries=tuple(replace(entry, count=50) for entry in made.entries))
    before, after = (company_of(r, {"en": voices}) for r in (made, grown))
    assert before == after
    plans = {job.id: plan_of(grown, job, after.pools[job.split]) for job in jobs_of(grown)}
    for job in jobs_of(made):
        assert plans[job.id] == plan_of(made, job, before.pools[job.split])
