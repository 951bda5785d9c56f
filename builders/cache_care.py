"""What a speech cache holds, and what may go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .. import RecipeError
from ..scenarios.fields import unknown
from .speakers import engines
from .speech_cache import is_whole

_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A clip in a cache. `spoken_at_s` is in seconds since 1970."""

    engine: str
    path: Path
    n_bytes: int
    spoken_at_s: float


def entries(cache_dir: Path, engine: str = "") -> Iterator[Entry]:
    """Yield the clips of a cache, those of one engine if it is named, in the order of their keys."""
    folders = sorted(cache_dir.iterdir()) if cache_dir.is_dir() else []
    for folder in folders:
        if engine and folder.name != engine:
            continue
        for path in sorted(folder.glob("[0-9a-f][0-9a-f]/*.zip")):
            if _KEY.fullmatch(path.stem):
                try:
                    facts = path.stat()
                except FileNotFoundError:  # another process deleted it meanwhile
                    continue
                yield Entry(engine=folder.name, path=path, n_bytes=facts.st_size, spoken_at_s=facts.st_mtime)


def engine_there(cache_dir: Path, engine: str) -> None:
    """Refuse an engine that nobody knows and that never spoke into the cache; the empty name stands for all.

    Raises
    ------
    RecipeError
        If so; says which there are.
    """
    if not engine:
        return
    known = {*engines(), *(path.name for path in cache_dir.glob("*") if next(path.glob("??/*.zip"), None))}
    if engine not in known:
        raise RecipeError(f"--engine {engine}: {unknown('engine', engine, tuple(known))}")


def to_prune(
    found: Sequence[Entry],
    *,
    now_s: float,
    older_than_days: float | None,
    at_most_bytes: int | None,
    damaged: bool,
) -> list[Entry]:
    """Return the entries that go: older ones, damaged ones, then the oldest until the rest is small enough.

    Parameters
    ----------
    older_than_days, at_most_bytes
        None: no such limit.
    damaged
        Whether every entry is read, and those that are not whole go.
    """
    gone: list[Entry] = []
    rest: list[Entry] = []
    for entry in sorted(found, key=lambda e: (e.spoken_at_s, e.path)):
        old = older_than_days is not None and now_s - entry.spoken_at_s > older_than_days * 86400
        (gone if old or (damaged and not is_whole(entry.path)) else rest).append(entry)
    if at_most_bytes is not None:
        size = sum(entry.n_bytes for entry in rest)
        for entry in rest:
            if size <= at_most_bytes:
                break
            gone.append(entry)
            size -= entry.n_bytes
    return gone


def other_bytes(cache_dir: Path) -> dict[str, int]:
    """Return the size of what else lies in a cache, by folder: models, lists of voices, locks."""
    sizes: dict[str, int] = {}
    clips = {entry.path for entry in entries(cache_dir)}
    for path in sorted(cache_dir.rglob("*")) if cache_dir.is_dir() else []:
        if path.is_file() and path not in clips:
            top = path.relative_to(cache_dir).parts[0]
            sizes[top] = sizes.get(top, 0) + path.stat().st_size
    return sizes


def bytes_from(text: str) -> int | None:
    """Return a size such as ``500MB`` or ``2GB`` in bytes; None for another text.

    Examples
    --------
    >>> bytes_from("2GB"), bytes_from("two")
    (2000000000, None)
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kMG]?)B", text)
    if match is None:
        return None
    return int(Fraction(match.group(1)) * {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}[match.group(2)])


def readable(n_bytes: int) -> str:
    """Return a size for reading.

    Examples
    --------
    >>> readable(1_230_000)
    '1.2 MB'
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} B"
