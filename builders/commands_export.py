"""The commands that leave the dataset's own form: export to a consumer's format, check one, import one."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import DuplexkitError, ReleaseError
from .inputs import folder_there, release_there

if TYPE_CHECKING:
    from .export.format import Format


def add_commands(app: typer.Typer) -> None:
    """Give the command line its commands ``export`` and ``import``."""
    app.command()(export)
    app.command("import")(import_)


def export(
    source: Annotated[
        str | None, typer.Argument(help="A built folder, or owner/name@tag of the Hub.")
    ] = None,
    out: Annotated[Path | None, typer.Argument(help="The folder to write; it must not exist.")] = None,
    to: Annotated[
        str,
        typer.Option("--to", help="fdb, m3, moshi, lhotse, nemo, webdataset, rttm, textgrid or audacity."),
    ] = "",
    check: Annotated[
        Path | None,
        typer.Option(
            "--check", help="Check this folder by the consumer's own rules instead.", callback=folder_there
        ),
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option("--config", help="Only these: user_interruption, or mt_qa-ja.")
    ] = None,
    split: Annotated[list[str] | None, typer.Option("--split", help="Only these splits.")] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="m3: the data set's name; default: the recipe's.")
    ] = None,
    gap_free: Annotated[
        bool,
        typer.Option(
            "--gap-free/--keep-gaps",
            help="m3: words last until the next one, so that M3 does not cut reference answers at a pause.",
        ),
    ] = True,
    labels: Annotated[
        str, typer.Option("--labels", help="m3: events by M3's rule on words (m3), or as planned (intended).")
    ] = "m3",
    rate: Annotated[
        int | None, typer.Option("--rate", min=8000, max=48000, help="Hz, for formats that take any rate.")
    ] = None,
    transcripts: Annotated[
        str,
        typer.Option(
            "--transcripts", help="fdb: ground_truth, or asr:MODEL for the words a recogniser hears."
        ),
    ] = "ground_truth",
    author_q: Annotated[
        bool, typer.Option("--author-q", help="fdb: backchannel places that an author marked, too.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT when the new one stands.")
    ] = False,
) -> None:
    """Write a dataset as another tool reads it, or check such a folder by that tool's rules (exit 1 if it fails)."""
    format_ = _format(to)
    if check is not None:
        _check(check, format_)
        return
    if source is None or out is None:
        raise DuplexkitError("export: wanted FOLDER --to FORMAT OUT, or --check OUT --to FORMAT")
    from .export.format import Options
    from .export.run import export as run
    from .export.source import open_source
    from .progress import Steps

    if dataset is not None and format_.name != "m3":
        raise ReleaseError(f"--dataset {dataset}: {format_.name} has no place for a name; leave it out")
    chosen = partial(open_source, configs=tuple(config or ()), splits=tuple(split or ()))
    opened = release_there(source, chosen)
    options = Options(
        dataset=dataset or opened.name,
        gap_free=gap_free,
        labels=labels,
        rate_hz=rate,
        transcripts=transcripts,
        author_q=author_q,
    )
    with Steps(f"exporting to {format_.name}") as steps:
        done = run(opened, out, format_, options, overwrite=overwrite, progress=steps.advance)
    typer.echo(f"{out}: {done.n_written} samples for {format_.name}")
    for reason, n in done.skipped.items():
        typer.echo(f"left out {n}: {reason}")


def _check(folder: Path, format_: Format) -> None:
    from .export.check import check_export

    n = 0
    for finding in check_export(folder, format_):
        typer.echo(str(finding))
        n += 1
    typer.echo(f"{folder}: {n} findings by the rules of {format_.name}")
    if n:
        raise typer.Exit(1)


def _format(name: str) -> Format:
    from .export import FORMATS

    if name in FORMATS:
        return FORMATS[name]
    near = get_close_matches(name, FORMATS, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise DuplexkitError(f"--to {name or '(nothing)'}: wanted one of {', '.join(FORMATS)}{hint}")


def import_(
    form: Annotated[str, typer.Argument(metavar="FORM", help="fdb or m3.")],
    folder: Annotated[Path, typer.Argument(help="The folder you have.", callback=folder_there)],
    out: Annotated[Path, typer.Option("--out", help="The dataset folder to write; it must not exist.")],
    language: Annotated[
        str, typer.Option("--language", help="What is spoken, where the folders' names do not say it.")
    ] = "en",
    licence: Annotated[
        str,
        typer.Option(
            "--licence", help="SPDX id of the licence under which you have the data; a release needs it."
        ),
    ] = "",
    source: Annotated[
        str, typer.Option("--source", help="Where the data is from, and whom its licence wants named.")
    ] = "",
    rate: Annotated[
        int | None,
        typer.Option(
            "--rate", min=8000, max=48000, help="Resample to this rate; needed where rates are mixed."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT when the new one stands.")
    ] = False,
) -> None:
    """Make rows of our schema from a folder of Full-Duplex-Bench or M3-DuplexBench, to audit or re-release it."""
    from ..cards.describe import describe
    from ..scenarios.names import read_language
    from .imports import IMPORTS, SOUNDS
    from .imports.folder import write_imported
    from .imports.origin import origin_of
    from .progress import Steps

    if form not in IMPORTS:
        raise DuplexkitError(f"import {form}: wanted one of {', '.join(IMPORTS)}")
    from .out_folder import refuse_taken, refuse_within

    read_language(language, "--language")
    refuse_taken(out, overwrite=overwrite)
    refuse_within(out, folder)
    origin = origin_of(folder, licence=licence, source=source)
    total = sum(1 for _ in folder.rglob(SOUNDS[form]))
    with Steps(f"importing {folder}") as steps:
        n = write_imported(
            IMPORTS[form](folder, language),
            out,
            name=form,
            origin=origin,
            rate_hz=rate,
            describe=describe,
            progress=lambda done: steps.advance(done, total),
        )
    typer.echo(f"{out}: {n} rows; next: duplexkit check {out}")
