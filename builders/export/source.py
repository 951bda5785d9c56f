"""A built folder, or a released dataset of the Hub, as a stream of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import ReleaseError
from .format import Row

_BUFFER_BYTES = 1 << 20
_REPO = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A Parquet file: its path, configuration, split and number of rows."""

    path: Path
    config: str
    split: str
    n_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where rows come from: the folder, the dataset's name and licence, the shards that were chosen."""

    folder: Path
    name: str
    version: str
    licence: str
    digest: str
    shards: tuple[Shard, ...]

    @property
    def n_rows(self) -> int:
        """Return how many rows there are."""
        return sum(shard.n_rows for shard in self.shards)


def open_source(where: str, *, configs: tuple[str, ...] = (), splits: tuple[str, ...] = ()) -> Source:
    """Return the source that `where` names, limited to some configurations and splits.

    Parameters
    ----------
    where
        A built folder, or ``owner/name@tag`` of the Hub.
    configs
        ``scenario`` or ``scenario-language``; empty: all.
    splits
        Names of splits; empty: all.

    Raises
    ------
    ReleaseError
        If there is no dataset, or nothing in it is called like that.
    """
    folder = Path(where)
    if not folder.is_dir():
        folder = _downloaded(where)
    path = folder / "manifest.json"
    if not path.is_file():
        raise ReleaseError(
            f"{where}: no finished dataset (there is no manifest.json); build it first, or name owner/name@tag"
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files: dict[str, dict[str, Any]] = manifest["files"]
        every = [
            Shard(path=folder / name, config=facts["config"], split=facts["split"], n_rows=facts["rows"])
            for name, facts in files.items()
        ]
        digest, recipe = manifest["recipe_digest"], manifest["recipe"]
        name, version, licence = recipe["name"], str(recipe["version"]), str(recipe["licence"])
    except (ValueError, KeyError, TypeError) as error:
        raise ReleaseError(f"{path}: no manifest of duplexkit ({error}); build the folder again") from None
    _known(
        configs, {s.config for s in every} | {s.config.partition("-")[0] for s in every}, "--config", where
    )
    _known(splits, {s.split for s in every}, "--split", where)
    shards = tuple(
        shard
        for shard in every
        if (not configs or shard.config in configs or shard.config.partition("-")[0] in configs)
        and (not splits or shard.split in splits)
    )
    for shard in shards:
        if not shard.path.is_file():
            raise ReleaseError(
                f"{shard.path} is missing, but manifest.json lists it; build or fetch it again"
            )
    hashes = [files[s.path.relative_to(folder).as_posix()].get("sha256", "") for s in shards]
    return Source(
        folder=folder,
        name=name,
        version=version,
        licence=licence,
        digest="".join([digest, *hashes]),
        shards=shards,
    )


def _known(wanted: tuple[str, ...], there: set[str], option: str, where: str) -> None:
    for name in wanted:
        if name not in there:
            raise ReleaseError(f"{option} {name}: {where} holds {', '.join(sorted(there))}")


def _downloaded(where: str) -> Path:
    match = _REPO.fullmatch(where)
    if match is None:
        raise ReleaseError(f"{where}: no such folder, and no owner/name@tag of the Hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                match["repo"],
                revision=match["revision"],
                repo_type="dataset",
                allow_patterns=["manifest.json", "*.parquet"],
            )
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ReleaseError(f"{where}: no such folder, and the Hub did not give it: {first}") from None


def rows_of(source: Source) -> Iterator[Row]:
    """Yield the rows one by one; what is in memory is a page of each column, not a row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for shard in source.shards:
        with pq.ParquetFile(shard.path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
            for batch in file.iter_batches(batch_size=1, use_threads=False):
                yield from batch.to_pylist()
        pa.default_memory_pool().release_unused()
