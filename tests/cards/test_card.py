"""A card says what the folder holds: its numbers are counted again here, by pyarrow alone."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml

from duplexkit.builders.build import BuildResult
from duplexkit.cards.card import write_card
from duplexkit.cards.describe import describe
from duplexkit.cards.summarize import summarize
from duplexkit.cards.tables import _reason, timing_table, value_text
from tests.conftest import tone_recipe_text
from tests.release import as_committed

made: dict[str, Path] = {}


@pytest.fixture
def folder(tone_build: Callable[..., BuildResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every scenario, built and described once."""
    if not made:
        out = tmp_path_factory.mktemp("card") / "out"
        made["out"] = tone_build(tone_recipe_text().replace("CC0-1.0", "CC-BY-4.0"), out).folder
        as_committed(out)
        (out / "release.toml").write_text(
            'authors = [{ name = "A. Tester" }]\ndate = "2026-11-29"\n[consent]\n"*" = "tones"\n',
            encoding="utf-8",
        )
        describe(out, repository="me/tones", version="1.0.0", preview=False)
    return made["out"]


def text_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def table_of(folder: Path, first: str) -> list[list[str]]:
    """Return the rows of the card's table whose heading begins with `first`."""
    lines = text_of(folder).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def all_rows(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(path) for path in sorted(folder.rglob("*.parquet")))


def test_rows_and_hours(folder: Path) -> None:
    found = {row[0].strip("`"): (int(row[2]), row[3]) for row in table_of(folder, "configuration")}
    wanted = {}
    for path in folder.rglob("*.parquet"):
        lengths = pq.read_table(path, columns=["duration_s"])["duration_s"]
        config = "-".join(path.relative_to(folder).parts[:2])
        wanted[config] = (len(lengths), f"{pc.sum(lengths).as_py() / 3600:.3f}")
    assert found == wanted and len(found) == 16
    rows = all_rows(folder)
    hours = pc.sum(rows["duration_s"]).as_py() / 3600
    assert f"{rows.num_rows} rows, {hours:.3f} hours, 24000 Hz." in text_of(folder)


def test_event_counts(folder: Path) -> None:
    kinds = pc.list_flatten(all_rows(folder)["events"]).combine_chunks().field("kind")
    wanted = {entry["values"]: entry["counts"] for entry in pc.value_counts(kinds).to_pylist()}
    assert {row[0].strip("`"): int(row[1]) for row in table_of(folder, "kind")} == wanted


def test_measures(folder: Path) -> None:
    checks = all_rows(folder)["checks"].combine_chunks()
    found = {row[0].strip("`"): row[1:] for row in table_of(folder, "measure")}
    for name in ("onset_error_s", "level_error_db", "true_peak_dbfs"):
        values = checks.field(name).drop_null()
        assert int(found[name][0]) == len(values)
        low, high = pc.min_max(values).as_py().values()
        middle = pc.quantile(values, 0.5)[0].as_py()
        assert [float(v) for v in found[name][1:]] == pytest.approx([low, middle, high], abs=6e-5)


def test_voices_and_licences(folder: Path) -> None:
    counted: Counter[str] = Counter()
    for row in all_rows(folder).select(["provenance"]).to_pylist():
        counted.update(voice["voice"] for voice in row["provenance"]["voices"])
    assert {row[0].strip("`"): int(row[3]) for row in table_of(folder, "voice")} == counted
    assert "goes out under **CC-BY-4.0**" in text_of(folder)
    assert "duplexkit script bank 1 (model-written), CC-BY-4.0: text" in text_of(folder)


