"""The commands about the speech cache: what it holds, what may go, its clips as one file."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from .. import RecipeError
from .commands_speech import Cache, cache_or_default
from .inputs import file_there, folder_there
from .printed_table import print_tables

_LEFT_S = 86_400.0
"""A half written file that nobody touched for a day is no running process's."""

cache_app = typer.Typer(
    invoke_without_command=True, help="The speech cache: what it holds, what may go, export and import."
)


def add_commands(app: typer.Typer) -> None:
    """Add ``cache`` to an app."""
    app.add_typer(cache_app, name="cache")


@cache_app.callback()
def show(context: typer.Context, cache: Cache = None) -> None:
    """Show what the speech cache holds."""
    context.obj = cache_or_default(cache)
    if context.invoked_subcommand != "import":  # which makes it
        folder_there(cache)
    if context.invoked_subcommand is None:
        _show(context.obj)


def _show(cache_dir: Path) -> None:
    from .cache_care import entries, other_bytes, readable

    table = Table("engine", "clips", "size", "first spoken", "last spoken", title=f"Speech cache {cache_dir}")
    by_engine: dict[str, list[tuple[int, float]]] = {}
    for entry in entries(cache_dir):
        by_engine.setdefault(entry.engine, []).append((entry.n_bytes, entry.spoken_at_s))
    for engine, found in by_engine.items():
        days = [time.strftime("%Y-%m-%d", time.localtime(at)) for _, at in found]
        table.add_row(engine, str(len(found)), readable(sum(n for n, _ in found)), min(days), max(days))
    print_tables(table)
    for name, n_bytes in other_bytes(cache_dir).items():
        typer.echo(f"beside the clips: {name}, {readable(n_bytes)}")


@cache_app.command()
def prune(
    context: typer.Context,
    older_than_days: Annotated[
        float | None, typer.Option("--older-than-days", min=0, help="Clips spoken longer ago than that.")
    ] = None,
    to_size: Annotated[
        str, typer.Option("--to-size", help="The oldest clips, until the rest is at most this: 500MB, 2GB.")
    ] = "",
    engine: Annotated[str, typer.Option("--engine", help="Only clips of this engine.")] = "",
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Damaged and half written clips (reads every clip).")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete them; without it they are only shown.")
    ] = False,
) -> None:
    """Show which clips may go, or delete them."""
    from ..whole_file import left_in
    from .cache_care import bytes_from, engine_there, entries, readable, to_prune

    limit = bytes_from(to_size) if to_size else None
    if to_size and limit is None:
        raise RecipeError(f"--to-size {to_size[:40]}: wanted a size such as 500MB or 2GB")
    if older_than_days is not None and math.isnan(older_than_days):
        raise RecipeError("--older-than-days nan: wanted a number of days")
    if older_than_days is None and limit is None and not damaged and not engine:
        raise RecipeError(
            "cache prune: which clips? give --older-than-days, --to-size, --engine or --damaged"
        )
    cache_dir: Path = context.obj
    engine_there(cache_dir, engine)
    found = list(entries(cache_dir, engine))
    if older_than_days is None and limit is None and not damaged:
        gone = found  # all of the engine
    else:
        gone = to_prune(
            found,
            now_s=time.time(),
            older_than_days=older_than_days,
            at_most_bytes=limit,
            damaged=damaged,
        )
    left = list(left_in(cache_dir / engine, older_than_s=_LEFT_S)) if damaged else []
    if delete:
        for path in (*(entry.path for entry in gone), *left):
            path.unlink(missing_ok=True)
    size = readable(sum(entry.n_bytes for entry in gone))
    told = "deleted" if delete else "may go (--delete)"
    typer.echo(f"{len(gone)} of {len(found)} clips, {size}: {told}")
    if left:
        typer.echo(f"{len(left)} files that a killed process left half written: {told}")


@cache_app.command("export")
def export_(
    context: typer.Context,
    archive: Annotated[Path, typer.Argument(help="The file to write.")],
    build: Annotated[
        Path | None,
        typer.Option("--build", help="Only the clips that this build listened to.", callback=folder_there),
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="Only clips of this engine.")] = "",
) -> None:
    """Write clips to one file, for another machine."""
    from .cache_care import engine_there
    from .speech_archive import clips_of_build, clips_of_cache, export_clips

    engine_there(context.obj, engine)
    clips = clips_of_cache(context.obj, engine) if build is None else clips_of_build(build)
    clips = tuple(clip for clip in clips if not engine or clip.startswith(f"{engine}/"))
    if not clips:
        by = f" by {engine}" if engine else ""
        raise RecipeError(
            f"{context.obj if build is None else build}: no clips{by}; there is nothing to write"
        )
    typer.echo(f"{archive}: {len(export_clips(clips, context.obj, archive))} clips written")


@cache_app.command("import")
def import_(
    context: typer.Context,
    archive: Annotated[
        Path,
        typer.Argument(help="A file that `cache export` or --speech-archive wrote.", callback=file_there),
    ],
) -> None:
    """Take the clips of such a file into the cache."""
    from .speech_archive import import_clips

    n_new, n_there = import_clips(archive, context.obj)
    typer.echo(f"{archive}: {n_new} clips taken, {n_there} were in the cache")
