"""A file that exists is whole: it is written beside its place, and then renamed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

_LEFT = re.compile(r"\.[0-9a-f]{32}\.tmp")


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Give a name to write to, which takes the place of `path` when the block ends; after an error it is gone.

    Folders that lead there are made. The name is no other process's, on any machine; what a kill leaves is for
    `left_in`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{uuid4().hex}.tmp")  # short: it fits where the name does
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def put_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with beside(path) as part:
        part.write_bytes(content)


def put_text(path: Path, text: str) -> None:
    """Write a text file (UTF-8) whole or not at all."""
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")


def left_in(folder: Path, *, older_than_s: float = 0.0) -> Iterator[Path]:
    """Yield what killed processes left half written under a folder, and not touched for so long."""
    for path in sorted(folder.rglob(".*.tmp")):
        try:
            age_s = time.time() - path.stat().st_mtime
        except FileNotFoundError:  # its process ended meanwhile
            continue
        if _LEFT.fullmatch(path.name) and path.is_file() and age_s >= older_than_s:
            yield path