def test_the_datasheet_says_what_was_stated(folder: Path) -> None:
    text = text_of(folder)
    assert "**Human validation.** not human-validated.\n" in text
    assert "DNSMOS, word error rate, speaker similarity: not measured." in text
    assert "`tone-a`: tones" in text
    assert "author = {A. Tester}" in text and "year = {2026}" in text
    bare = Path(folder.parent / "bare")
    bare.mkdir(exist_ok=True)
    for path in folder.rglob("*.parquet"):
        target = bare / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (bare / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    write_card(bare)
    text = text_of(bare)
    assert "**no basis stated**" in text
    assert "PATH_OR_REPO" in text and "plots/" not in text


def test_the_yaml_agrees_with_parquet(folder: Path) -> None:
    from datasets import Features

    front = yaml.safe_load(text_of(folder).split("---\n")[1])
    assert front["license"] == "cc-by-4.0" and front["language"] == ["en", "ja"]
    shards = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    named: dict[str, Any] = {entry["config_name"]: entry for entry in front["configs"]}
    assert {p for entry in named.values() for files in entry["data_files"] for p in files["path"]} == shards
    for info in front["dataset_info"]:
        stated = Features._from_yaml_list(info["features"])
        assert str(info["version"]) == "1.0.0"
        paths = [p for files in named[info["config_name"]]["data_files"] for p in files["path"]]
        assert sum(pq.read_metadata(folder / p).num_rows for p in paths) == sum(
            split["num_examples"] for split in info["splits"]
        )
        for path in paths:
            assert Features.from_arrow_schema(pq.read_schema(folder / path)) == stated


def test_timing_is_measured_again_from_rows(folder: Path) -> None:
    table = timing_table(summarize(folder))
    gaps = 0
    for row in all_rows(folder).select(["events", "provenance"]).to_pylist():
        laws = json.loads(row["provenance"]["timing_profile"] or "{}")
        for event in row["events"]:
            shift = event["kind"] == "shift" and event["intended_fto_s"] is not None
            direction = "user_to_system" if event["role"] == "system" else "system_to_user"
            barge_in = event["kind"] == "barge_in" and event["intended_fto_s"] is not None
            gaps += (shift and direction in laws) or (barge_in and "barge_in_overlap" in laws)
    assert sum(int(row[4]) for row in table[1:]) == gaps > 0
    for row in table[1:]:
        assert " | ".join(row) in text_of(folder)


def test_croissant_is_valid_and_lists_the_shards(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    manifest = json.loads((folder / "manifest.json").read_text())
    found = {file.id: file.sha256 for file in dataset.metadata.distribution if file.id in manifest["files"]}
    assert found == {name: facts["sha256"] for name, facts in manifest["files"].items()}
    assert dataset.metadata.version == "1.0.0"


def test_the_citation_names_the_authors(folder: Path) -> None:
    found = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["authors"] == [{"name": "A. Tester"}] and found["cff-version"] == "1.2.0"
    assert found["license"] == "CC-BY-4.0" and found["version"] == "1.0.0"


def test_plots_are_there_and_in_the_card(folder: Path) -> None:
    from PIL import Image

    names = sorted(path.name for path in (folder / "plots").glob("*.png"))
    assert sum(name.startswith("timeline_") for name in names) == 8
    assert {"fto.png", "durations.png", "levels.png", "treatments.png"} <= set(names)
    assert set(re.findall(r"plots/(\S+\.png)", text_of(folder))) == set(names)
    for name in names:
        with Image.open(folder / "plots" / name) as picture:
            assert picture.width == 990 and len(set(picture.convert("L").resize((99, 60)).tobytes())) > 20


def test_no_table_of_the_card_is_broken(folder: Path) -> None:
    widths: list[int] = []
    for line in text_of(folder).split("---\n", 2)[2].splitlines():
        if line.startswith("|"):
            widths.append(len(re.findall(r"(?<!\\)\|", line)))
            assert len(set(widths)) == 1, line
        else:
            widths = []


def test_small_texts() -> None:
    assert value_text([4.0, 4.0]) == "4" and value_text([0.4, 1.0]) == "0.4 to 1"
    assert value_text(True) == "yes" and value_text("none") == "none"
    assert _reason("a/b/c", "a/b/c: level at event 0: -7 dB, wanted -8") == "level"
    assert _reason("a/b/c", "no voice could say this at all") == "no voice could say this at all"
