"""Where commands write: a folder with a name, never somebody else's, and nothing is left of what was refused."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.build import BuildResult, build
from duplexkit.builders.cli import main
from duplexkit.builders.out_folder import claimed, fresh
from duplexkit.scenarios.recipe import load_recipe
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Said = tuple[int, str]
Run = Callable[..., Said]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two samples."""
    home = tmp_path_factory.mktemp("built")
    recipe = home / "recipe.toml"
    recipe.write_text(tone_recipe_text("smooth_turn_taking", count=2), encoding="utf-8")
    return build(
        load_recipe(str(recipe)),
        home / "made",
        cache_dir=home / "cache",
        workers=1,
        only=("smooth_turn_taking-en",),
        describe=lambda folder: None,
        progress=lambda outcome, done, total: None,
    ).folder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run a command in an inner folder, beside which nothing may change; return its exit code and what it said."""
    home = tmp_path / "home" / "inner"
    home.mkdir(parents=True)
    (home / "mine.txt").write_text("years of work")
    monkeypatch.chdir(home)

    def command(*arguments: str) -> Said:
        code = main(list(arguments))
        said = capsys.readouterr()
        assert (home / "mine.txt").read_text() == "years of work"
        return code, said.err

    yield command
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


def writers(built: Path, recordings: Path, out: str) -> dict[str, list[str]]:
    """Return the commands that write a folder, with `out` as that folder."""
    return {
        "build": [
            "build",
            str(built.parent / "recipe.toml"),
            "--out",
            out,
            "--cache",
            str(built.parent / "cache"),
        ],
        "export": ["export", str(built), out, "--to", "textgrid"],
        "select": ["select", str(built), "--splits", str(recordings / "splits.toml"), "--out", out],
        "variant": [
            "variant",
            str(built),
            "--set",
            "seed=9",
            "--out",
            out,
            "--cache",
            str(built.parent / "cache"),
        ],
        "annotate": ["annotate", str(recordings), "--licence", "CC0-1.0", "--language", "en", "--out", out],
        "import": ["import", "m3", str(recordings), "--out", out],
    }


COMMANDS = tuple(writers(Path(), Path(), ""))
OVERWRITES = ("build", "export", "variant", "annotate", "import")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which every command finds something, and in which nothing is right."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "call.wav").write_bytes(b"RIFF")
    (folder / "splits.toml").write_text("[splits.test]\ncount = 1\n")
    (folder / "impossible.toml").write_text("[splits.test]\ncount = 5\n")
    place = folder / "data" / "en" / "chat" / "calls"
    (place / "audio").mkdir(parents=True)
    (place / "audio" / "a.wav").write_bytes(b"RIFF")
    (place / "test.jsonl").write_text(json.dumps({"id": "a", "events": {"0": [], "1": []}}) + "\n")
    return folder


@pytest.mark.parametrize("out", ["", ".", "..", "../inner", "../.."])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_without_a_name_of_its_own_is_refused(
    run: Run, built: Path, recordings: Path, command: str, out: str
) -> None:
    arguments = writers(built, recordings, out)[command]
    for flags in ([], ["--overwrite"]) if command in OVERWRITES else ([],):
        code, said = run(*arguments, *flags)
        assert code == 2
        assert said.splitlines()[-1].startswith(
            f"duplexkit: output folder '{Path(out)}': that is the folder you are in, or one that holds it; give the "
            "name of a folder to make"
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unfinished_folder_of_somebody_elses_is_left_as_it_is(
    run: Run, built: Path, recordings: Path, command: str
) -> None:
    theirs = Path("o.partial")
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    code, said = run(*writers(built, recordings, "o")[command])
    assert code == 1
    assert "o.partial exists and is no unfinished folder of duplexkit" in said and "Traceback" not in said
    assert (theirs / "thesis.txt").read_text() == "years of work" and not Path("o").exists()
    assert [path.name for path in theirs.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("command", ["select", "annotate", "import", "export"])
def test_what_is_refused_leaves_nothing(run: Run, built: Path, recordings: Path, command: str) -> None:
    arguments = writers(built, recordings, "o")[command]
    if command == "export":
        arguments[-1] = "m3"  # which needs both sides of a dialogue
    if command == "select":
        arguments[3] = str(recordings / "impossible.toml")
    code, said = run(*arguments)
    assert code in (1, 2) and "Traceback" not in said
    assert [path.name for path in Path().iterdir()] == ["mine.txt"]


def test_a_build_that_cannot_speak_leaves_nothing(
    run: Run, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duplexkit import EngineError

    def speak(self: ToneSpeaker, request: object) -> None:
        raise EngineError("the tones are gone")

    monkeypatch.setattr(ToneSpeaker, "speak", speak)
    code, said = run(
        *["build", str(built.parent / "recipe.toml"), "--out", "o", "--cache", "c", "--workers", "1"],
        *["--only", "smooth_turn_taking-en"],
    )
    assert code == 1 and "the tones are gone" in said
    assert {path.name for path in Path().iterdir()} == {"mine.txt", "c"}


def test_a_folder_is_held_by_one_command(tmp_path: Path) -> None:
    with fresh(tmp_path / "o") as partial:
        (partial / "dataset").mkdir()
        with pytest.raises(ReleaseError, match="another command is writing"), claimed(partial):
            pass
        assert (partial / "dataset").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_finished_folder_is_replaced_and_what_it_leads_to_stays(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    text = tone_recipe_text("smooth_turn_taking", count=1)
    only = {"only": ("smooth_turn_taking-en",), "describe": lambda folder: None}
    first = tone_build(text, tmp_path / "first", **only).folder
    (tmp_path / "latest").symlink_to(first)
    tone_build(text, tmp_path / "latest", overwrite=True, **only)
    assert not (tmp_path / "latest").is_symlink() and (first / "manifest.json").is_file()
    assert not list(tmp_path.glob("latest.*"))
