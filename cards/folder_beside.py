"""A folder inside a built one, written beside and put in its place when it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import ReleaseError


def refuse_other_than_folder(path: Path) -> None:
    """Refuse a place for a folder in which something else lies.

    Raises
    ------
    ReleaseError
        If so: what we did not write is not taken away.
    """
    if (path.exists() or path.is_symlink()) and not path.is_dir():
        raise ReleaseError(f"{path}: a file lies where a folder is written; move it away, or delete it")


@contextmanager
def folder_beside(folder: Path, name: str) -> Iterator[Path]:
    """Give an empty folder to fill; afterwards it is ``folder/name``, in place of an older one.

    If what fills it fails, nothing is left of it and the older one stays.

    Raises
    ------
    ReleaseError
        If something else than a folder lies there.
    """
    target, beside = folder / name, folder / f".{name}.tmp"
    refuse_other_than_folder(target)
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    try:
        yield beside
        shutil.rmtree(target, ignore_errors=True)
        beside.replace(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
