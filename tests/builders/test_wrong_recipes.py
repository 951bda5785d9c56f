"""Wrong recipes: one clear paragraph each, exit code 2, nothing written. The texts are reviewed like code."""

from pathlib import Path

import pytest

from duplexkit.builders.cli import main
from duplexkit.builders.speakers import engines

GOLDEN = Path(__file__).parents[1] / "golden" / "errors"
CASES = sorted(path.stem for path in GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("case", CASES)
def test_wrong_recipe(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(engines(), "tone")
    recipe = GOLDEN / f"{case}.toml"
    blocked = tmp_path / "a-file"
    blocked.write_text("not a folder")
    out = blocked / "out" if case == "unwritable_folder" else tmp_path / "out"
    code = main(
        ["build", str(recipe), "--out", str(out), "--cache", str(tmp_path / "cache"), "--workers", "1"]
    )
    said = capsys.readouterr().err
    scripts = said.replace(str(GOLDEN), "GOLDEN").replace(str(tmp_path), "TMP")
    shown = "".join(
        part if i % 2 == 0 else "SCRIPTS" for i, part in enumerate(_around(scripts, "/scenarios/scripts"))
    )
    assert code == 2
    assert shown == (GOLDEN / f"{case}.txt").read_text(encoding="utf-8")
    assert "Traceback" not in said and said.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) in (["a-file"], ["a-file", "cache"])
    assert not list(tmp_path.glob("cache/**/*.zip"))


def _around(text: str, folder: str) -> list[str]:
    """Return the text cut before and after each path that ends in `folder`."""
    pieces: list[str] = []
    while folder in text:
        stop = text.index(folder) + len(folder)
        start = max(text.rfind(" ", 0, stop), text.rfind("'", 0, stop)) + 1
        pieces += [text[:start], text[start:stop]]
        text = text[stop:]
    return [*pieces, text]


def test_all_asked_cases_are_here() -> None:
    assert {
        "unknown_key",
        "negative_count",
        "empty_range",
        "unknown_voice",
        "language_without_scripts",
        "unknown_preset",
        "missing_file",
        "bad_version",
        "scenario_twice",
        "unwritable_folder",
    } <= set(CASES)
