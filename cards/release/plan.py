"""Local files against a repository's tree: what a publication adds, changes, deletes and leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .files import ReleaseFile, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file in a repository: its size, its git blob id, and its SHA-256 where it is a large file."""

    size: int
    git_oid: str
    sha256: str = ""


Tree = Mapping[str, RemoteFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """What one commit has to do; `foreign` are files that releases do not write and so do not touch."""

    adds: tuple[ReleaseFile, ...]
    deletes: tuple[str, ...]
    unchanged: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def done(self) -> bool:
        """Whether nothing is left to do: the repository holds the release."""
        return not self.adds and not self.deletes

    @property
    def n_bytes(self) -> int:
        """How many bytes the added files hold."""
        return sum(file.size for file in self.adds)


def same(local: ReleaseFile, remote: RemoteFile) -> bool:
    """Say whether a repository's file has the local one's bytes."""
    if local.size != remote.size:
        return False
    return local.sha256 == remote.sha256 if remote.sha256 else local.git_oid == remote.git_oid


def plan_against(files: tuple[ReleaseFile, ...], tree: Tree) -> ReleasePlan:
    """Return what has to change so that a tree holds `files` and no stale file of ours."""
    names = {file.name for file in files}
    matching = {file.name for file in files if file.name in tree and same(file, tree[file.name])}
    return ReleasePlan(
        adds=tuple(file for file in files if file.name not in matching),
        deletes=tuple(sorted(name for name in tree if ours(name) and name not in names)),
        unchanged=tuple(sorted(matching)),
        foreign=tuple(sorted(name for name in tree if not ours(name))),
    )
