"""What is not there, or is not called as it may be: exit code 2 and one paragraph, whatever the command."""

from pathlib import Path

import pytest

from duplexkit.builders.cli import main

MODEL = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
OWNED = ["--source", "me", "--licence", "CC0-1.0"]

FOLDERS: dict[str, list[str]] = {
    "check": ["check", "GONE"],
    "check --measure": ["check", "GONE", "--measure", "pitch"],
    "annotate": ["annotate", "GONE", "--out", "o", "--licence", "CC0-1.0"],
    "annotate --review": ["annotate", "GONE", "--review", "o.html"],
    "export": ["export", "GONE", "o", "--to", "fdb"],
    "export --check": ["export", "--check", "GONE", "--to", "fdb"],
    "import fdb": ["import", "fdb", "GONE", "--out", "o"],
    "import m3": ["import", "m3", "GONE", "--out", "o"],
    "select": ["select", "GONE", "--splits", "a.toml", "--out", "o"],
    "listen": ["listen", "GONE"],
    "cache": ["cache", "--cache", "GONE"],
    "cache prune": ["cache", "--cache", "GONE", "prune", "--damaged"],
    "cache export": ["cache", "--cache", "GONE", "export", "o.zip"],
    "cache export --build": ["cache", "--cache", ".", "export", "o.zip", "--build", "GONE"],
    "variant": ["variant", "GONE", "--set", "seed=1", "--out", "o"],
    "variant --scripts": ["variant", ".", "--scripts", "GONE"],
    "variant --paths-from": ["variant", ".", "--paths-from", "GONE"],
    "serve-cosyvoice": ["serve-cosyvoice", "GONE"],
    "serve-cosyvoice --repo": ["serve-cosyvoice", ".", "--repo", "GONE"],
    "card": ["card", "GONE"],
    "preview": ["preview", "GONE"],
    "diff": ["diff", "GONE", "."],
    "diff new": ["diff", ".", "GONE"],
    "publish": ["publish", "GONE", "--repo", "a/b", "--version", "1.0.0"],
    "write --against": ["write", "mt_qa", "--language", "en", "--count", "1", *MODEL, "--against", "GONE"],
}
"""Commands that read a folder, called with one that is not there."""

