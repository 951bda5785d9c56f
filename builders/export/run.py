"""Rows to an export: written beside, gone on with after an interruption, renamed when all is there."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ... import ReleaseError, __version__
from ..out_folder import put_in_place, refuse_taken, refuse_within
from .files import put_bytes, put_json
from .format import Format, Options, Row, check_choices
from .origins import ATTRIBUTION, Origins
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

    Until all is written the folder is called ``<out>.partial``. ``export.json`` at its top says which sample
    lies where, which rows have no place in the format, and under which licences the parts of the others are;
    ``ATTRIBUTION.txt`` beside it says the last to people.

    Raises
    ------
    ReleaseError
        If `out` is not empty and `overwrite` is not given, a choice is not for this format, or no row has a
        place in it.
    """
    check_choices(options, format_)
    refuse_within(out, source.folder)
    if out.exists() and not overwrite and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{out} exists and is not empty; give another OUT, or --overwrite to replace it")
    refuse_taken(out, overwrite=True)
    unfinished = out.with_name(f"{out.name}.partial")
    _prepare(unfinished, _mark(source, format_, options))
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

    for outcome in format_.write(heard(), unfinished, options):
        if outcome.skipped:
            reasons[outcome.skipped] += 1
            origins.forget(outcome.id)
        else:
            places[outcome.place] = outcome.id
            origins.keep(outcome.id)
        progress(len(places) + reasons.total(), source.n_rows)
    if not places:
        shutil.rmtree(unfinished)
        why = "; ".join(f"{n} rows: {reason}" for reason, n in reasons.items()) or "there are no rows"
        raise ReleaseError(f"nothing of {source.folder} fits {format_.name}: {why}")
    put_json(
        unfinished / "export.json",
        {
            "format": format_.name,
            "generator": {"name": "duplexkit", "version": __version__},
            "dataset": {"name": source.name, "version": source.version, "licence": source.licence},
            "parts": origins.parts(),
            "options": asdict(options),
            "left_out": dict(reasons),
            "samples": places,
        },
    )
    put_bytes(unfinished / ATTRIBUTION, origins.text(source.name, source.version, source.licence).encode())
    (unfinished / MARK).unlink()
    put_in_place(unfinished, out)
    return Exported(n_written=len(places), skipped=dict(reasons))


def _mark(source: Source, format_: Format, options: Options) -> str:
    chosen = [str(shard.path.relative_to(source.folder)) for shard in source.shards]
    text = json.dumps([source.digest, chosen, format_.name, asdict(options), __version__])
    return hashlib.sha256(text.encode()).hexdigest()


def _prepare(unfinished: Path, mark: str) -> None:
    """Make the unfinished folder, or keep that of an earlier run of the very same export."""
    path = unfinished / MARK
    if path.is_file() and json.loads(path.read_text(encoding="utf-8")) == mark:
        for rest in unfinished.rglob(".*.tmp"):
            rest.unlink()
        return
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        put_json(path, mark)
    except OSError as error:
        raise ReleaseError(f"OUT: {unfinished.parent} cannot be written: {error.strerror}") from None
