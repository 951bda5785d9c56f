"""What differs between a build and its variants: counted again by pyarrow alone, for every kind of variant."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from duplexkit.builders.build import BuildResult
from duplexkit.builders.differences import differences
from duplexkit.builders.speakers import engines
from duplexkit.builders.variant import Asked
from duplexkit.cards.card import write_card
from duplexkit.scenarios.conversation import Voice
from tests import tone
from tests.builders.test_variant import made
from tests.conftest import build_tones, tone_recipe_text
from tests.release import restated
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]
AUDIO = ("input", "clean_input", "untreated_input", "system")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tone.install()
    place = tmp_path_factory.mktemp("base")
    text = tone_recipe_text("talking_to_others", "user_interruption").replace('["en", "ja"]', '["en"]')
    return build_tones(place, text, place / "base").folder


def table_of(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.ParquetFile(path).read() for path in sorted(folder.glob("*/*/*.parquet")))


def without_language(id_: str) -> tuple[str, ...]:
    scenario, _, script, take = id_.split("/")
    return scenario, script, take


def counted(base: Path, out: Path) -> dict[str, tuple[int, int]]:
    """Return for each column of the shards how many samples are the same, and how many are not."""
    old, new = table_of(base), table_of(out)
    places = {without_language(id_): i for i, id_ in enumerate(old["id"].to_pylist())}
    order = [places[without_language(id_)] for id_ in new["id"].to_pylist()]
    found = {}
    for name in new.column_names:
        was, now = old.take(order)[name].to_pylist(), new[name].to_pylist()
        if name in AUDIO:
            was, now = ([one and one["bytes"] for one in values] for values in (was, now))
        pairs = [pair for pair in zip(was, now, strict=True) if pair != (None, None)]
        n_same = sum(a == b for a, b in pairs)
        found[name] = (n_same, len(pairs) - n_same)
    return found


HIBARI = Asked(engine="hibari")


@pytest.mark.parametrize(
    ("asked", "changed", "same"),
    [
        pytest.param(
            Asked(voices="demo"),
            {"input": 4, "turns": 4, "treatment": 2, "provenance": 4},
            {"id": 4, "split": 4, "script": 4, "preset": 4},
            id="voices",
        ),
        pytest.param(HIBARI, {"input": 4, "provenance": 4}, {"id": 4, "split": 4, "script": 4}, id="engine"),
        pytest.param(
            Asked(language="ja"),
            {"id": 4, "language": 4, "input": 4, "turns": 4},
            {"split": 4, "scenario": 4},
            id="language",
        ),
        pytest.param(
            Asked(treatments=("talking_to_others=off_axis_varied@1",)),
            {"input": 2, "treatment": 2, "events": 2},
            {"clean_input": 4, "turns": 4, "duration_s": 4},
            id="treatment",
        ),
        pytest.param(
            Asked(overrides=("scenarios.user_interruption.wait_s=6.5",)),
            {"input": 2, "turns": 2, "events": 2, "duration_s": 2},
            {"treatment": 2, "clean_input": 2},
            id="set",
        ),
    ],
)
def test_every_column_is_told_as_the_parquet_files_have_it(
    base: Path, tmp_path: Path, asked: Asked, changed: dict[str, int], same: dict[str, int]
) -> None:
    out = made(base, tmp_path / "out", tmp_path / "cache", asked).folder
    told = differences(base, out)["columns"]
    assert {name: (one["same"], one["changed"]) for name, one in told.items()} == counted(base, out)
    assert {name: told[name]["changed"] for name in changed} == changed
    assert {name: told[name]["same"] for name in same} == same
    for name, one in told.items():
        assert bool(one.get("fields")) == bool(one["changed"]) or "fields" not in one, name
        assert max(one.get("fields", {}).values(), default=0) <= one["changed"], name


def test_the_fields_that_changed_are_named(base: Path, tmp_path: Path) -> None:
    out = made(
        base, tmp_path / "out", tmp_path / "cache", Asked(treatments=("talking_to_others=off_axis_varied@1",))
    ).folder
    told = differences(base, out)["columns"]
    old, new = table_of(base).to_pylist(), table_of(out).to_pylist()
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a["treatment"] is not None]
    wanted = {
        key: sum(a["treatment"][key] != b["treatment"][key] for a, b in pairs) for key in old[0]["treatment"]
    }
    assert told["treatment"]["fields"] == {key: n for key, n in wanted.items() if n}
    assert {"preset", "target_db"} <= set(told["treatment"]["fields"])
    assert told["provenance"]["fields"] == {"recipe_digest": 2}


def changed_rows(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite every shard of a folder with its rows changed, and let the manifest state it."""
    for path in sorted(folder.glob("*/*/*.parquet")):
        table = pq.ParquetFile(path).read()
        rows = table.to_pylist()
        for row in rows:
            change(row)
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
        restated(folder, path.relative_to(folder).as_posix())


