"""Rows to an export: written beside, gone on with after an interruption, renamed when all is there."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ... import DuplexkitError, ReleaseError, __version__
from ...whole_file import put_bytes
from ..out_folder import claimed, clear, partial_of, put_in_place, refuse_taken, refuse_within
from ..stopping import going_on
from .files import json_bytes, put_json
from .format import Format, Options, Row, check_choices
from .origins import ATTRIBUTION, EXPORT, Origins, attribution_text
from .source import Source, rows_of

MARK = ".export-mark.json"
"""In an unfinished export: from what it is made. A run from something else starts anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export did: how many rows went in, and how many did not, by reason."""

    n_written: int
    skipped: dict[str, int]


def export(
    source: Source,
    out: Path,
    format_: Format,
    options: Options,
    *,
    overwrite: bool,
    progress: Callable[[int, int], None],
) -> Exported:
    """Write a source into the folder `out` in a format, or go on where an earlier run stopped.

    Until all is written it lies in ``<out>.partial``, which stays when the run is stopped, and goes when it is
    refused. ``export.json`` at its top says which sample lies where, which rows have no place in the format, and
    under which licences the parts of the others are; ``ATTRIBUTION.txt`` beside it says the last to people.

    Raises
    ------
    ReleaseError
        If `out` is not empty and `overwrite` is not given, a choice is not for this format, or no row has a
        place in it.
    """
    check_choices(options, format_)
    unfinished = partial_of(out)
    refuse_within(out, source.folder)
    if out.exists() and not overwrite and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{out} exists and is not empty; give another OUT, or --overwrite to replace it")
    refuse_taken(out, overwrite=True)
    with claimed(unfinished), going_on(f"what is written is in {unfinished}"):
        folder = _prepared(unfinished, _mark(source, format_, options))
        try:
            done = _fill(folder, source, format_, options, progress)
            put_in_place(folder, out)
        except DuplexkitError:  # it would be refused again: nothing to go on from
            clear(unfinished)
            raise
        clear(unfinished)
    return done


def _fill(
    folder: Path,
    source: Source,
    format_: Format,
    options: Options,
    progress: Callable[[int, int], None],
) -> Exported:
    """Write all of an export that an earlier run did not; raise where nothing has a place in it."""
    places: dict[str, str] = {}
    reasons: Counter[str] = Counter()
    origins = Origins()

    def heard() -> Iterator[Row]:
        for row in rows_of(source):
            if row["input"] is None:
                reasons["it holds annotations only, and a format without sound is of no use"] += 1
            else:
                origins.see(row)
                yield row

    for outcome in format_.write(heard(), folder, options):
        if outcome.skipped:
            reasons[outcome.skipped] += 1
            origins.forget(outcome.id)
        elif outcome.place in places:
            raise ReleaseError(
                f"rows {places[outcome.place]!r} and {outcome.id!r} of {source.folder} would both be "
                f"{outcome.place}: in file names every mark of an id is '-'. Give one of their scripts another id"
            )
        else:
            places[outcome.place] = outcome.id
            origins.keep(outcome.id)
        progress(len(places) + reasons.total(), source.n_rows)
    if not places:
        why = "; ".join(f"{n} rows: {reason}" for reason, n in reasons.items()) or "there are no rows"
        raise ReleaseError(f"nothing of {source.folder} fits {format_.name}: {why}")
    content = {
        "format": format_.name,
        "generator": {"name": "duplexkit", "version": __version__},
        "dataset": {"name": source.name, "version": source.version, "licence": source.licence},
        "parts": origins.parts(),
        **({} if source.imported is None else {"imported": dict(source.imported)}),
        "options": asdict(options),
        "left_out": dict(reasons),
        "samples": places,
        "files": sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()),
    }
    put_json(folder / EXPORT, content)
    put_bytes(folder / ATTRIBUTION, attribution_text(content).encode())
    return Exported(n_written=len(places), skipped=dict(reasons))


def _mark(source: Source, format_: Format, options: Options) -> str:
    chosen = [shard.name for shard in source.shards]
    text = json.dumps([source.digest, chosen, format_.name, asdict(options), __version__])
    return hashlib.sha256(text.encode()).hexdigest()


def _prepared(unfinished: Path, mark: str) -> Path:
    """Return the folder to fill: that of an earlier run of the very same export, or an empty one."""
    path, folder = unfinished / MARK, unfinished / "export"
    if path.is_file() and path.read_bytes() == json_bytes(mark):
        for rest in sorted(folder.rglob(".*.tmp")):  # a folder of a sample stands before what is in it
            if rest.is_dir():
                shutil.rmtree(rest)
            else:
                rest.unlink(missing_ok=True)
        return folder
    clear(unfinished)
    put_json(path, mark)
    folder.mkdir()
    return folder
