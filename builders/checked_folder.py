"""A built folder to findings: every file, every row against its own audio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .. import ReleaseError
from ..scenarios.recipe import Checks
from .built import MANIFEST, fault_of, read_manifest, rows_in, shards_of
from .check import Finding, check_row
from .stems import read_stem


def check_folder(folder: Path, progress: Callable[[int, int], None]) -> Iterator[Finding]:
    """Yield what is wrong with a built folder; nothing if all is well.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset.
    """
    manifest = read_manifest(folder)
    shards = shards_of(folder, manifest)
    try:
        checks = Checks(**manifest["recipe"]["checks"])
    except (ValueError, TypeError) as error:
        raise ReleaseError(
            f"{folder / MANIFEST}: recipe.checks is none of duplexkit ({error}); build the folder again"
        ) from None
    total = sum(shard.n_rows for shard in shards)
    seen: set[str] = set()
    done = 0
    for shard in shards:
        fault = fault_of(shard)
        if fault is not None:
            yield Finding(
                name="file", sample_id="-", where=shard.name, measured=fault.found, wanted=fault.wanted
            )
            continue
        for row in rows_in((shard,)):
            if row["id"] in seen:
                yield Finding(
                    name="id",
                    sample_id=row["id"],
                    where=shard.name,
                    measured="stands twice",
                    wanted="unique ids",
                )
            seen.add(row["id"])
            try:
                findings, _ = check_row(row, checks, partial(read_stem, folder))
            except ReleaseError as error:
                findings = [
                    Finding(
                        name="stem",
                        sample_id=row["id"],
                        where=shard.name,
                        measured=str(error),
                        wanted="its stems",
                    )
                ]
            yield from findings
            done += 1
            progress(done, total)
