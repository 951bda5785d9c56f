"""Output folders: written beside by one command at a time, and renamed when they are whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from .. import RecipeError, ReleaseError

_LOCK = ".lock"
_OURS = ("manifest.json", "export.json")
"""What folders that duplexkit wrote have at their top, one of them at least."""


def refuse_taken(out: Path, *, overwrite: bool) -> None:
    """Refuse an output folder that is there, unless it may be replaced and is one that duplexkit wrote.

    Raises
    ------
    ReleaseError
        If it is there and `overwrite` is not given, or it is something else.
    """
    if not out.exists():
        return
    if not overwrite:
        raise ReleaseError(f"{out} exists; give another --out, or --overwrite to replace it")
    is_ours = out.is_dir() and (not any(out.iterdir()) or any((out / name).is_file() for name in _OURS))
    if not is_ours:
        raise ReleaseError(
            f"{out} exists and is no folder that duplexkit wrote (no {' or '.join(_OURS)} in it): it is not "
            f"replaced; give another --out"
        )


def refuse_within(out: Path, source: Path) -> None:
    """Refuse an output folder that is the input, lies in it, or holds it.

    Raises
    ------
    RecipeError
        If so: writing would take away what is read.
    """
    target, given = out.resolve(), source.resolve()
    if target == given or given in target.parents or target in given.parents:
        raise RecipeError(
            f"{out} and the input {source} lie in one another; give an output folder of its own"
        )


@contextmanager
def claimed(partial: Path) -> Iterator[None]:
    """Hold an unfinished folder for this command alone.

    Raises
    ------
    ReleaseError
        If another command is writing it.
    RecipeError
        If it cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        partial.mkdir(parents=True, exist_ok=True)
        lock = FileLock(partial / _LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise ReleaseError(
            f"another command is writing {partial}; wait for it, or give another --out"
        ) from None
    except OSError as error:
        raise RecipeError(f"--out: {partial.parent} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def clear(partial: Path) -> None:
    """Empty an unfinished folder that this command holds, but for its lock."""
    for path in partial.iterdir():
        if path.name != _LOCK:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def remove_empty(partial: Path) -> None:
    """Take a cleared folder away after it was let go; one that another command took up meanwhile stays."""
    try:
        (partial / _LOCK).unlink(missing_ok=True)
        partial.rmdir()
    except OSError:
        return


def put_in_place(done: Path, out: Path) -> None:
    """Give a finished folder its name; an old one, which must be ours, goes only when the new one stands."""
    refuse_taken(out, overwrite=True)
    old = out.with_name(f"{out.name}.replaced-{uuid4().hex[:8]}")
    if out.exists():
        out.rename(old)
    done.rename(out)
    shutil.rmtree(old, ignore_errors=True)