FILES: dict[str, list[str]] = {
    "build": ["build", "GONE", "--out", "o"],
    "voices --recipe": ["voices", "--recipe", "GONE"],
    "annotate --decisions": ["annotate", ".", "--out", "o", "--licence", "CC0-1.0", "--decisions", "GONE"],
    "select --splits": ["select", ".", "--splits", "GONE", "--out", "o"],
    "listen --answers": ["listen", ".", "--answers", "GONE"],
    "cache import": ["cache", "import", "GONE"],
    "events": ["events", "GONE"],
    "timing fit": ["timing", "fit", "GONE", "--out", "p.json"],
    "timing show": ["timing", "show", "GONE"],
    "scripts lint": ["scripts", "lint", "GONE"],
    "scripts import": ["scripts", "import", "GONE", "--scenario", "backchannel", "--language", "en", *OWNED],
    "scripts rewrite": ["scripts", "rewrite", "GONE", *MODEL, *OWNED, "--out", "o"],
    "scripts translate": ["scripts", "translate", "GONE", *MODEL, "--out", "o"],
    "scripts accept": ["scripts", "accept", "GONE", "a.tsv", "--language", "en"],
    "scripts accept review": ["scripts", "accept", "a.jsonl", "GONE", "--language", "en"],
    "write --prompt": ["write", "mt_qa", "--language", "en", "--count", "1", *MODEL, "--prompt", "GONE"],
}
"""Commands that read a file, called with one that is not there."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.toml", "a.tsv", "a.jsonl"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    code = main(arguments)
    said = capsys.readouterr()
    assert code == 2, said
    assert said.out == ""
    assert said.err.startswith("duplexkit: ") and said.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["a.jsonl", "a.toml", "a.tsv"], (
        "nothing is written"
    )
    return said.err


@pytest.mark.parametrize("command", FOLDERS)
def test_a_folder_that_is_not_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["gone" if part == "GONE" else part for part in FOLDERS[command]], capsys)
    assert "gone: " in said and ("no such folder" in said or "neither a folder nor" in said)


@pytest.mark.parametrize("command", [name for name in FOLDERS if not name.startswith(("export", "diff"))])
def test_a_file_where_a_folder_is_wanted(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["a.toml" if part == "GONE" else part for part in FOLDERS[command]], capsys)
    assert "a.toml: is a file; wanted a folder" in said


BUILT = (
    "check", "export", "listen", "cache export --build", "variant", "card", "preview", "diff", "publish",
)  # fmt: skip


@pytest.mark.parametrize("command", BUILT)
def test_a_folder_without_a_dataset(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = str(tmp_path)
    said = refused([empty if part == "GONE" else part for part in FOLDERS[command]], capsys)
    assert f"{empty}: " in said and "no finished " in said


@pytest.mark.parametrize("command", FILES)
def test_a_file_that_is_not_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["gone.json" if part == "GONE" else part for part in FILES[command]], capsys)
    assert "gone.json" in said and ("no such file" in said or "unknown profile" in said)


def test_every_command_that_reads_is_here() -> None:
    import typer

    from duplexkit.builders.cli import app

    def names(group: object, before: str = "") -> set[str]:
        listed = getattr(group, "commands", None)
        if listed is None:
            return {before.strip()}
        return {name for key, inner in listed.items() for name in names(inner, f"{before} {key}")}

    covered = {*FOLDERS, *FILES}
    left = {
        name
        for name in names(typer.main.get_command(app))
        if not any(one == name or one.startswith(f"{name} ") for one in covered)
    }
    assert left == {"list"}, "what reads a folder or a file is called in FOLDERS or FILES"


@pytest.mark.parametrize("form", ["fdb", "m3"])
def test_an_import_that_finds_nothing_says_what_it_looked_for(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    code = main(["import", form, "empty", "--out", "o"])
    said = capsys.readouterr().err
    assert code == 2 and "empty: no " in said and "looked for folders" in said
    assert not Path("o").exists() and not Path("o.partial").exists()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.json"])
def test_scripts_that_are_none_are_no_success(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text("[]" if name == "a.json" else "")
    arguments = ["scripts", "import", name, "--scenario", "backchannel", "--language", "en", *OWNED]
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"duplexkit: {name}: no rows; wanted one for each script\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["card", ".", "--version", "x"], "version 'x': wanted MAJOR.MINOR.PATCH"),
        (["card", ".", "--version", "1.0"], "version '1.0': wanted MAJOR.MINOR.PATCH"),
        (["card", ".", "--repo", "a b c"], "repository 'a b c': wanted ORG/NAME"),
        (["card", ".", "--repo", "../x"], "repository '../x': wanted ORG/NAME"),
        (
            ["import", "fdb", ".", "--out", "../o", "--language", "q q"],
            "--language = 'q q': wanted a language tag",
        ),
        (
            ["annotate", ".", "--review", "r.html", "--name", "../x"],
            "--name = '../x': wanted lower-case letters",
        ),
        (
            ["annotate", ".", "--review", "r.html", "--language", "../x"],
            "--language = '../x': wanted a language",
        ),
        (
            ["check", ".", "--measure", "pitch", "--language", "q q"],
            "--language = 'q q': wanted a language tag",
        ),
        (["write", "mt_qa", "--language", "../x", "--count", "1", *MODEL], "--language = '../x'"),
        (
            ["scripts", "import", "a.jsonl", "--scenario", "backchannel", "--language", "../x", *OWNED],
            "--language = '../x'",
        ),
        (["scripts", "translate", "a.jsonl", *MODEL, "--out", "o", "--to", "../x"], "--to = '../x'"),
        (["scripts", "translate", "a.jsonl", *MODEL, "--out", "o", "--from", "E"], "--from = 'E'"),
        (
            ["scripts", "translate", "a.jsonl", *MODEL, "--out", ".."],
            "--out '..': wanted what the drafts' names",
        ),
        (
            ["scripts", "rewrite", "a.jsonl", *MODEL, *OWNED, "--out", ""],
            "--out '.': wanted what the drafts' names",
        ),
        (["scripts", "accept", "a.jsonl", "a.tsv", "--language", "../x"], "--language = '../x'"),
        (["build", "demo", "--out", "o", "--set", "name=../x"], "name = '../x': wanted lower-case letters"),
        (["build", "demo", "--out", "o", "--set", "version=x"], "version = 'x': no semantic version"),
        (["build", "demo", "--out", "o", "--set", 'languages=["q q"]'], "wanted a list of language tags"),
        (["build", "demo", "--out", "o", "--set", ".=1"], "--set .=1: wanted KEY=VALUE"),
        (
            ["build", "demo", "--out", "o", "--set", "scenarios.mt_qa.count=1000000000000"],
            "scenarios.mt_qa.count = 1000000000000: wanted a whole number of samples per language, from 1 to "
            "1000000; more go into several builds",
        ),
        (["build", "demo", "--out", "o", "--set", "seed=1\nname='x'"], "seed = \"1\\nname='x'\""),
    ],
)
def test_names_are_checked_as_recipes_and_releases_check_them(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(arguments, capsys)
