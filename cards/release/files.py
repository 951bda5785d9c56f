"""The files of a folder that go out with a release, with the hashes by which a repository knows them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from ...builders.built import read_manifest

BESIDE = (
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE*",
    "manifest.json",
    "croissant.json",
    "ATTRIBUTION.txt",
    "rejects.jsonl",
    "release.toml",
    "quality.json",
    "listening.json",
    "quality/*.json*",
    "plots/*.png",
)
"""What goes out beside the shards. The preview page and the stems stay: their audio is in the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFile:
    """A file that goes out: its name in the repository, where it lies, and its hashes."""

    name: str
    path: Path
    size: int
    sha256: str
    git_oid: str


def ours(name: str) -> bool:
    """Say whether a name in a repository is one that releases write (and so may replace and delete)."""
    return name.endswith(".parquet") or any(fnmatch(name, pattern) for pattern in BESIDE)


def release_names(folder: Path) -> tuple[str, ...]:
    """Return the names of what goes out: the manifest's shards, and what stands beside them."""
    shards = read_manifest(folder)["files"]
    beside = [
        path.relative_to(folder).as_posix()
        for pattern in BESIDE
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    ]
    return tuple(sorted({*shards, *beside}))


def left_out(folder: Path) -> tuple[str, ...]:
    """Return what lies in the folder and stays there (a folder as one entry)."""
    names = release_names(folder)
    tops = {name.split("/")[0] for name in names}
    stays = [path.name for path in sorted(folder.iterdir()) if path.name not in tops]
    inside = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] in tops
    ]
    return (*stays, *(name for name in inside if name not in names))


def release_file(folder: Path, name: str) -> ReleaseFile:
    """Return one file with its hashes, read once and in pieces."""
    path = folder / name
    size = path.stat().st_size
    whole, blob = hashlib.sha256(), hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            whole.update(piece)
            blob.update(piece)
    return ReleaseFile(name=name, path=path, size=size, sha256=whole.hexdigest(), git_oid=blob.hexdigest())


def release_files(folder: Path) -> tuple[ReleaseFile, ...]:
    """Return everything that goes out, with hashes."""
    return tuple(release_file(folder, name) for name in release_names(folder) if (folder / name).is_file())
