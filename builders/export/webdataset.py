"""WebDataset: tar shards, per sample its tracks as FLAC and everything else as JSON."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

from ...whole_file import beside
from ..schema import AUDIO_COLUMNS
from .format import Options, Outcome, Row, file_id

SAMPLES_PER_SHARD = 256


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write ``shard-{n}.tar``; a shard that is there stays, and equal rows give equal bytes.

    A sample's members are ``{id}.{track}.flac`` and ``{id}.json``; the key ends at the first point.
    """
    stream = iter(rows)
    number = 0
    while (first := next(stream, None)) is not None:
        path = folder / f"shard-{number:06d}.tar"
        write_it = not path.exists()
        with (
            beside(path) if write_it else nullcontext(Path(os.devnull)) as part,
            tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as tar,
        ):
            for row in _chain(first, islice(stream, SAMPLES_PER_SHARD - 1)):
                if write_it:
                    _add(tar, row)
                yield Outcome(id=row["id"], place=f"{path.name}/{file_id(row['id'])}")
        number += 1


def _chain(first: Row, rest: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rest


def _add(tar: tarfile.TarFile, row: Row) -> None:
    key = file_id(row["id"])
    for name in AUDIO_COLUMNS:
        if row[name] is not None:
            _member(tar, f"{key}.{name}.flac", row[name]["bytes"])
    labels = {name: value for name, value in row.items() if name not in AUDIO_COLUMNS}
    _member(tar, f"{key}.json", json.dumps(labels, ensure_ascii=False).encode())


def _member(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o644
    tar.addfile(info, io.BytesIO(content))
