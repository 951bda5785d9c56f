"""The command line: each verb as a command. Stands above all layers, because it calls each of them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from .. import DuplexkitError, EngineError, InputError, RecipeError, ReleaseError, __version__, publish
from ..cards import commands
from ..scenarios.reason import reason_of
from . import (
    commands_annotate,
    commands_cache,
    commands_export,
    commands_quality,
    commands_scripts,
    commands_speech,
    commands_timing,
)
from .inputs import folder_there
from .printed_table import print_tables
from .stopping import Stopped, say, stop_signals

app = typer.Typer(
    name="duplexkit",
    help="Construct, check and release datasets for full-duplex spoken dialogue models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Cache = Annotated[
    Path | None, typer.Option("--cache", help="Speech cache; default: the user's cache folder.")
]


def default_cache() -> Path:
    """Return the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("duplexkit")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"duplexkit {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def build(
    recipe: Annotated[str, typer.Argument(help="A shipped recipe's name, or a TOML file.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; it must not exist.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE, for example seed=7 or scenarios.mt_qa.count=8."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="A scenario or a configuration such as mt_qa-ja.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            help="Processes that speak and render; default: one per core (ray: the cluster's).",
        ),
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="Where samples are made: local or ray.")] = "local",
    cache: _Cache = None,
    speech_archive: commands_speech.Archive = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT when the new one stands.")
    ] = False,
) -> None:
    """Build a recipe into a folder, or go on where an earlier run stopped."""
    from ..cards.describe import describe
    from ..scenarios.fields import unknown
    from ..scenarios.recipe import load_recipe
    from .build import build as run
    from .engines import ENGINES
    from .make_sample import Outcome
    from .progress import Steps

    if engine not in ENGINES:
        raise RecipeError(f"--engine {engine}: {unknown('engine', engine, ENGINES)}")
    loaded = load_recipe(recipe, tuple(set_ or ()))
    began = time.monotonic()
    cache_dir = cache or default_cache()
    commands_speech.read_archive(speech_archive, cache_dir)
    with Steps(f"building {loaded.name}") as steps:

        def progress(outcome: Outcome, done: int, total: int) -> None:
            steps.advance(done, total)

        result = run(
            loaded,
            out,
            cache_dir=cache_dir,
            workers=workers or (0 if engine == "ray" else os.cpu_count() or 1),
            engine=engine,
            only=tuple(only or ()),
            overwrite=overwrite,
            describe=describe,
            progress=progress,
        )
    table = Table(title=f"{loaded.name} {loaded.version} in {out}")
    for column in ("configuration", "samples", "hours"):
        table.add_column(column, justify="left" if column == "configuration" else "right")
    for name, facts in result.configs.items():
        table.add_row(name, f"{facts['samples']:.0f}", f"{facts['hours']:.3f}")
    print_tables(table)
    typer.echo(
        f"{result.n_spoken} utterances spoken, {result.n_cached} from the cache, {result.n_resumed} samples kept "
        f"from an earlier run, {len(result.rejects)} rejected; {time.monotonic() - began:.1f} s"
    )
    for reject in result.rejects:
        typer.echo(f"rejected {reject.job.id}: {reject.rejected}")
    typer.echo("\nOpen it:\n\n    from datasets import load_dataset")
    for name in result.configs:
        for split in sorted(
            {p.name.split("-")[0] for p in (out / name.replace("-", "/", 1)).glob("*.parquet")}
        ):
            typer.echo(f'    load_dataset("{out}", "{name}", split="{split}")')
    typer.echo(f"\nHow to read the sound without torch: {out}/README.md, Load")
    commands_speech.write_archive(speech_archive, cache_dir, out)


@app.command()
def check(
    folder: Annotated[
        Path,
        typer.Argument(help="A built folder; with --measure any folder of audio.", callback=folder_there),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", help="Measure instead, for example dnsmos; `list measures` has them."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where values go; default FOLDER/quality.")
    ] = None,
    language: Annotated[str, typer.Option("--language", help="Of audio whose folder says none.")] = "",
    recogniser: Annotated[str, typer.Option("--recogniser", help="A Whisper model: folder or Hub id.")] = "",
    comet: Annotated[str, typer.Option("--comet", help="A COMET model: checkpoint file or Hub id.")] = "",
    as_heard: Annotated[
        bool,
        typer.Option("--as-heard", help="Measure turns as the tracks have them, where the stems are gone."),
    ] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that measure.")] = os.cpu_count()
    or 1,
    cache: _Cache = None,
) -> None:
    """Check every sample of a built folder against its own audio; exit 1 if anything is off."""
    from ..scenarios.names import read_language

    if language:
        read_language(language, "--language")
    if measure:
        n_findings = commands_quality.measure(
            folder,
            measure,
            cache_dir=cache or default_cache(),
            out=out,
            language=language,
            recogniser=recogniser,
            comet=comet,
            workers=workers,
            as_heard=as_heard,
        )
        if n_findings:
            raise typer.Exit(1)
        return
    given = {"--out": out, "--recogniser": recogniser, "--comet": comet, "--as-heard": as_heard}
    if idle := [option for option, value in given.items() if value]:
        raise InputError(f"{', '.join(idle)}: only with --measure; `duplexkit list measures` has the names")
    from .checked_folder import check_folder
    from .progress import Steps

    n = 0
    with Steps(f"checking {folder}") as steps:
        for finding in check_folder(folder, steps.advance):
            typer.echo(str(finding))
            n += 1
    typer.echo(f"{folder}: {n} findings")
    if n:
        raise typer.Exit(1)


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help="recipes, scenarios, voices or measures.")] = "recipes",
    engine: Annotated[str, typer.Option("--engine", help="Whose voices.")] = "kokoro",
) -> None:
    """List what is there: recipes, scenarios (with presets and fields), voices or measures of quality."""
    from .listing import recipes, scenarios

    if what == "recipes":
        print_tables(recipes())
    elif what == "scenarios":
        print_tables(*scenarios())
    elif what == "voices":
        commands_speech.voices(engine=engine)
    elif what == "measures":
        print_tables(*commands_quality.measures_table())
    else:
        raise DuplexkitError(f"list {what}: wanted recipes, scenarios, voices or measures")


for _module in (
    commands_annotate,
    commands_cache,
    commands_export,
    commands_quality,
    commands_scripts,
    commands_speech,
    commands_timing,
    commands,
    publish,
):
    _module.add_commands(app)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code.

    0 done, 1 refused or found wanting, 2 wrong usage or input; 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    try:
        with stop_signals():
            return _run(argv)
    except Stopped as stopped:
        return say(stopped)


def _run(argv: list[str] | None) -> int:
    try:
        app(args=argv)
    except DuplexkitError as error:
        print(f"duplexkit: {error}", file=sys.stderr)
        wanting = isinstance(error, (ReleaseError, EngineError)) and not isinstance(error, InputError)
        return 1 if wanting else 2
    except (OSError, UnicodeError, MemoryError) as error:
        print(f"duplexkit: {_outside(error)}", file=sys.stderr)
        return 2
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def _outside(error: OSError | UnicodeError | MemoryError) -> str:
    """Return what the machine or a file's bytes refused, in a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return f"a file that must be text is {reason_of(error)}: save it as UTF-8"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {reason_of(error)}; name another, or mend its rights"
    if isinstance(error, MemoryError):
        return f"what was asked for: {reason_of(error)}; ask for less at once"
    return f"this machine refused: {reason_of(error)}"


if __name__ == "__main__":
    sys.exit(main())
