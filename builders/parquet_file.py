"""Parquet files opened for reading: one that cannot be read is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import ReleaseError

if TYPE_CHECKING:
    import pyarrow.parquet as pq


@contextmanager
def opened(path: Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; `options` are those of pyarrow's `ParquetFile`.

    Raises
    ------
    ReleaseError
        If it is missing, or cannot be opened or read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, **options) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ReleaseError(
            f"{path}: no Parquet file that can be read ({first}); build or fetch the folder again"
        ) from None


def columns_of(path: Path, columns: list[str]) -> list[dict[str, Any]]:
    """Return some columns of a Parquet file, a dict for each row; `a.b` is the part b of a column a.

    Raises
    ------
    ReleaseError
        If it cannot be read.
    """
    with opened(path) as file:
        rows: list[dict[str, Any]] = file.read(columns=columns).to_pylist()
    return rows
