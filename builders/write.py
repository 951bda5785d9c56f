"""Rows to a folder: Parquet shards by config and split, and the manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..whole_file import beside
from .origin import generator
from .parquet_file import opened
from .schema import AUDIO_COLUMNS, SCHEMA_VERSION, arrow_schema, schema_digest

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MANIFEST_FORMAT = 1
"""Rises when a reader of the format before cannot read a folder rightly; such a reader then refuses it."""

ROW_GROUP_BYTES = 64 << 20
SHARD_BYTES = 480 << 20
CHUNKING = {"min_chunk_size": 64 << 10, "max_chunk_size": 256 << 10}
"""Content-defined chunks, so that a later release uploads only what changed."""

_CATEGORIES = (
    "scenario",
    "language",
    "split",
    "preset",
    "fdb_relation",
    "turns.list.element.role",
    "events.list.element.kind",
    "events.list.element.role",
)


def row_bytes(row: dict[str, Any]) -> int:
    """Return how many bytes of audio a row holds."""
    return sum(len(row[name]["bytes"]) for name in AUDIO_COLUMNS if row[name] is not None)


def write_row(path: Path, row: dict[str, Any]) -> None:
    """Write one row as a Parquet file of its own, whole or not at all."""
    import pyarrow as pa

    schema = arrow_schema(row["sample_rate_hz"])
    with beside(path) as part, _writer(part, schema) as writer:
        writer.write_table(pa.Table.from_pylist([row], schema=schema))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file one by one, never holding more than one row group."""
    with opened(path) as file:
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(batch_size=1, row_groups=[group]):
                yield from batch.to_pylist()


def write_split(folder: Path, split: str, rows: Iterator[dict[str, Any]], sample_rate_hz: int) -> list[Path]:
    """Write the shards ``<split>-00000-of-00001.parquet`` of a config; return them.

    Row groups hold at most 64 MB of audio and shards 480 MB; one row group is in memory at a time.
    """
    import pyarrow as pa

    folder.mkdir(parents=True, exist_ok=True)
    schema = arrow_schema(sample_rate_hz)
    parts: list[Path] = []
    writer: pq.ParquetWriter | None = None
    group: list[dict[str, Any]] = []
    n_group = n_shard = 0

    def flush() -> None:
        nonlocal writer, group, n_group, n_shard
        if not group:
            return
        if writer is None:
            parts.append(folder / f".{split}-{len(parts)}.part")
            writer, n_shard = _writer(parts[-1], schema), 0
        writer.write_table(pa.Table.from_pylist(group, schema=schema), row_group_size=len(group))
        n_shard += n_group
        group, n_group = [], 0

    for row in rows:
        n_row = row_bytes(row)
        if group and n_group + n_row > ROW_GROUP_BYTES:
            flush()
        if writer is not None and n_shard + n_group + n_row > SHARD_BYTES:
            flush()
            writer.close()
            writer = None
        group.append(row)
        n_group += n_row
    flush()
    if writer is not None:
        writer.close()
    shards = []
    for i, part in enumerate(parts):
        shard = folder / f"{split}-{i:05d}-of-{len(parts):05d}.parquet"
        part.replace(shard)
        shards.append(shard)
    return shards


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    import pyarrow.parquet as pq

    leaves = [leaf for field in schema for leaf in _leaves(field.name, field.type)]
    audio = [leaf for leaf in leaves if leaf.endswith(".bytes")]
    writer = pq.ParquetWriter(
        path,
        schema,
        write_page_index=True,
        use_content_defined_chunking=CHUNKING,
        compression={leaf: "none" if leaf in audio else "zstd" for leaf in leaves},
        use_dictionary=[leaf for leaf in leaves if leaf in _CATEGORIES],
        write_statistics=[leaf for leaf in leaves if leaf not in audio],
    )
    writer.add_key_value_metadata({"content_defined_chunking": json.dumps(CHUNKING)})
    return writer


def _leaves(path: str, type_: pa.DataType) -> list[str]:
    import pyarrow as pa

    if pa.types.is_struct(type_):
        return [leaf for field in type_ for leaf in _leaves(f"{path}.{field.name}", field.type)]
    if pa.types.is_list(type_):
        return _leaves(f"{path}.list.element", type_.value_type)
    return [path]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest(
    folder: Path,
    *,
    recipe: dict[str, Any],
    recipe_digest: str,
    shards: dict[str, dict[str, Any]],
    n_rejected: int,
    variant_of: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what a folder holds: per shard its SHA-256, bytes, rows and seconds; and what it was made from.

    `variant_of` says of a variant which build it is one of, and what was changed.
    """
    return {
        "format": MANIFEST_FORMAT,
        "schema_version": SCHEMA_VERSION,
        "schema_digest": schema_digest(),
        "generator": generator(),
        "recipe": recipe,
        "recipe_digest": recipe_digest,
        **({} if variant_of is None else {"variant_of": dict(variant_of)}),
        "rejected": n_rejected,
        "files": {
            name: {"sha256": sha256_of(folder / name), "bytes": (folder / name).stat().st_size, **facts}
            for name, facts in sorted(shards.items())
        },
    }
