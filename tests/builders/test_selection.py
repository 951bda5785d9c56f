"""Splits: by measure, number and share; scripts and speakers apart; what cannot be is explained with numbers."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import RecipeError, ReleaseError
from duplexkit.builders.build import BuildResult, build
from duplexkit.builders.candidates import Candidate, Selection
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.reselect import load_wanted_splits, reselect
from duplexkit.builders.said import all_said
from duplexkit.builders.selected_speakers import speakers_apart
from duplexkit.builders.selection import largest_remainders, select
from duplexkit.builders.variant import Asked, variant_of
from duplexkit.cards.card import write_card
from duplexkit.scenarios.wanted_splits import read_wanted_splits
from tests.builders.test_build import rows_of
from tests.conftest import tone_recipe_text


def candidate(i: int, **changes: object) -> Candidate:
    facts = {
        "id": f"mt_qa/en/s{i}/0",
        "scenario": "mt_qa",
        "language": "en",
        "script": f"s{i}",
        "domain": "food" if i % 2 else "travel",
        "intent": "stop" if i % 4 == 0 else "follow_up",
        "speakers": frozenset({f"v{i % 5}"}),
        "length_s": 60.0 + i,
        "values": {"dnsmos_ovrl": 3.0 + (i * 7 % 40) / 100, "wer": (i * 13 % 40) / 100},
    }
    return Candidate(**{**facts, **changes})  # type: ignore[arg-type]


FORTY = [candidate(i) for i in range(40)]


def wanted(**table: object):
    return read_wanted_splits(table)


def test_the_best_by_a_measure_are_those_of_a_sort() -> None:
    chosen = select(FORTY, wanted(test={"count": 10, "measure": "dnsmos_ovrl"}), seed=1).splits
    best = sorted(FORTY, key=lambda c: -c.values["dnsmos_ovrl"])[:10]
    assert {id_ for id_, split in chosen.items() if split == "test"} == {c.id for c in best}
    low = select(FORTY, wanted(test={"count": 10, "measure": "wer"}), seed=1).splits
    best = sorted(FORTY, key=lambda c: c.values["wer"])[:10]
    assert {id_ for id_, split in low.items() if split == "test"} == {c.id for c in best}


def test_hours_are_filled_per_group_with_the_best() -> None:
    """M3's way: the best hour of each domain, here a tenth of one."""
    table = wanted(test={"hours": 0.1, "measure": "dnsmos_ovrl"}, within=["language", "domain"])
    chosen = select(FORTY, table, seed=1).splits
    for domain in ("food", "travel"):
        ranked = sorted((c for c in FORTY if c.domain == domain), key=lambda c: -c.values["dnsmos_ovrl"])
        mine = [c for c in ranked if chosen[c.id] == "test"]
        assert mine == ranked[: len(mine)]
        assert sum(c.length_s for c in mine) / 3600 == pytest.approx(0.1, abs=0.5 * 100 / 3600)


def test_as_much_of_each_language_whether_scripts_are_parallel_or_not() -> None:
    """Parallel dialogues go together, other scripts of one id have nothing to do with each other."""
    for scenario, n_apart in (("mt_qa", 0), ("user_interruption", 3)):
        there = [
            candidate(
                i,
                id=f"{scenario}/{language}/s{i}/0",
                scenario=scenario,
                language=language,
                values={"wer": wer},
            )
            for i in range(12)
            for language, wer in (("en", i / 40), ("ja", (11 - i) / 40 if n_apart else i / 40))
        ][:-1]  # one was rejected
        table = wanted(test={"count": 3, "measure": "wer"}, within=["language"])
        chosen = select(there, table, seed=1).splits
        test = sorted(id_ for id_, split in chosen.items() if split == "test")
        assert Counter(id_.split("/")[1] for id_ in test) == {"en": 3, "ja": 3}
        scripts = Counter(id_.split("/")[2] for id_ in test)
        assert sum(n == 1 for n in scripts.values()) == 2 * n_apart


