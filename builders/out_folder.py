"""Output folders: written beside by one command at a time, and renamed when they are whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from .. import RecipeError, ReleaseError
from ..whole_file import left_in
from .stopping import held_back

_LOCK = ".lock"
_MARK = ".duplexkit"
_MARK_TEXT = (
    "Unfinished output of duplexkit: the command that began it goes on from here. It may be deleted.\n"
)
_OURS = ("manifest.json", "export.json")
"""What folders that duplexkit wrote have at their top, one of them at least."""


def refuse_taken(out: Path, *, overwrite: bool) -> None:
    """Refuse an output folder that is there, unless it may be replaced and is one that duplexkit wrote.

    Raises
    ------
    RecipeError
        If it has no name of its own, or holds the folder that the command runs in.
    ReleaseError
        If it is there and `overwrite` is not given, or it is something else.
    """
    _refuse_nameless(out)
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


def _refuse_nameless(out: Path) -> None:
    here = Path.cwd()
    if out.name in ("", "..") or out.resolve() in (here, *here.parents):
        raise RecipeError(
            f"output folder '{out}': that is the folder you are in, or one that holds it; give the name of a "
            f"folder to make, for example build/mine"
        )


def partial_of(out: Path) -> Path:
    """Return what an output folder is called until it is finished: ``<out>.partial``.

    Raises
    ------
    RecipeError
        If `out` has no name of its own.
    """
    _refuse_nameless(out)
    return out.with_name(f"{out.name}.partial")


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
    """Hold an unfinished folder for this command alone; if nothing is in it afterwards, it goes.

    Raises
    ------
    ReleaseError
        If another command is writing it, or it is somebody else's.
    RecipeError
        If it cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        _refuse_foreign(partial)
        partial.mkdir(parents=True, exist_ok=True)
        (partial / _MARK).write_text(_MARK_TEXT, encoding="utf-8")
        lock = FileLock(partial / _LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise ReleaseError(
            f"another command is writing {partial}; wait for it, or give another --out"
        ) from None
    except OSError as error:
        raise RecipeError(
            f"--out: {partial.parent} cannot be written: {(error.strerror or 'no reason is given').lower()}"
        ) from None
    try:
        yield
    finally:
        _remove_empty(partial)
        lock.release()


def _refuse_foreign(partial: Path) -> None:
    """Refuse what has the name of an unfinished folder and is not one of ours."""
    if not partial.exists() and not partial.is_symlink():
        return
    is_ours = partial.is_dir() and (
        not any(partial.iterdir()) or any((partial / name).is_file() for name in (_MARK, _LOCK))
    )
    if not is_ours:
        raise ReleaseError(
            f"{partial} exists and is no unfinished folder of duplexkit (no {_MARK} in it): it is left as it is; "
            f"move it away, or give another --out"
        )


@contextmanager
def fresh(out: Path) -> Iterator[Path]:
    """Give an empty folder beside `out`, held for this command alone; however the block ends, it goes.

    Raises
    ------
    ReleaseError, RecipeError
        As `claimed`.
    """
    partial = partial_of(out)
    with claimed(partial):
        clear(partial)
        try:
            yield partial
        finally:
            clear(partial)


def clear(partial: Path) -> None:
    """Empty an unfinished folder that this command holds, but for its lock and its mark."""
    for path in partial.iterdir():
        if path.name not in (_LOCK, _MARK):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _remove_empty(partial: Path) -> None:
    """Take a folder away that this command holds and that has nothing in it."""
    try:
        if {path.name for path in partial.iterdir()} <= {_LOCK, _MARK}:
            for name in (_MARK, _LOCK):
                (partial / name).unlink(missing_ok=True)
            partial.rmdir()
    except OSError:  # another command took it up meanwhile, or the system does not delete what is held
        return


def put_in_place(done: Path, out: Path) -> None:
    """Give a finished folder its name; an old one, which must be ours, goes only when the new one stands."""
    refuse_taken(out, overwrite=True)
    for path in left_in(done):
        path.unlink(missing_ok=True)
    old = out.with_name(f"{out.name}.replaced-{uuid4().hex[:8]}")
    with held_back():
        if out.exists():
            out.rename(old)
        done.rename(out)
    if old.is_symlink():
        old.unlink()
    else:
        shutil.rmtree(old, ignore_errors=True)
