"""What may not go out is refused before a byte is sent, with all reasons at once."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from duplexkit.builders.build import BuildResult
from duplexkit.cards.describe import write_papers
from duplexkit.cards.release.gate import reasons_against
from tests.release import release_folder

REPO = "me/tones"


@pytest.fixture(scope="module")
def made() -> dict[str, Path]:
    return {}


@pytest.fixture
def folder(
    tone_build: Callable[..., BuildResult],
    made: dict[str, Path],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Return a fresh copy of a folder that may go out."""
    if not made:
        made["good"] = release_folder(
            tone_build, tmp_path_factory.mktemp("made") / "good", "pause_handling", "user_backchannel"
        )
    return Path(shutil.copytree(made["good"], tmp_path / "folder"))


def reasons(folder: Path, version: str = "1.0.0", repository: str = REPO) -> tuple[str, ...]:
    return reasons_against(folder, repository=repository, version=version)


def edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")


def test_a_good_folder_may_go_out(folder: Path) -> None:
    assert reasons(folder) == ()


def test_one_flipped_byte_is_refused(folder: Path) -> None:
    path = folder / "pause_handling/en/test-00000-of-00001.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    wanted = json.loads((folder / "manifest.json").read_text())["files"][path.relative_to(folder).as_posix()]
    assert reasons(folder) == (
        f"shard pause_handling/en/test-00000-of-00001.parquet: SHA-256 {hashlib.sha256(data).hexdigest()}, the "
        f"manifest says SHA-256 {wanted['sha256']}: changed or damaged after it was built; build again",
    )


def test_a_card_older_than_the_manifest_is_refused(folder: Path) -> None:
    edit_manifest(folder, rejected=1)
    (reason,) = reasons(folder)
    assert reason == (
        f"README.md is older than manifest.json (made from another one); run: duplexkit card {folder} "
        f"--repo me/tones --version 1.0.0"
    )


def test_an_edited_card_is_refused(folder: Path) -> None:
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8").replace("8 rows,", "800 rows,"), encoding="utf-8")
    (reason,) = reasons(folder)
    assert reason.startswith("README.md is not what the folder says (edited")


def test_a_claim_looser_than_a_part_is_refused(folder: Path) -> None:
    recipe = json.loads((folder / "manifest.json").read_text())["recipe"]
    edit_manifest(folder, recipe={**recipe, "licence": "CC0-1.0"})
    write_papers(folder, repository=REPO, version="1.0.0")
    assert reasons(folder) == (
        "CC0-1.0 is looser than text 'duplexkit script bank 1 (model-written)' (CC-BY-4.0), "
        "which wants its authors named",
    )
    assert "**Not to be released as it is:** CC0-1.0 is looser than" in (folder / "README.md").read_text()


def test_papers_of_another_release_are_refused(folder: Path) -> None:
    from duplexkit.cards.describe import describe

    describe(folder, repository=REPO, version="1.0.0", plots=False, preview=False)
    assert reasons(folder) == ()
    citation, croissant = folder / "CITATION.cff", folder / "croissant.json"
    citation.write_text(citation.read_text().replace("1.0.0", "0.9.0"), encoding="utf-8")
    digest = json.loads((folder / "manifest.json").read_text())["files"]
    croissant.write_text(
        croissant.read_text().replace(next(iter(digest.values()))["sha256"], "0" * 64), encoding="utf-8"
    )
    found = [reason.split(";")[0] for reason in reasons(folder)]
    assert found == [
        "CITATION.cff says version 0.9.0, asked for 1.0.0",
        "croissant.json is of another release",
    ]


def test_secrets_are_refused_and_not_repeated(folder: Path) -> None:
    token = "hf_" + "a1B2" * 8
    (folder / "release.toml").write_text(f'notes = "{token}"\n[consent]\n"*" = "tones"\n', encoding="utf-8")
    write_papers(folder, repository=REPO, version="1.0.0")
    found = reasons(folder)
    assert found == (
        "README.md seems to hold a secret (Hugging Face token): take it out",
        "release.toml seems to hold a secret (Hugging Face token): take it out",
    )


def test_all_reasons_stand_in_one_list(folder: Path) -> None:
    """The golden list: everything that is wrong at once."""
    (folder / "release.toml").unlink()
    (folder / "CHANGELOG.md").unlink()
    (folder / "README.md").write_text("# hand made\n[More Information Needed]\n", encoding="utf-8")
    (folder / "stray-00000-of-00001.parquet").write_bytes(b"PAR1")
    generator = json.loads((folder / "manifest.json").read_text())["generator"]
    edit_manifest(folder, generator={**generator, "dirty": True})
    again = f"run: duplexkit card {folder} --repo tones --version 1.0"
    voices = [line for line in reasons(folder, "1.0", "tones") if line.startswith("voice ")]
    assert voices and all("no consent basis; state it in release.toml" in line for line in voices)
    assert [line for line in reasons(folder, "1.0", "tones") if not line.startswith("voice ")] == [
        "repository 'tones': wanted ORG/NAME of letters, digits, '.', '_' and '-'",
        "version '1.0': wanted MAJOR.MINOR.PATCH, for example 1.0.0",
        "stray-00000-of-00001.parquet: a shard that the manifest does not know; take it out or build again",
        "manifest.json: built from a working tree with uncommitted changes; commit and build again",
        f"CHANGELOG.md is missing; {again}",
        f"CITATION.cff says version 1.0.0, asked for 1.0; {again}",
        f"README.md still holds '[More Information Needed]'; {again}",
        f"README.md has no YAML head; {again}",
    ]


def test_a_secret_in_a_compressed_column_is_found(folder: Path) -> None:
    from duplexkit.builders.write import sha256_of, write_split

    name = "pause_handling/en/test-00000-of-00001.parquet"
    rows = pq.read_table(folder / name).to_pylist()
    rows[0]["turns"][0]["text"] = "my key is sk-" + "q7" * 16
    write_split((folder / name).parent, "test", iter(rows), 24000)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name].update(sha256=sha256_of(folder / name), bytes=(folder / name).stat().st_size)
    edit_manifest(folder, files=manifest["files"])
    write_papers(folder, repository=REPO, version="1.0.0")
    assert f"{name} seems to hold a secret in its rows (OpenAI key): take it out" in reasons(folder)
    assert "q7q7" not in "".join(reasons(folder))


def test_the_command_says_all_reasons_and_exits_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from duplexkit.publish import main

    (folder / "README.md").unlink()
    assert main([str(folder), "--repo", REPO, "--version", "1.0.0"]) == 1
    said = capsys.readouterr().err
    assert (
        f"{folder} may not go out as me/tones 1.0.0:\n  - README.md is missing; run: duplexkit card" in said
    )
    assert main([str(folder)]) == 2
    assert main([str(folder), "--repo", REPO, "--version", "1.0.0", "--gated", "no"]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("authors = 3", "authors"),
        ("colour = 'red'", "unknown key 'colour'"),
        ("title = 3", "title = 3; wanted a text"),
        ("consent = 'yes'", "consent = 'yes'; wanted a table"),
        ("x = = y", "no TOML"),
    ],
)
def test_a_wrong_release_toml_is_named(text: str, words: str, folder: Path) -> None:
    (folder / "release.toml").write_text(text, encoding="utf-8")
    assert any(words in reason and "release.toml" in reason for reason in reasons(folder))