def test_null_a_sign_of_zero_and_a_value_that_comes(tone_build: Build, tmp_path: Path) -> None:
    """-0.0 is 0.0; null is no value; a field is found inside lists of lists."""
    text = tone_recipe_text("user_interruption").replace('["en", "ja"]', '["en"]')
    one, two = (tone_build(text, tmp_path / name).folder for name in ("one", "two"))

    def first(row: dict[str, Any]) -> None:
        row["checks"]["onset_error_s"], row["checks"]["dnsmos_sig"] = 0.0, None

    def second(row: dict[str, Any]) -> None:
        row["checks"]["onset_error_s"], row["checks"]["dnsmos_sig"] = -0.0, 3.5
        row["turns"][0]["words"][-1]["offset_s"] += 0.25

    changed_rows(one, first)
    changed_rows(two, second)
    told = differences(one, two)["columns"]
    assert told["checks"] == {"same": 0, "changed": 2, "fields": {"dnsmos_sig": 2}}
    assert told["turns"] == {"same": 0, "changed": 2, "fields": {"words.offset_s": 2}}
    assert told["system"] == {"same": 0, "changed": 0}
    assert {name: (one_["same"], one_["changed"]) for name, one_ in told.items()} == counted(one, two)


class Kin(ToneSpeaker):
    """Its set `native` has a voice of the style of tone-a, and one of nobody's."""

    engine = "kin"

    def voices(self) -> dict[str, Voice]:
        known = super().voices()
        mixed = replace(known["tone-c"], id="mix-c", mix=(("tone-a:prosody", 0.5), ("own", 0.5)))
        return {**known, mixed.id: mixed}

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        sets = {"default": ("tone-a", "tone-b"), "native": ("mix-c", "tone-d"), "mixed": ("mix-c",)}
        return {"en": sets, "ja": sets}


@pytest.mark.parametrize("voices", ["native", "mixed"])
def test_a_role_goes_to_another_style_where_there_is_one(
    tone_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, voices: str
) -> None:
    monkeypatch.setitem(engines(), "kin", replace(engines()["tone"], name="kin", make=Kin))
    text = tone_recipe_text("user_interruption", count=6).replace('["en", "ja"]', '["en"]')
    folder = tone_build(text.replace('"tone"', '"kin"'), tmp_path / "base").folder
    out = made(folder, tmp_path / "out", tmp_path / "cache", Asked(voices=voices)).folder
    who = {
        id_: (a[0]["voice"], b[0]["voice"])
        for id_, a, b in zip(
            table_of(folder)["id"].to_pylist(),
            *([p["voices"] for p in table_of(f)["provenance"].to_pylist()] for f in (folder, out)),
            strict=True,
        )
    }
    assert {was for was, _ in who.values()} == {"tone-a", "tone-b"}
    told = differences(folder, out)["voices"]
    if voices == "native":
        assert all(now == "tone-d" for was, now in who.values() if was == "tone-a")
        assert told == {"roles": {"same": 0, "alike": 0, "other": 6}, "alike": []}
        return
    alike = [id_ for id_, pair in who.items() if pair == ("tone-a", "mix-c")]
    assert told["roles"] == {"same": 0, "alike": len(alike), "other": 6 - len(alike)} and alike
    assert told["alike"] == [
        {"id": id_, "role": "user", "was": "tone-a", "is": "mix-c", "shared": ["tone-a"]} for id_ in alike
    ]


def test_manifest_and_card_say_what_the_variant_is_of(base: Path, tmp_path: Path) -> None:
    asked = Asked(treatments=("talking_to_others=on_axis",), name="doors")
    once = made(base, tmp_path / "once", tmp_path / "cache", asked).folder
    twice = made(once, tmp_path / "twice", tmp_path / "cache", Asked(overrides=("version=1.1.0",))).folder
    plain, door, again = (json.loads((f / "manifest.json").read_text()) for f in (base, once, twice))
    assert "variant_of" not in plain and "First release." in (base / "README.md").read_text()
    assert door["variant_of"] == {
        "name": "tones",
        "version": "1.0.0",
        "recipe_digest": plain["recipe_digest"],
        "asked": ["--treatment talking_to_others=on_axis"],
        "changed": {
            "name": {"was": "tones", "is": "doors"},
            "scenarios.talking_to_others.treatment": {"was": "off_axis@1", "is": "on_axis"},
        },
    }
    assert again["variant_of"]["changed"]["version"] == {"was": "1.0.0", "is": "1.1.0"}
    assert again["variant_of"]["variant_of"] == door["variant_of"]
    write_card(twice)  # from what is on disk, and no variant.json beside it
    card = (twice / "README.md").read_text()
    assert "First release" not in card and not (twice / "variant.json").exists()
    name = again["recipe"]["name"]
    said = (
        f"`{name}` is a variant of `doors` 1.0.0 (recipe digest `{door['recipe_digest'][:16]}`), made with "
        f"`--set version=1.1.0`."
    )
    assert card.count(said) == 2, "in its section, and in the changelog"
    assert f"`doors` is a variant of `tones` 1.0.0 (recipe digest `{plain['recipe_digest'][:16]}`)" in card
    assert '| `version` | `"1.0.0"` | `"1.1.0"` |' in card
