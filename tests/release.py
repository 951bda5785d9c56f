"""Folders to publish in tests: built once with tones, with what their makers say."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from duplexkit.builders.build import BuildResult
from duplexkit.builders.write import sha256_of
from duplexkit.cards.describe import write_papers
from tests.conftest import tone_recipe_text

RELEASE_TOML = """
authors = [{ name = "A. Tester", affiliation = "Tests" }]
[consent]
"*" = "tones of the tests: nobody's voice"
"""


def release_folder(
    tone_build: Callable[..., BuildResult],
    out: Path,
    *scenarios: str,
    repository: str = "me/tones",
    version: str = "1.0.0",
    count: int = 2,
    seed: int = 5,
) -> Path:
    """Return a folder that may be published."""
    text = tone_recipe_text(*scenarios, count=count, seed=seed).replace("CC0-1.0", "CC-BY-4.0")
    folder = tone_build(text, out).folder
    as_committed(folder)
    (folder / "release.toml").write_text(RELEASE_TOML, encoding="utf-8")
    write_papers(folder, repository=repository, version=version)
    return folder


def as_committed(folder: Path) -> None:
    """Let a manifest say that it was built from a clean tree, whatever tree the tests run in."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["generator"]["dirty"] = False
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def restated(folder: Path, name: str) -> None:
    """Let a manifest state a shard that a test changed, as if it had been built so."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    shard = folder / name
    manifest["files"][name].update(sha256=sha256_of(shard), bytes=shard.stat().st_size)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def copied(folder: Path, to: Path, *, repository: str = "me/tones", version: str) -> Path:
    """Return a copy of a folder that may be published as another version."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("stems", "preview"))
    described(to, repository=repository, version=version)
    return to


def described(folder: Path, *, repository: str = "me/tones", version: str) -> None:
    """Write a changelog entry and the papers of a folder anew."""
    from duplexkit.cards.changelog import read_changelog, with_entry

    log = with_entry(read_changelog(folder, version), version=version, lines=("Test release.",))
    (folder / "CHANGELOG.md").write_text(log, encoding="utf-8")
    write_papers(folder, repository=repository, version=version)
