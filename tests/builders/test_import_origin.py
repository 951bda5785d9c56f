"""Where imported data comes from: what its user states and what the folder says goes into rows, card and exports."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.built import read_manifest
from duplexkit.builders.cli import main
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.check import check_export
from duplexkit.builders.imports.origin import origin_of
from duplexkit.cards.release.gate import reasons_against
from duplexkit.cards.summarize import summarize
from tests.builders import exported as ex
from tests.release import as_committed

SOURCE = "Full-Duplex-Bench v1.5, Lin et al. 2025"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as a benchmark has it, without papers of ours."""
    folder = tmp_path_factory.mktemp("origin") / "fdb"
    ex.run(ex.dataset("pause_handling"), folder, "fdb")
    for name in ("export.json", "ATTRIBUTION.txt"):
        (folder / name).unlink()
    return folder


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an export of ours whose voices are under a licence of their own."""
    place = tmp_path_factory.mktemp("ours")

    def by_ada(stream: Any) -> Any:
        for row in stream:
            voices = [
                {**v, "licence": "CC-BY-NC-4.0", "attribution": "Ada"} for v in row["provenance"]["voices"]
            ]
            yield {**row, "provenance": {**row["provenance"], "voices": voices}}

    ex.run(ex.changed(ex.dataset("pause_handling"), place / "in", by_ada), place / "fdb", "fdb")
    return place / "fdb"


def imported(folder: Path, out: Path, *options: str) -> Path:
    assert main(["import", "fdb", str(folder), "--out", str(out), *options]) == 0
    as_committed(out)
    assert main(["card", str(out), "--repo", "me/mine", "--no-plots", "--no-preview"]) == 0
    return out


def against(folder: Path) -> tuple[str, ...]:
    return reasons_against(folder, repository="me/mine", version="0.1.0")


def test_what_the_user_states_is_recorded_and_may_go_out(theirs: Path, tmp_path: Path) -> None:
    out = imported(theirs, tmp_path / "out", "--licence", "CC-BY-4.0", "--source", SOURCE)
    recipe = read_manifest(out)["recipe"]
    assert recipe["licence"] == recipe["origin"]["licence"] == "CC-BY-4.0"
    assert recipe["origin"]["source"] == SOURCE
    for row in ex.rows(out).values():
        assert row["script"]["licence"] == row["provenance"]["engine_licence"] == "CC-BY-4.0"
        assert row["script"]["source"] == SOURCE
    assert f"{SOURCE}, CC-BY-4.0: corpus `fdb-v1_0`, text `{SOURCE}`" in (out / "README.md").read_text(
        "utf-8"
    )
    assert against(out) == ()


def test_without_a_licence_it_may_not_go_out(theirs: Path, tmp_path: Path) -> None:
    found = against(imported(theirs, tmp_path / "out"))
    assert "licence 'unknown' of the dataset: not in cards/licenses.py" in found


def test_an_export_of_ours_brings_its_parts_back(ours: Path, tmp_path: Path) -> None:
    """Also when only one task's folder of it is imported."""
    (task,) = ours.glob("en/v1_0/*")
    for given in (ours, task):
        out = imported(given, tmp_path / given.name)
        origin = read_manifest(out)["recipe"]["origin"]
        assert (origin["licence"], origin["source"]) == ("CC0-1.0", "tones 1.0.0")
        assert origin["attribution"] == (ours / "ATTRIBUTION.txt").read_text("utf-8")
        assert (out / "ATTRIBUTION.txt").read_text("utf-8") == origin["attribution"]
        voices = {part.name: part for part in summarize(out).all_parts if part.kind == "voice"}
        assert voices and {(p.licence, p.attribution) for p in voices.values()} == {("CC-BY-NC-4.0", "Ada")}
        # the export claimed what its voices do not allow
        assert any("CC0-1.0 is looser than voice 'tone-" in reason for reason in against(out))
    stated = imported(ours, tmp_path / "stated", "--licence", "CC-BY-NC-4.0")
    assert against(stated) == ()
    assert "[ATTRIBUTION.txt](ATTRIBUTION.txt)" in (stated / "README.md").read_text("utf-8")


def test_an_import_that_is_exported_keeps_whom_to_name(ours: Path, tmp_path: Path) -> None:
    out = imported(ours, tmp_path / "out")
    ex.run(out, tmp_path / "again", "fdb")
    text = (tmp_path / "again" / "ATTRIBUTION.txt").read_text("utf-8")
    for line in (ours / "ATTRIBUTION.txt").read_text("utf-8").splitlines():
        assert line in text
    assert "The dataset was imported from tones 1.0.0, licence CC0-1.0." in text
    assert list(check_export(tmp_path / "again", FORMATS["fdb"])) == []
    twice = origin_of(tmp_path / "again")
    assert {p["name"] for p in twice.parts if p["kind"] == "voice" and p["attribution"] == "Ada"}


def test_other_splits_keep_it_too(ours: Path, tmp_path: Path) -> None:
    out = imported(ours, tmp_path / "out")
    (tmp_path / "splits.toml").write_text(
        "[splits]\nwithin = []\n[splits.test]\ncount = 2\n", encoding="utf-8"
    )
    selected = tmp_path / "selected"
    assert main(["select", str(out), "--splits", str(tmp_path / "splits.toml"), "--out", str(selected)]) == 0
    assert (selected / "ATTRIBUTION.txt").read_bytes() == (out / "ATTRIBUTION.txt").read_bytes()
    assert read_manifest(selected)["recipe"]["origin"] == read_manifest(out)["recipe"]["origin"]


def test_an_attribution_alone_goes_along(theirs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(theirs, tmp_path / "fdb"))
    (folder / "ATTRIBUTION.txt").write_text("Speech by Grace.\n", encoding="utf-8")
    out = imported(folder, tmp_path / "out", "--licence", "CC-BY-4.0")
    assert (out / "ATTRIBUTION.txt").read_text("utf-8") == "Speech by Grace.\n"
    ex.run(out, tmp_path / "again", "fdb")
    assert "Speech by Grace." in (tmp_path / "again" / "ATTRIBUTION.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "wanted an object"),
        ('{"dataset": {}, "parts": []}', "dataset.name is missing"),
    ],
)
def test_a_damaged_export_json_is_refused(ours: Path, tmp_path: Path, text: str, said: str) -> None:
    folder = Path(shutil.copytree(ours, tmp_path / "fdb"))
    (folder / "export.json").write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=rf"export\.json: .*{said}"):
        origin_of(folder)
    content = json.loads((ours / "export.json").read_text("utf-8"))
    content["parts"][0]["licence"] = 4
    (folder / "export.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"export\.json: parts\[0\]\.licence is 4, wanted a text"):
        origin_of(folder)