def test_speakers_are_chosen_by_what_their_samples_measure() -> None:
    """Each sample has one speaker: the best of these are taken, and with them the best samples."""
    there = [
        candidate(i, speakers=frozenset({f"v{i % 4}"}), values={"dnsmos_ovrl": 3.0 + (i % 4) / 10 + i / 1000})
        for i in range(40)
    ]
    table = wanted(test={"fraction": 0.25, "measure": "dnsmos_ovrl", "speakers": 2}, within=[])
    chosen = select(there, table, seed=3)
    assert chosen.speakers["test"] == {"v2", "v3"}
    best = sorted((c for c in there if c.speakers <= {"v2", "v3"}), key=lambda c: -c.values["dnsmos_ovrl"])[
        :10
    ]
    assert {id_ for id_, split in chosen.splits.items() if split == "test"} == {c.id for c in best}


@given(st.permutations(FORTY), st.integers(0, 5))
def test_the_order_of_samples_changes_nothing(shuffled: list[Candidate], seed: int) -> None:
    table = wanted(test={"fraction": 0.2}, validation={"count": 4, "measure": "wer"}, stratify="intent")
    assert select(shuffled, table, seed=seed).splits == select(FORTY, table, seed=seed).splits


def test_a_fraction_is_one_of_its_group_and_another_seed_chooses_others() -> None:
    table = wanted(test={"fraction": 0.25})
    first, second = (select(FORTY, table, seed=seed).splits for seed in (1, 2))
    assert Counter(first.values()) == {"test": 10, "train": 30}
    assert first != second


def test_strata_keep_their_shares() -> None:
    chosen = select(FORTY, wanted(test={"count": 12, "measure": "wer"}, stratify="intent"), seed=1).splits
    test = Counter(c.intent for c in FORTY if chosen[c.id] == "test")
    assert test == {"stop": 3, "follow_up": 9}, "a quarter of the samples are stops"


def test_takes_and_languages_of_a_script_stay_together() -> None:
    many = [
        candidate(i, id=f"mt_qa/{language}/s{i}/{take}", language=language)
        for i in range(12)
        for language in ("en", "ja")
        for take in (0, 1)
    ]
    chosen = select(many, wanted(test={"fraction": 0.25}), seed=3).splits
    splits = defaultdict(set)
    for c in many:
        splits[c.script].add(chosen[c.id])
    assert all(len(there) == 1 for there in splits.values())
    apart = select(many, wanted(test={"fraction": 0.25}, keep_parallel=False), seed=3).splits
    assert any(apart[c.id] != apart[c.id.replace("/en/", "/ja/")] for c in many if c.language == "en")


def test_speakers_are_apart_and_mixed_samples_are_left_out() -> None:
    pairs = [
        candidate(i, id=f"mt_qa/en/p{i}/0", script=f"p{i}", speakers=frozenset({f"v{i % 5}", f"w{i % 3}"}))
        for i in range(36)
    ]
    everything = [*FORTY, *pairs]
    found = select(everything, wanted(test={"count": 6, "speakers": 3}), seed=1)
    heard: dict[str, set[str]] = defaultdict(set)
    for c in everything:
        if c.id in found.splits:
            heard[found.splits[c.id]] |= c.speakers
    assert heard["test"] and heard["train"] and not heard["test"] & heard["train"]
    assert len(found.speakers["test"]) == 3 and heard["test"] <= found.speakers["test"]
    assert set(found.left_out) | set(found.splits) == {c.id for c in everything}
    assert not set(found.left_out) & set(found.splits)
    for c in everything:
        if c.id in found.left_out:
            assert c.speakers & found.speakers["test"], "nobody is left out without need"


def test_three_test_speakers_of_two_are_refused_with_the_numbers() -> None:
    two = [candidate(i, speakers=frozenset({f"v{i % 2}"})) for i in range(10)]
    with pytest.raises(
        RecipeError, match=r"asked for 3 test speakers and some for train, but there are only 2: v0, v1"
    ):
        select(two, wanted(test={"count": 2, "speakers": 3}), seed=1)


