"""What the stand-in keeps: repositories with commits, branches and tags, and large files by SHA-256."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field


class StoreError(Exception):
    """An answer that is not 200: status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """One file of a commit: a small one with its bytes, or a large one by SHA-256."""

    size: int
    git_oid: str
    data: bytes | None = None
    sha256: str = ""


def small(data: bytes) -> Blob:
    """Return a small file, with its git blob id."""
    oid = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
    return Blob(size=len(data), git_oid=oid, data=data)


def large(sha256: str, size: int) -> Blob:
    """Return a large file: git knows only its pointer."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
    return Blob(size=size, git_oid=small(pointer).git_oid, sha256=sha256)


Tree = dict[str, Blob]


@dataclass(slots=True, kw_only=True)
class Commit:
    """A commit: what it holds and what it followed."""

    oid: str
    parent: str
    title: str
    tree: Tree


@dataclass(slots=True, kw_only=True)
class Repo:
    """A dataset repository."""

    id: str
    private: bool = False
    gated: str | bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, title: str, tree: Tree) -> Commit:
        """Put a commit on a branch."""
        parent = self.branches.get(branch, "")
        text = "".join(f"{path} {blob.git_oid}\n" for path, blob in sorted(tree.items()))
        oid = hashlib.sha1(f"{parent}\n{title}\n{len(self.commits)}\n{text}".encode()).hexdigest()
        made = Commit(oid=oid, parent=parent, title=title, tree=dict(tree))
        self.commits[oid] = made
        self.branches[branch] = oid
        return made

    def at(self, revision: str) -> Commit:
        """Return the commit that a branch, tag or commit id names."""
        name = revision.removeprefix("refs/heads/").removeprefix("refs/tags/")
        oid = self.branches.get(name) or self.tags.get(name) or name
        if oid not in self.commits:
            raise StoreError(404, f"Revision {revision} not found")
        return self.commits[oid]


class Store:
    """All repositories and large files."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.repos: dict[str, Repo] = {}
        self.files: dict[str, bytes] = {}
        self.restored: dict[str, bytes] = {}

    def create(self, id_: str, *, private: bool) -> Repo:
        """Make a repository, with the first commit that the Hub makes too."""
        repo = self.repos[id_] = Repo(id=id_, private=private)
        repo.commit("main", "initial commit", {".gitattributes": small(b"*.parquet filter=lfs\n")})
        return repo

    def repo(self, id_: str) -> Repo:
        """Return a repository."""
        if id_ not in self.repos:
            raise StoreError(404, "Repository not found")
        return self.repos[id_]
