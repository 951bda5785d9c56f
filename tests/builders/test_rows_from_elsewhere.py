"""Rows that nobody built (annotated, listened to, imported): check, measures, card and every fitting export."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from duplexkit import ReleaseError
from duplexkit.builders.built import read_manifest
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.commands_annotate import add_commands
from duplexkit.builders.imports import IMPORTS
from duplexkit.builders.imports.folder import write_imported
from duplexkit.builders.imports.origin import Origin
from duplexkit.builders.quality import measures_named
from duplexkit.builders.quality.clip_source import items_of
from duplexkit.builders.quality.measure import Tools
from duplexkit.builders.quality.measure_folder import measure_folder
from duplexkit.cards.describe import describe
from tests.builders import exported as ex
from tests.builders.two_channels import recording, write

CHAT = {
    0: [(0.5, 3.5), (8.0, 11.0), (17.0, 20.0)],
    1: [(4.0, 7.5), (10.6, 16.5)],
}
"""Shifts after gaps of 0.5 s, one that comes 0.4 s early."""

PAUSES = {0: [(1.0, 4.0), (4.7, 8.0)], 1: [(20.0, 23.0)]}
SHIFTS = {0: [(1.0, 6.0)], 1: [(6.25, 11.0)]}
STIMULUS = {0: [(0.2, 29.0)], 1: [(10.25, 10.5)], 2: [(10.3, 10.6), (20.05, 20.3)]}

ANNOTATED: dict[str, tuple[dict[int, list[tuple[float, float]]], list[str]]] = {
    "chat": (CHAT, []),
    "chat_untranscribed": (CHAT, []),
    "pause_handling": (PAUSES, ["--select", "pause_handling"]),
    "smooth_turn_taking": (SHIFTS, ["--select", "smooth_turn_taking"]),
    "annotations_only": (CHAT, ["--annotations-only"]),
    "listened": (STIMULUS, ["--layout", "icc"]),
}
FORMS = {"fdb": "imported_fdb", "m3": "imported_m3"}
SOURCES = (*ANNOTATED, *FORMS.values())

EXPORTS = {
    "chat": {"m3", "moshi", "lhotse", "nemo", "webdataset", "rttm", "textgrid", "audacity"},
    "pause_handling": {"fdb", "lhotse", "webdataset", "rttm", "textgrid", "audacity"},
    "smooth_turn_taking": set(ex.FORMATS),
    "annotations_only": set(),
    "chat_untranscribed": {"moshi", "lhotse", "nemo", "webdataset", "rttm", "textgrid", "audacity"},
    "listened": {"lhotse", "webdataset", "rttm", "textgrid", "audacity"},
    "imported_fdb": {"fdb", "lhotse", "webdataset", "rttm", "textgrid", "audacity"},
    "imported_m3": {"m3", "moshi", "lhotse", "nemo", "webdataset", "rttm", "textgrid", "audacity"},
}
"""Formats with a place for the rows: FDB for its tasks and M3 where words are known, training with two sides."""


def annotated(name: str, place: Path) -> Path:
    app = typer.Typer()
    add_commands(app)
    spans, more = ANNOTATED[name]
    write(place / "in" / "call.wav", recording(spans, 30.0))
    if name not in ("chat_untranscribed", "listened"):
        words = sorted((a, b, side) for side, listed in spans.items() for a, b in listed)
        lines = [f"{side}\t{a:.2f}\t{b:.2f}\tword{i}\n" for i, (a, b, side) in enumerate(words)]
        (place / "in" / "call.txt").write_text("".join(lines), encoding="utf-8")
    stated = ["--language", "en", "--licence", "CC-BY-4.0", "--attribution", "the callers"]
    arguments = [str(place / "in"), *stated, *more, "--out", str(place / "out")]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return place / "out"


def imported(form: str, place: Path) -> Path:
    ex.run(ex.everything() if form == "fdb" else ex.dataset("mt_qa", count=2), place / form, form)
    write_imported(
        IMPORTS[form](place / form, "en"),
        place / "out",
        name=form,
        origin=Origin(licence="CC-BY-4.0"),
        rate_hz=None,
        describe=lambda folder: None,
        progress=lambda done: None,
    )
    return place / "out"


@pytest.fixture(scope="module", params=SOURCES)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    name, place = request.param, tmp_path_factory.mktemp("elsewhere")
    forms = {value: key for key, value in FORMS.items()}
    return name, imported(forms[name], place) if name in forms else annotated(name, place)


def front(folder: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1]))


def test_check_finds_nothing(source: tuple[str, Path]) -> None:
    steps: list[tuple[int, int]] = []
    found = [str(f) for f in check_folder(source[1], lambda done, total: steps.append((done, total)))]
    assert found == []
    n = len(ex.rows(source[1]))
    assert steps == [(i + 1, n) for i in range(n)] and n > 0


def test_check_finds_wrong_times_even_without_sound(tmp_path: Path) -> None:
    folder = annotated("annotations_only", tmp_path)

    def late(stream: Any) -> Any:
        for row in stream:
            turns = [{**turn, "offset_s": row["duration_s"] + 1.0} for turn in row["turns"][:1]]
            yield {**row, "turns": [*turns, *row["turns"][1:]]}

    wrong = ex.changed(folder, tmp_path / "wrong", late)
    assert [f.name for f in check_folder(wrong, lambda done, total: None)] == ["times"]


def test_a_built_row_without_sound_is_found(tmp_path: Path) -> None:
    def silent(stream: Any) -> Any:
        for row in stream:
            yield {**row, "input": None}

    wrong = ex.changed(ex.dataset("smooth_turn_taking", count=1), tmp_path / "wrong", silent)
    found = [(f.name, f.measured) for f in check_folder(wrong, lambda done, total: None)]
    assert found == [("audio", "none")] * 2


def test_measures_take_turns_from_the_tracks(source: tuple[str, Path], tmp_path: Path) -> None:
    name, folder = source
    rows = ex.rows(folder)
    samples = measure_folder(
        folder,
        measures_named(["clipping", "active_level"], "here"),
        Tools(cache_dir=tmp_path),
        workers=1,
        progress=lambda done, total: None,
    )
    assert [s.id for s in samples] == [item.id for item in items_of(folder)]
    assert {s.id for s in samples} == set(rows)
    if name == "annotations_only":
        assert [s.by_turn for s in samples] == [()] * len(rows)
    else:
        measured = [turn for s in samples for turn in s.by_turn]
        assert len(measured) == sum(len(row["turns"]) for row in rows.values()) > 0
        assert all(value is not None for turn in measured for value in turn.values())


def test_the_card_names_every_configuration_and_its_files(source: tuple[str, Path]) -> None:
    _, folder = source
    describe(folder, plots=False, preview=False)
    configs = {row["config_name"]: row["data_files"] for row in front(folder)["configs"]}
    rows = ex.rows(folder).values()
    assert set(configs) == {
        name for r in rows for name in (r["scenario"], f"{r['scenario']}-{r['language']}")
    }
    listed = {path for files in configs.values() for part in files for path in part["path"]}
    assert listed == set(read_manifest(folder)["files"])


@pytest.mark.parametrize("to", ex.FORMATS)
def test_exports_take_what_fits_and_validate(source: tuple[str, Path], to: str, tmp_path: Path) -> None:
    name, folder = source
    if to not in EXPORTS[name]:
        with pytest.raises(ReleaseError, match=r"nothing of .* fits"):
            ex.run(folder, tmp_path / "out", to)
        return
    done = ex.run(folder, tmp_path / "out", to)
    rows = ex.rows(folder)
    assert done.n_written == len(rows) > 0, done.skipped
    assert ex.findings(tmp_path / "out", to) == []
    licence = read_manifest(folder)["recipe"]["licence"]
    assert json.loads((tmp_path / "out" / "export.json").read_text("utf-8"))["dataset"]["licence"] == licence
    if name in ANNOTATED:
        assert "the callers" in (tmp_path / "out" / "ATTRIBUTION.txt").read_text("utf-8")


@pytest.mark.parametrize("transcript", [True, False])
def test_a_pause_lies_inside_the_one_turn_of_its_row(transcript: bool, tmp_path: Path) -> None:
    write(tmp_path / "in" / "call.wav", recording(PAUSES, 30.0))
    if transcript:
        (tmp_path / "in" / "call.txt").write_text(
            "0\t1.00\t4.00\tone\n0\t4.70\t8.00\ttwo\n1\t20.00\t23.00\tthree\n", encoding="utf-8"
        )
    app = typer.Typer()
    add_commands(app)
    options = ["--select", "pause_handling", "--licence", "CC0-1.0", "--out", str(tmp_path / "out")]
    CliRunner().invoke(app, [str(tmp_path / "in"), *options], catch_exceptions=False)
    (row,) = ex.rows(tmp_path / "out").values()
    (turn,) = row["turns"]
    (pause,) = row["events"]
    assert pause["turn"] == 0
    assert turn["onset_s"] < pause["onset_s"] < pause["offset_s"] < turn["offset_s"]
    assert [word["text"] for word in turn["words"]] == (["one", "two"] if transcript else [])
    assert turn["text"] == ("one two" if transcript else "")
    assert [str(f) for f in check_folder(tmp_path / "out", lambda done, total: None)] == []


def test_an_imports_digest_is_that_of_its_content(tmp_path: Path) -> None:
    ex.run(ex.dataset("smooth_turn_taking"), tmp_path / "fdb", "fdb")

    def digest(out: str, licence: str = "CC0-1.0") -> str:
        write_imported(
            IMPORTS["fdb"](tmp_path / "fdb", "en"),
            tmp_path / out,
            name="fdb",
            origin=Origin(licence=licence),
            rate_hz=None,
            describe=lambda folder: None,
            progress=lambda done: None,
        )
        stated = str(read_manifest(tmp_path / out)["recipe_digest"])
        digests = {row["provenance"]["recipe_digest"] for row in ex.rows(tmp_path / out).values()}
        assert digests == {stated}
        return stated

    first = digest("one")
    assert digest("two") == first != digest("three", licence="CC-BY-4.0")
    path = next(tmp_path.glob("fdb/en/v1_0/*/1/turn_taking.json"))
    content = json.loads(path.read_text("utf-8"))
    content[0]["timestamp"][1] += 0.01
    path.write_text(json.dumps(content), encoding="utf-8")
    assert digest("four") != first
    entries = read_manifest(tmp_path / "four")["recipe"]["entries"]
    assert [(e["scenario"], e["languages"], e["count"], e["splits"]) for e in entries] == [
        ("smooth_turn_taking", ["en"], 2, {"test": 1.0}),
        ("smooth_turn_taking", ["ja"], 2, {"test": 1.0}),
    ]
