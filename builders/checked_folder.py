"""A built folder to findings: every file, every row against its own audio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .. import ReleaseError
from ..scenarios.recipe import Checks
from .check import Finding, check_row
from .stems import read_stem
from .write import read_rows, sha256_of


def check_folder(folder: Path, progress: Callable[[int, int], None]) -> Iterator[Finding]:
    """Yield what is wrong with a built folder; nothing if all is well.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset.
    """
    path = folder / "manifest.json"
    if not path.is_file():
        raise ReleaseError(f"{folder}: no finished dataset (there is no manifest.json); build it first")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files, checks = manifest["files"], Checks(**manifest["recipe"]["checks"])
    except (ValueError, KeyError, TypeError) as error:
        raise ReleaseError(f"{path}: no manifest of duplexkit ({error}); build the folder again") from None
    total = sum(facts["rows"] for facts in files.values())
    seen: set[str] = set()
    done = 0
    for name, facts in files.items():
        if not (folder / name).is_file():
            yield _file_finding(name, "missing", "the file of the manifest")
            continue
        if sha256_of(folder / name) != facts["sha256"]:
            yield _file_finding(name, "other bytes than when it was built", f"SHA-256 {facts['sha256']}")
            continue
        n_rows = 0
        for row in read_rows(folder / name):
            if row["id"] in seen:
                yield Finding(
                    name="id", sample_id=row["id"], where=name, measured="stands twice", wanted="unique ids"
                )
            seen.add(row["id"])
            try:
                findings, _ = check_row(row, checks, partial(read_stem, folder))
            except ReleaseError as error:
                findings = [
                    Finding(
                        name="stem", sample_id=row["id"], where=name, measured=str(error), wanted="its stems"
                    )
                ]
            yield from findings
            n_rows, done = n_rows + 1, done + 1
            progress(done, total)
        if n_rows != facts["rows"]:
            yield _file_finding(name, f"{n_rows} rows", f"{facts['rows']} rows")


def _file_finding(name: str, measured: str, wanted: str) -> Finding:
    return Finding(name="file", sample_id="-", where=name, measured=measured, wanted=wanted)
