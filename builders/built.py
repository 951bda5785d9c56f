"""A finished dataset folder, opened: its manifest checked, and every shard of the bytes that it names.

Whoever reads a built folder opens it here, so that none works on a damaged one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from .. import InputError, ReleaseError
from ..scenarios.reason import reason_of
from .json_file import Form, misfit, read_json
from .parquet_file import opened
from .schema import SCHEMA_VERSION
from .write import MANIFEST_FORMAT, read_rows, sha256_of

MANIFEST = "manifest.json"

_CURE = "build or fetch the folder again"

_VARIANT: dict[str, Form] = {
    "name": str,
    "version": str,
    "recipe_digest": str,
    "asked": [str],
    "changed": {"*": {"was": object, "is": object}},
}
_VARIANT["variant_of?"] = _VARIANT
"""What a variant was made from, which may be a variant itself."""

_SHAPE: Form = {
    "format": int,
    "schema_version": int,
    "recipe_digest": str,
    "rejected": int,
    "generator?": {"dirty?": (bool, None)},
    "variant_of?": _VARIANT,
    "recipe": {
        "name": str,
        "version": str,
        "description": str,
        "seed": int,
        "languages": [str],
        "sample_rate_hz": int,
        "licence": str,
        "checks": {"*": object},
        "entries": [{"scenario": str, "preset": str, "values": {"*": object}}],
        "origin?": {
            "licence": str,
            "source": str,
            "attribution": str,
            "parts": [dict.fromkeys(("kind", "name", "licence", "attribution"), str)],
        },
    },
    "files": {
        "*": {"sha256": str, "bytes": int, "config": str, "split": str, "rows": int, "seconds": float},
    },
}
"""What every reader may take for granted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A Parquet file as the manifest states it; `name` is relative to the folder."""

    name: str
    path: Path
    config: str
    split: str
    n_rows: int
    seconds: float
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A finished dataset folder: its manifest, and its shards in the manifest's order."""

    folder: Path
    manifest: dict[str, Any]
    shards: tuple[Shard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a shard is not the one that was built: what was found, and what was wanted."""

    found: str
    wanted: str


def open_built(folder: Path) -> Built:
    """Return a built folder whose shards are those of its manifest, by their hashes.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset, a newer duplexkit wrote it, or a shard is missing or has other
        bytes than when it was built.
    """
    manifest = read_manifest(folder)
    return Built(folder=folder, manifest=manifest, shards=verified(shards_of(folder, manifest)))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a built folder; its shards are not looked at.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset, or a newer duplexkit wrote it.
    """
    path = folder / MANIFEST
    if not path.exists():
        raise InputError(
            f"{folder}: no finished dataset (there is no {MANIFEST}); build it first, or, if it is a folder of sound, "
            "measure it with duplexkit check FOLDER --measure NAME (duplexkit list measures has the names)"
        )
    return manifest_in(path)


def manifest_in(path: Path) -> dict[str, Any]:
    """Return the manifest that a file holds.

    Raises
    ------
    ReleaseError
        If it cannot be read, is none, or a newer duplexkit wrote it.
    """
    data: dict[str, Any] = read_json(path, {"format": int}, cure=_CURE)
    for key, known in (("format", MANIFEST_FORMAT), ("schema_version", SCHEMA_VERSION)):
        stated = data.get(key)
        if isinstance(stated, int) and stated > known:
            raise ReleaseError(
                f"{path}: written by a newer duplexkit ({key} {stated}; this one knows {key} up to {known}); "
                "install a newer duplexkit to read it"
            )
    wrong = misfit(data, _SHAPE) or next(filter(None, map(_wrong_name, data["files"])), "")
    if wrong or data["format"] < 1:
        raise ReleaseError(f"{path}: no manifest of duplexkit ({wrong or 'format is below 1'}); {_CURE}")
    return data


def _wrong_name(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.suffix != ".parquet":
        return f"files has {name!r}, wanted the name of a Parquet file inside the folder"
    return ""


def shards_of(folder: Path, manifest: dict[str, Any]) -> tuple[Shard, ...]:
    """Return the shards that a manifest lists, as it states them."""
    return tuple(
        Shard(
            name=name,
            path=folder / name,
            config=facts["config"],
            split=facts["split"],
            n_rows=facts["rows"],
            seconds=facts["seconds"],
            n_bytes=facts["bytes"],
            sha256=facts["sha256"],
        )
        for name, facts in manifest["files"].items()
    )


def verified(shards: Sequence[Shard]) -> tuple[Shard, ...]:
    """Return shards that are, to the byte, those that the manifest states.

    Raises
    ------
    ReleaseError
        If one is not; names the first three, with what was found and what was wanted.
    """
    wrong = [(shard, fault) for shard in shards if (fault := fault_of(shard))]
    if wrong:
        said = "; ".join(
            f"{shard.path}: {fault.found}, {MANIFEST} says {fault.wanted}" for shard, fault in wrong[:3]
        )
        more = f"; and {len(wrong) - 3} more shards" if len(wrong) > 3 else ""
        raise ReleaseError(f"{said}{more}: changed or damaged after it was built; {_CURE}")
    return tuple(shards)


def fault_of(shard: Shard) -> Fault | None:
    """Return why a shard is not the one that was built; None if it is."""
    if not shard.path.is_file():
        return Fault(found="missing", wanted="a Parquet file")
    try:
        facts = shard.path.stat()
        if facts.st_size != shard.n_bytes:
            return Fault(found=f"{facts.st_size} bytes", wanted=f"{shard.n_bytes} bytes")
        sha256 = _sha256(shard.path, facts.st_mtime_ns, facts.st_size)
    except OSError as error:
        return Fault(found=f"cannot be read ({reason_of(error)})", wanted="a Parquet file")
    if sha256 != shard.sha256:
        return Fault(found=f"SHA-256 {sha256}", wanted=f"SHA-256 {shard.sha256}")
    try:
        with opened(shard.path) as file:
            n_rows = file.metadata.num_rows
    except ReleaseError as error:
        return Fault(found=str(error).removeprefix(f"{shard.path}: "), wanted="a Parquet file")
    return None if n_rows == shard.n_rows else Fault(found=f"{n_rows} rows", wanted=f"{shard.n_rows} rows")


@lru_cache(maxsize=4096)
def _sha256(path: Path, written_ns: int, n_bytes: int) -> str:
    """Return a file's hash; a file that did not change is read once in a process."""
    return sha256_of(path)


def rows_in(shards: Sequence[Shard]) -> Iterator[dict[str, Any]]:
    """Yield the rows of shards one by one."""
    for shard in shards:
        yield from read_rows(shard.path)


def dataset_digest(folder: Path) -> str:
    """Return the SHA-256 of a folder's manifest files: answers belong to these bytes and no others.

    Raises
    ------
    ReleaseError
        If the folder is not a built one.
    """
    shards = read_manifest(folder)["files"]
    text = "\n".join(f"{name} {facts['sha256']}" for name, facts in sorted(shards.items()))
    return hashlib.sha256(text.encode()).hexdigest()
