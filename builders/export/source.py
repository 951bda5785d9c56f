"""A built folder, or a released dataset of the Hub, as a stream of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import InputError, ReleaseError
from ...scenarios.reason import reason_of
from ..built import Shard, read_manifest, shards_of, verified
from ..parquet_file import opened
from .format import Row

_BUFFER_BYTES = 1 << 20
_REPO = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where rows come from: the folder, the dataset's name and licence, the shards that were chosen.

    `imported` is what the manifest says of the folder that the dataset was imported from; None: it was not.
    """

    folder: Path
    name: str
    version: str
    licence: str
    digest: str
    shards: tuple[Shard, ...]
    imported: Mapping[str, Any] | None = None

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
        If there is no dataset, nothing in it is called like that, or a shard is not the one that was built.
    """
    folder = Path(where)
    if not folder.is_dir():
        folder = _downloaded(where)
    manifest = read_manifest(folder)
    every = shards_of(folder, manifest)
    _known(
        configs, {s.config for s in every} | {s.config.partition("-")[0] for s in every}, "--config", where
    )
    _known(splits, {s.split for s in every}, "--split", where)
    shards = verified(
        [
            shard
            for shard in every
            if (not configs or shard.config in configs or shard.config.partition("-")[0] in configs)
            and (not splits or shard.split in splits)
        ]
    )
    recipe = manifest["recipe"]
    return Source(
        folder=folder,
        name=recipe["name"],
        version=recipe["version"],
        licence=recipe["licence"],
        digest="".join([manifest["recipe_digest"], *(shard.sha256 for shard in shards)]),
        shards=shards,
        imported=recipe.get("origin"),
    )


def _known(wanted: tuple[str, ...], there: set[str], option: str, where: str) -> None:
    for name in wanted:
        if name not in there:
            raise InputError(f"{option} {name}: {where} holds {', '.join(sorted(there))}")


def _downloaded(where: str) -> Path:
    match = _REPO.fullmatch(where)
    if match is None:
        raise InputError(f"{where}: no such folder, and no owner/name@tag of the Hub")
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
        raise ReleaseError(
            f"{where}: no such folder, and the Hub did not give it: {reason_of(error)}"
        ) from None


def rows_of(source: Source) -> Iterator[Row]:
    """Yield the rows one by one; what is in memory is a page of each column, not a row group."""
    import pyarrow as pa

    for shard in source.shards:
        with opened(shard.path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
            for batch in file.iter_batches(batch_size=1, use_threads=False):
                yield from batch.to_pylist()
        pa.default_memory_pool().release_unused()
