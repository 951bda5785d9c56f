"""What a command is given to read: where it is not there, the command is wrong, whatever it would do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from .. import DuplexkitError, ReleaseError

Opened = TypeVar("Opened")


def folder_there(path: Path | None) -> Path | None:
    """Return a folder that is there; the callback of an argument that names one to read.

    Raises
    ------
    DuplexkitError
        If it is not there, or is a file.
    """
    if path is not None and not path.is_dir():
        what = "is a file; wanted a folder" if path.exists() else "there is no such folder"
        raise DuplexkitError(f"{_named(path)}: {what}")
    return path


def file_there(path: Path | None) -> Path | None:
    """Return a file that is there; the callback of an argument that names one to read.

    Raises
    ------
    DuplexkitError
        If it is not there, or is a folder.
    """
    if path is not None and (path.is_dir() or not path.exists()):
        what = "is a folder; wanted a file" if path.is_dir() else "there is no such file"
        raise DuplexkitError(f"{_named(path)}: {what}")
    return path


def files_there(paths: Sequence[Path] | None) -> list[Path] | None:
    """Return files that are all there; the callback of an argument that names several."""
    if paths is None:
        return None
    for path in paths:
        file_there(path)
    return list(paths)


def release_there(where: str, open_: Callable[[str], Opened]) -> Opened:
    """Return what `open_` makes of a folder, or of a release that the Hub has.

    Raises
    ------
    DuplexkitError
        If there is neither.
    """
    try:
        return open_(where)
    except ReleaseError as error:
        if Path(where).exists():
            raise
        raise DuplexkitError(str(error)) from None


def _named(path: Path) -> str:
    """Return a path as a message names it: the empty one is the folder that the command runs in."""
    return f"'{path}'" if str(path) in ("", ".") else str(path)
