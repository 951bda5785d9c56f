"""The nouns of an export: a format, what the user chose, what became of a row, and what a validator finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ... import InputError

Row = dict[str, Any]
"""A row of `schema.COLUMNS`, audio as FLAC bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a user may choose; a format refuses what it does not take.

    `dataset` names the data where a format has a place for a name. `gap_free` and `labels` belong to m3,
    `rate_hz` to the formats that take any rate (None: the format's usual one), `transcripts` to fdb
    (``ground_truth`` or ``asr:MODEL``). `author_q` lets fdb take backchannel places that an author marked.
    """

    dataset: str = "duplexkit"
    gap_free: bool = True
    labels: str = "m3"
    rate_hz: int | None = None
    transcripts: str = "ground_truth"
    author_q: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a row: where it lies in the export, or why it has no place there."""

    id: str
    place: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a consumer would stumble over: the file, the rule, what was found and what was wanted."""

    file: str
    rule: str
    found: str
    wanted: str

    def __str__(self) -> str:
        """Return the finding as one line."""
        return f"{self.file}: {self.rule}: {self.found}; wanted {self.wanted}"


Write = Callable[[Iterable[Row], Path, Options], Iterator[Outcome]]
"""Writes rows into a folder, one by one; audio that is already there (from an earlier run) stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: what it is for, how it is written, and how a folder of it is checked.

    `takes` names the fields of `Options` that it heeds; `dataset` is not among them, every source has a name.
    """

    name: str
    meaning: str
    takes: frozenset[str]
    write: Write
    check: Callable[[Path], Iterator[Finding]]


def file_id(row_id: str) -> str:
    """Return a row's id as the stem of a file name: letters, digits, ``-`` and ``_`` only.

    Examples
    --------
    >>> file_id("mt_qa/ja/qa-001/0")
    'mt_qa-ja-qa-001-0'
    """
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in row_id)


_FLAGS = {
    "gap_free": "--keep-gaps",
    "labels": "--labels",
    "rate_hz": "--rate",
    "transcripts": "--transcripts",
    "author_q": "--author-q",
}


def check_choices(options: Options, format_: Format) -> None:
    """Refuse what no format knows, and what this one does not heed.

    Raises
    ------
    InputError
        If `labels` or `transcripts` is none of the known ones, or a choice is not among what the format takes.
    """
    if options.labels not in ("m3", "intended"):
        raise InputError(f"--labels {options.labels}: wanted m3 (by M3's rule) or intended (as planned)")
    if options.transcripts != "ground_truth" and not options.transcripts.startswith("asr:"):
        raise InputError(
            f"--transcripts {options.transcripts}: wanted ground_truth, or asr:MODEL with a model of "
            "faster-whisper (asr:tiny.en takes the weights of the extra 'quality')"
        )
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name in _FLAGS and value != field.default and field.name not in format_.takes:
            known = ", ".join(_FLAGS[name] for name in _FLAGS if name in format_.takes) or "none of these"
            given = "" if isinstance(value, bool) else f" {value}"
            raise InputError(
                f"{_FLAGS[field.name]}{given}: {format_.name} does not take it (it takes: {known}); leave it out"
            )
