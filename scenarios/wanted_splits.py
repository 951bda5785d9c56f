"""The recipe's table [splits]: which samples go into which split, once they have been measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import RecipeError
from .fields import is_number, unknown

SPLITS = ("train", "validation", "test")
GROUPS = ("scenario", "language", "domain")
_TABLE_KEYS = ("within", "rest", "stratify", "speaker_disjoint", "keep_parallel")
_WISH_KEYS = ("measure", "count", "fraction", "hours", "speakers")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitWish:
    """What one split shall hold, in each group: a number of samples, a fraction, or hours of them.

    The best by `measure` are taken; without one, a fixed random choice. `speakers` is how many speakers (with
    all voices mixed from them) belong to this split alone.
    """

    split: str
    measure: str = ""
    count: int | None = None
    fraction: float | None = None
    hours: float | None = None
    speakers: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSplits:
    """All wishes, filled in their order; what is left goes to `rest`.

    `within` names what makes a group (each group is filled by itself), `stratify` what keeps its shares in
    every split (``intent`` or nothing). `keep_parallel` keeps a script's samples of all languages together.
    """

    wishes: tuple[SplitWish, ...]
    rest: str = "train"
    within: tuple[str, ...] = ("scenario", "language")
    stratify: str = ""
    speaker_disjoint: bool = False
    keep_parallel: bool = True


def read_wanted_splits(table: Any, where: str = "splits") -> WantedSplits:
    """Return the table [splits], checked.

    Raises
    ------
    RecipeError
        For what it does not know or cannot be; names the key.
    """
    if not isinstance(table, Mapping):
        raise RecipeError(f"{where} = {table!r}: wanted a table, for example [splits.test] with count = 100")
    wishes = []
    for key, value in table.items():
        if key in SPLITS:
            wishes.append(_wish(key, value, f"{where}.{key}"))
        elif key not in _TABLE_KEYS:
            raise RecipeError(f"{where}.{key}: {unknown('key', key, (*SPLITS, *_TABLE_KEYS))}")
    if not wishes:
        raise RecipeError(f"{where}: no split; wanted at least one of {', '.join(SPLITS)} as a table")
    rest = table.get("rest", "train")
    if rest not in SPLITS or any(wish.split == rest for wish in wishes):
        raise RecipeError(
            f"{where}.rest = {rest!r}: wanted a split without wishes of its own: {_free(wishes)}"
        )
    within = table.get("within", ["scenario", "language"])
    if not isinstance(within, list) or any(name not in GROUPS for name in within):
        raise RecipeError(f"{where}.within = {within!r}: wanted a list out of {', '.join(GROUPS)}")
    stratify = table.get("stratify", "")
    if stratify not in ("", "intent"):
        raise RecipeError(f"{where}.stratify = {stratify!r}: wanted 'intent', or nothing")
    flags = {
        key: table.get(key, default)
        for key, default in (("speaker_disjoint", False), ("keep_parallel", True))
    }
    for key, flag in flags.items():
        if not isinstance(flag, bool):
            raise RecipeError(f"{where}.{key} = {flag!r}: wanted true or false")
    speaker_disjoint = flags["speaker_disjoint"] or any(wish.speakers is not None for wish in wishes)
    return WantedSplits(
        wishes=tuple(wishes),
        rest=rest,
        within=tuple(within),
        stratify=stratify,
        speaker_disjoint=speaker_disjoint,
        keep_parallel=flags["keep_parallel"],
    )


def _free(wishes: list[SplitWish]) -> str:
    taken = {wish.split for wish in wishes}
    return ", ".join(split for split in SPLITS if split not in taken) or "none is left"


def _wish(split: str, table: Any, where: str) -> SplitWish:
    if not isinstance(table, Mapping):
        raise RecipeError(f"{where} = {table!r}: wanted a table, for example {{ count = 100 }}")
    for key in table:
        if key not in _WISH_KEYS:
            raise RecipeError(f"{where}.{key}: {unknown('key', key, _WISH_KEYS)}")
    sizes = [key for key in ("count", "fraction", "hours") if key in table]
    if len(sizes) != 1:
        raise RecipeError(
            f"{where}: wanted one of count, fraction and hours, not {' and '.join(sizes) or 'none'}"
        )
    size = table[sizes[0]]
    whole = sizes[0] == "count"
    if not is_number(size) or (whole and not isinstance(size, int)) or size <= 0:
        raise RecipeError(f"{where}.{sizes[0]} = {size!r}: wanted a number above 0")
    if sizes[0] == "fraction" and size >= 1:
        raise RecipeError(f"{where}.fraction = {size!r}: wanted a share below 1")
    speakers = table.get("speakers")
    if speakers is not None and (not is_number(speakers) or not isinstance(speakers, int) or speakers < 1):
        raise RecipeError(f"{where}.speakers = {speakers!r}: wanted a whole number, 1 or more")
    measure = table.get("measure", "")
    if not isinstance(measure, str):
        raise RecipeError(f"{where}.measure = {measure!r}: wanted the name of a value, for example 'wer'")
    return SplitWish(
        split=split,
        measure=measure,
        count=int(size) if whole else None,
        fraction=float(size) if sizes[0] == "fraction" else None,
        hours=float(size) if sizes[0] == "hours" else None,
        speakers=speakers,
    )
