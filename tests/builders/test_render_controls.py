"""The addressee controls: four takes of a script that differ in text and sound, and in nothing else."""

import io
import json
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit.builders.build import build
from duplexkit.builders.jobs import jobs_of
from duplexkit.builders.write import read_rows
from duplexkit.scenarios.addressee_controls import CELLS, NEAREST, _pool
from duplexkit.scenarios.bank import SHIPPED
from duplexkit.scenarios.recipe import load_recipe
from tests.conftest import tone_recipe_text

SCRIPTS = 2
LANGUAGES = ("en", "ja")


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return the rows of each language's scripts, two groups of four takes each."""
    folder = tmp_path_factory.mktemp("controls")
    for language in LANGUAGES:
        bank = SHIPPED / language / "talking_to_others.jsonl"
        own = folder / "scripts" / language
        own.mkdir(parents=True)
        lines = bank.read_text(encoding="utf-8").splitlines()[:SCRIPTS]
        (own / bank.name).write_text("\n".join(lines), encoding="utf-8")
    extra = 'preset = "controls"\nwait_s = [0.5, 1.5]\ntail_s = [0.5, 1.0]\n'
    text = tone_recipe_text("talking_to_others", count=8 * SCRIPTS, extra={"talking_to_others": extra})
    recipe = folder / "recipe.toml"
    recipe.write_text(text.replace("[speech]", 'scripts = "scripts"\n[speech]'), encoding="utf-8")
    result = build(
        load_recipe(str(recipe)),
        folder / "out",
        cache_dir=folder / "cache",
        workers=1,
        describe=lambda folder: None,
        progress=lambda outcome, done, total: None,
    )
    assert not result.rejects
    rows = [row for path in sorted(result.folder.glob("*/*/*.parquet")) for row in read_rows(path)]
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        script, take = row["id"].rsplit("/", 1)
        groups.setdefault((script, int(take) // 4), []).append(row)
    return groups


def tag(row: dict[str, Any], name: str) -> str:
    (value,) = (tag.split(":")[1] for tag in row["script"]["tags"] if tag.startswith(f"{name}:"))
    return value


def pcm(cell: dict[str, Any]) -> np.ndarray:
    return soundfile.read(io.BytesIO(cell["bytes"]), dtype="int16")[0].astype(np.float64)


def test_four_takes_are_the_four_cells(cells: dict[tuple[str, int], list[dict[str, Any]]]) -> None:
    assert len(cells) == 2 * SCRIPTS * len(LANGUAGES)
    by_cell: dict[tuple[str, str], int] = {}
    for rows in cells.values():
        assert {(tag(row, "text"), tag(row, "sound")) for row in rows} == set(CELLS)
        first = tag(rows[0], "text"), tag(rows[0], "sound")
        by_cell[first] = by_cell.get(first, 0) + 1
        _same_but_for_the_cell(rows)
    assert len(by_cell) == SCRIPTS, "scripts start at different cells"


def _same_but_for_the_cell(rows: list[dict[str, Any]]) -> None:
    def all_same(values: list[Any]) -> bool:
        return all(value == values[0] for value in values)

    records = [json.loads(row["provenance"]["room"]) for row in rows]
    assert all_same([[turn["speaker"] for turn in row["turns"]] for row in rows])
    assert all_same([row["turns"][0] for row in rows])
    assert all_same([row["provenance"]["turns"][0] for row in rows])
    assert all_same([row["events"][-1]["onset_s"] for row in rows])
    assert all_same(
        [(record["params"], record["noise_floor_dbov"], record["noise_seed"]) for record in records]
    )
    until = round(rows[0]["events"][-1]["onset_s"] * 24000) - 480
    heard = [pcm(row["input"])[:until] for row in rows]
    assert max(np.max(np.abs(other - heard[0])) for other in heard) <= 3, "one sound up to the event"
    for text in ("addressed", "aside"):
        pair = [row for row in rows if tag(row, "text") == text]
        assert all_same([row["turns"][1]["text"] for row in pair])
        assert all_same([row["provenance"]["turns"][1]["stem"] for row in pair])
    off_axis = [json.loads(row["treatment"]["params"]) for row in rows if tag(row, "sound") == "off_axis"]
    assert all_same(off_axis)


def test_the_text_decides_what_is_expected_and_levels_are_alike(
    cells: dict[tuple[str, int], list[dict[str, Any]]],
) -> None:
    for row in (row for rows in cells.values() for row in rows):
        event, treatment = row["events"][-1], row["treatment"]
        if tag(row, "text") == "addressed":
            expected = ("barge_in", "stop_and_respond", "respond")
            assert event["addressee"] is None and row["script"]["addressee"] is None
        else:
            expected = ("side_talk", "keep_talking", "no_takeover")
            assert event["addressee"]
        assert (event["kind"], event["expected_if_speaking"], event["expected_if_silent"]) == expected
        assert (
            treatment["preset"] == {"on_axis": "on_axis", "off_axis": "off_axis_varied@1"}[tag(row, "sound")]
        )
        assert treatment["target_db"] == 0.0 and abs(row["checks"]["level_error_db"]) <= 0.1


def test_groups_of_a_script_are_new_draws(cells: dict[tuple[str, int], list[dict[str, Any]]]) -> None:
    for (script, group), rows in cells.items():
        if group == 0:
            other = cells[script, 1]
            assert rows[0]["events"][-1]["onset_s"] != other[0]["events"][-1]["onset_s"]


def test_the_shipped_recipe_is_complete() -> None:
    recipe = load_recipe("addressee-controls")
    per_script: dict[str, set[int]] = {}
    for job in jobs_of(recipe):
        script, take = job.id.rsplit("/", 1)
        per_script.setdefault(script, set()).add(int(take))
    assert set(map(frozenset, per_script.values())) == {frozenset(range(len(CELLS)))}


@pytest.mark.parametrize("language", LANGUAGES)
def test_addressed_texts_fit_after_any_context(language: str) -> None:
    pool = _pool(language)
    assert len(pool) >= 4 * NEAREST
    assert {script.turns[1].intent for script in pool} == {"topic_change"}