def test_more_than_there_is_is_refused_with_the_numbers() -> None:
    with pytest.raises(
        RecipeError, match=r"splits.test: asked for 50 samples in group mt_qa/en, but only 40 samples are"
    ):
        select(FORTY, wanted(test={"count": 50}), seed=1)
    with pytest.raises(RecipeError, match=r"asked for 3 h in group mt_qa/en, but only 0.883 h are there"):
        select(FORTY, wanted(test={"hours": 3.0}), seed=1)
    with pytest.raises(RecipeError, match=r"splits.train: nothing is left for it"):
        select(FORTY, wanted(test={"count": 40}), seed=1)
    with pytest.raises(
        RecipeError, match=r"'squim_stoi': no sample was measured; add 'squim' to checks.measures"
    ):
        select(FORTY, wanted(test={"count": 4, "measure": "squim_stoi"}), seed=1)


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 9), min_size=1, max_size=6))
def test_remainders_keep_the_sum(shares: dict[str, float]) -> None:
    whole = largest_remainders(shares)
    assert sum(whole.values()) == pytest.approx(sum(shares.values()), abs=0.51)
    assert all(abs(whole[name] - value) < 1 + 1e-6 for name, value in shares.items())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no split; wanted at least one of train, validation, test"),
        ({"tests": {"count": 1}}, r"splits.tests: unknown key; did you mean 'test'"),
        (
            {"test": {"count": 1, "hours": 2}},
            r"splits.test: wanted one of count, fraction and hours, not count and hours",
        ),
        ({"test": {"fraction": 1.0}}, r"splits.test.fraction = 1.0: wanted a share below 1"),
        ({"test": {"fraction": float("nan")}}, r"splits.test.fraction = nan: wanted a number above 0"),
        ({"test": {"count": 10**400}}, r"splits.test.count = 10+: wanted a number above 0"),
        ({"test": {"count": 0}}, r"splits.test.count = 0: wanted a number above 0"),
        ({"test": {"count": 1}, "rest": "test"}, r"splits.rest = 'test': wanted a split without wishes"),
        ({"test": {"count": 1}, "within": ["voice"]}, r"splits.within = \['voice'\]"),
        ({"test": {"count": 1, "speakers": 0}}, r"splits.test.speakers = 0"),
        ({"test": {"count": 1}, "stratify": "tags"}, r"splits.stratify = 'tags'"),
    ],
)
def test_wrong_tables_are_refused_by_key(table: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read_wanted_splits(table)


def test_a_value_without_a_better_end_has_no_best(tone_build: Callable[..., BuildResult]) -> None:
    text = tone_recipe_text("user_interruption") + SPLITS.replace("end_level_db", "f0_hz")
    with pytest.raises(RecipeError, match=r"splits.test.measure = 'f0_hz': neither end of it is the better"):
        tone_build(text)


SPLITS = """
[splits]
within = ["scenario"]
[splits.test]
count = 2
measure = "end_level_db"
"""


def test_a_build_splits_by_what_it_measured(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    text = tone_recipe_text("user_interruption", "user_backchannel", count=4)
    plain = rows_of(tone_build(text, tmp_path / "plain").folder)
    folder = tone_build(text + SPLITS.replace("count = 2", "fraction = 0.5"), tmp_path / "split").folder
    rows = rows_of(folder)
    assert set(rows) == set(plain) and {row["split"] for row in plain.values()} == {"test"}
    assert Counter(row["split"] for row in rows.values()) == {"test": 8, "train": 8}
    for path in folder.glob("*/*/*.parquet"):
        assert set(pq.read_table(path, columns=["split"])["split"].to_pylist()) == {path.name.split("-")[0]}
    scripts = defaultdict(set)
    for row in rows.values():
        scripts[row["scenario"], row["language"], row["script"]["id"]].add(row["split"])
    assert all(len(there) == 1 for there in scripts.values())
    assert {k: v for k, v in rows[min(rows)].items() if k not in ("split", "provenance")} == {
        k: v for k, v in plain[min(rows)].items() if k not in ("split", "provenance")
    }
    facts = json.loads((folder / "quality.json").read_text())["selection"]
    levels = [r["checks"]["end_level_db"] for r in rows.values() if r["split"] == "test"]
    assert facts["splits"]["test"]["means"]["end_level_db"] == pytest.approx(sum(levels) / 8)
    assert "f0_hz" in facts["splits"]["test"]["means"] and facts["selected_by"] == ["end_level_db"]
    assert list(check_folder(folder, lambda done, total: None)) == []


def test_a_built_folder_is_split_anew(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    folder = tone_build(tone_recipe_text("user_interruption", count=4)).folder
    toml = tmp_path / "splits.toml"
    toml.write_text(SPLITS)
    out = tmp_path / "anew"
    facts = reselect(folder, load_wanted_splits(toml), out, describe=write_card)
    old, new = rows_of(folder), rows_of(out)
    assert {i: {**r, "split": ""} for i, r in old.items()} == {i: {**r, "split": ""} for i, r in new.items()}
    assert facts["splits"]["test"]["samples"] == sum(r["split"] == "test" for r in new.values()) == 2
    assert list(check_folder(out, lambda done, total: None)) == []
    with pytest.raises(ReleaseError, match="exists"):
        reselect(folder, load_wanted_splits(toml), out, describe=write_card)


def test_a_variant_of_a_selected_folder_keeps_its_splits_and_what_was_left_out(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    folder = tone_build(tone_recipe_text("background_speech", count=12), tmp_path / "base").folder
    table = read_wanted_splits({"test": {"count": 1, "speakers": 2}, "within": []})
    out = tmp_path / "anew"
    facts = reselect(folder, table, out, describe=write_card)
    rows, old = rows_of(out), rows_of(folder)
    assert facts["left_out"] and set(rows) | set(facts["left_out"]) == set(old)
    splits = {id_: row["split"] for id_, row in rows.items()}
    assert {said.id: said.split for said in all_said(out)} == splits and len(set(splits.values())) == 2
    stems = {turn["stem"] for row in rows.values() for turn in row["provenance"]["turns"]}
    assert {path.stem for path in (out / "stems").glob("*/*.flac")} == stems
    assert len(stems) < len(list((folder / "stems").glob("*/*.flac")))
    was, now = (json.loads((f / "manifest.json").read_text()) for f in (folder, out))
    assert was["recipe"]["splits"] is None and now["recipe"]["splits"]["wishes"][0]["speakers"] == 2
    assert was["recipe_digest"] != now["recipe_digest"]
    apart = json.loads((out / "stems" / "speech.json").read_text())["speaker_disjoint"]
    assert set(apart.values()) == {"all languages"}

    variant = variant_of(out, Asked(treatments=("closed_door@1",)))
    result = build(
        variant.recipe,
        tmp_path / "variant",
        cache_dir=tmp_path / "empty",
        workers=1,
        base=variant.base,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    )
    assert {id_: row["split"] for id_, row in rows_of(result.folder).items()} == splits
    assert result.n_spoken == 0 and result.n_kept > 0


def test_how_far_apart_speakers_are_is_what_came_out() -> None:
    def said(*places: tuple[str, str, str]) -> dict[str, str]:
        there = [
            candidate(i, id=str(i), language=language, speakers=frozenset({speaker}))
            for i, (language, _, speaker) in enumerate(places)
        ]
        splits = {str(i): split for i, (_, split, _) in enumerate(places)}
        return speakers_apart(there, Selection(splits=splits, left_out=(), speakers={}))

    en = [("en", "test", "a"), ("en", "train", "b")]
    assert said(*en, ("ja", "test", "a")) == {"en": "all languages"}
    assert said(*en, ("ja", "test", "b")) == {"en": "this language"}
    assert said(*en, ("en", "train", "a")) == {"en": "no"}


def test_a_later_measurement_can_be_selected_by(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    folder = tone_build(tone_recipe_text("user_interruption", count=4)).folder
    ids = sorted(rows_of(folder))
    best = {id_ for id_ in ids if "/ui-003/" in id_ or id_ == ids[0]}
    lines = [{"id": id_, "values": {"squim_stoi": 0.9 if id_ in best else 0.5}} for id_ in ids]
    (folder / "quality").mkdir()
    (folder / "quality" / "values.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = read_wanted_splits({"test": {"count": 2, "measure": "squim_stoi"}, "within": []})
    reselect(folder, table, tmp_path / "anew", describe=write_card)
    kept = (tmp_path / "anew" / "quality" / "values.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == lines
    scripts = {row["script"]["id"] for row in rows_of(tmp_path / "anew").values() if row["split"] == "test"}
    means = {
        script: sum(line["values"]["squim_stoi"] for line in lines if f"/{script}/" in line["id"])
        for script in {id_.split("/")[2] for id_ in ids}
    }
    assert scripts == {max(sorted(means), key=lambda script: means[script])}
