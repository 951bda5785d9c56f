"""The commands about speech: its cache, the voices, variants of a build, a server round CosyVoice."""

from __future__ import annotations

import json
import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .. import RecipeError
from .inputs import file_there, folder_there

if TYPE_CHECKING:
    from .variant_report import ToSpeak

_N_CORES = os.cpu_count() or 1
_LEFT_S = 86_400.0
"""A half written file that nobody touched for a day is no running process's."""

cache_app = typer.Typer(
    invoke_without_command=True, help="The speech cache: what it holds, what may go, export and import."
)

Cache = Annotated[
    Path | None, typer.Option("--cache", help="Speech cache; default: the user's cache folder.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes that speak and render.")]
Archive = Annotated[
    Path | None,
    typer.Option(
        "--speech-archive",
        help="File with the clips: read first if it is there, else written when the build stands.",
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Add ``cache``, ``voices``, ``variant`` and ``serve-cosyvoice`` to an app."""
    app.add_typer(cache_app, name="cache")
    app.command()(voices)
    app.command()(variant)
    app.command("serve-cosyvoice")(serve_cosyvoice)


def cache_or_default(cache: Path | None) -> Path:
    """Return the cache that is named, or the user's."""
    from platformdirs import user_cache_path

    return cache or user_cache_path("duplexkit")


def read_archive(archive: Path | None, cache_dir: Path) -> None:
    """Put the clips of an archive into the cache, if it is there, and say so."""
    from .speech_archive import import_clips

    if archive is not None and archive.exists():
        n_new, n_there = import_clips(archive, cache_dir)
        typer.echo(f"{archive}: {n_new} clips taken, {n_there} were in the cache")


def write_archive(archive: Path | None, cache_dir: Path, folder: Path) -> None:
    """Write the clips of a build to an archive, unless it is there, and say so."""
    from .speech_archive import clips_of_build, export_clips

    if archive is not None and not archive.exists():
        n = export_clips(clips_of_build(folder), cache_dir, archive)
        typer.echo(f"{archive}: {n} clips written; elsewhere the same build with it speaks nothing")


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
    console = Console()
    console.print(table)
    for name, n_bytes in other_bytes(cache_dir).items():
        console.print(f"beside the clips: {name}, {readable(n_bytes)}", highlight=False)


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
    from .cache_care import bytes_from, entries, readable, to_prune

    limit = bytes_from(to_size) if to_size else None
    if to_size and limit is None:
        raise RecipeError(f"--to-size {to_size}: wanted a size such as 500MB or 2GB")
    if older_than_days is None and limit is None and not damaged and not engine:
        raise RecipeError(
            "cache prune: which clips? give --older-than-days, --to-size, --engine or --damaged"
        )
    cache_dir: Path = context.obj
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
    from .speech_archive import clips_of_build, clips_of_cache, export_clips

    clips = clips_of_cache(context.obj, engine) if build is None else clips_of_build(build)
    clips = tuple(clip for clip in clips if not engine or clip.startswith(f"{engine}/"))
    typer.echo(f"{archive}: {export_clips(clips, context.obj, archive)} clips written")


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


def voices(
    engine: Annotated[str, typer.Option("--engine", help="Whose voices.")] = "kokoro",
    recipe: Annotated[
        str, typer.Option("--recipe", help="A recipe whose engine and options to take, instead of --engine.")
    ] = "",
    language: Annotated[str, typer.Option("--language", help="Only voices of this language.")] = "",
    gender: Annotated[str, typer.Option("--gender", help="Only voices of this gender.")] = "",
    accent: Annotated[
        str, typer.Option("--accent", help="Only voices with this accent, such as en-GB.")
    ] = "",
    voice_set: Annotated[str, typer.Option("--set", help="Only voices of this set.")] = "",
    dnsmos: Annotated[
        float | None, typer.Option("--dnsmos", help="Only voices with at least this DNSMOS OVRL.")
    ] = None,
    voice: Annotated[str, typer.Option("--voice", help="Only this voice.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False,
    play: Annotated[
        Path | None, typer.Option("--play", help="A WAV file to write, in which the first of them speaks.")
    ] = None,
    text: Annotated[str, typer.Option("--text", help="What it says there.")] = "",
    cache: Cache = None,
) -> None:
    """List voices, and hear one."""
    from ..scenarios.fields import unknown
    from ..scenarios.recipe import load_recipe
    from . import voice_table
    from .speakers import engines, make_speaker
    from .workshop import speaker_of

    cache_dir = cache_or_default(cache)
    speaker = speaker_of(load_recipe(recipe), cache_dir) if recipe else make_speaker(engine, cache_dir)
    wanted = voice_table.Wanted(
        language=language, gender=gender, accent=accent, voice_set=voice_set, least_dnsmos=dnsmos
    )
    if voice and voice not in speaker.voices():
        raise RecipeError(f"--voice {voice}: {unknown('voice', voice, tuple(speaker.voices()))}")
    found = [v for v in voice_table.chosen(speaker, wanted) if not voice or v.id == voice]
    if not found:
        raise RecipeError(f"--voice {voice}: the other options leave it out")
    if as_json:
        typer.echo(json.dumps(voice_table.as_json(found, speaker), indent=1, ensure_ascii=False))
    else:
        Console().print(voice_table.as_table(found, speaker))
        for line in voice_table.engine_lines(engines()[speaker.engine]):
            typer.echo(line)
    if play is not None:
        said = voice_table.play(found[0], speaker, play, language=language, text=text)
        typer.echo(f"{play}: {found[0].id} says {said!r}", err=as_json)


def variant(
    build: Annotated[Path, typer.Argument(help="A finished build.", callback=folder_there)],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The folder to write; left out: what must be spoken is shown."),
    ] = None,
    voices: Annotated[
        str, typer.Option("--voices", help="A voice set, or voices with commas between them.")
    ] = "",
    engine: Annotated[str, typer.Option("--engine", help="Another speech engine.")] = "",
    language: Annotated[str, typer.Option("--language", help="Another language.")] = "",
    treatment: Annotated[
        list[str] | None,
        typer.Option("--treatment", help="Another treatment: PRESET, or SCENARIO=PRESET for one scenario."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE of the recipe, such as scenarios.mt_qa.tail_s=2.0."),
    ] = None,
    scripts: Annotated[
        Path | None,
        typer.Option(
            "--scripts", help="Folder with scripts; default: the build's own.", callback=folder_there
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="The variant's name.")] = "",
    paths_from: Annotated[
        Path,
        typer.Option("--paths-from", help="Where relative paths in the recipe start.", callback=folder_there),
    ] = Path(),
    workers: Workers = _N_CORES,
    cache: Cache = None,
    speech_archive: Archive = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT when the new one stands.")
    ] = False,
) -> None:
    """Build the same samples with new voices, in another language or with other sound; say what changed."""
    from ..cards.describe import describe
    from .build import build as run
    from .make_sample import Outcome
    from .out_folder import refuse_within
    from .progress import Steps
    from .variant import Asked, variant_of
    from .variant_report import to_speak, write_report

    asked = Asked(
        voices=voices,
        engine=engine,
        language=language,
        treatments=tuple(treatment or ()),
        overrides=tuple(set_ or ()),
        name=name,
        scripts=scripts,
        folder=paths_from,
    )
    made = variant_of(build, asked)
    cache_dir = cache_or_default(cache)
    read_archive(speech_archive, cache_dir)
    for key, (was, now) in made.changed.items():
        typer.echo(f"{key}: {was} → {now}")
    with Steps("looking up what is spoken") as steps:
        expected = to_speak(made, cache_dir, steps.advance)
    typer.echo(_expected(expected, made.recipe.speech.engine))
    if out is None:
        return
    refuse_within(out, made.base.folder)
    report: dict[str, Any] = {}
    outcomes: list[Outcome] = []

    def papers(folder: Path) -> None:
        report.update(write_report(made, expected, outcomes, folder))
        describe(folder)

    with Steps(f"building {made.recipe.name}") as steps:

        def progress(outcome: Outcome, done: int, total: int) -> None:
            outcomes.append(outcome)
            steps.advance(done, total)

        result = run(
            made.recipe,
            out,
            cache_dir=cache_dir,
            workers=workers,
            overwrite=overwrite,
            base=made.base,
            describe=papers,
            progress=progress,
        )
    write_archive(speech_archive, cache_dir, out)
    ids = report["ids"]
    typer.echo(
        f"\n{out}: {ids['same']} samples with the same id, {ids['parallel']} parallel ones, "
        f"{len(ids['new'])} new, {len(ids['missing'])} of the build are not there"
    )
    table = Table("column", "same", "changed")
    for column, counts in report["columns"].items():
        table.add_row(column, str(counts["same"]), str(counts["changed"]))
    Console().print(table)
    typer.echo(
        f"{result.n_spoken} utterances spoken, {result.n_cached} from the cache, {result.n_kept} from {build}; "
        f"{len(result.rejects)} samples rejected. All of it: {out / 'variant.json'}"
    )
    for reject in result.rejects:
        typer.echo(f"rejected {reject.job.id}: {reject.rejected}")


def _expected(expected: ToSpeak, engine: str) -> str:
    total = expected.kept + expected.cached + expected.spoken
    cost = "" if expected.usd is None else f", about ${expected.usd:.2f}"
    return (
        f"{expected.samples} samples, {total} utterances: {expected.kept} from the build's stems, "
        f"{expected.cached} from the cache, {expected.spoken} to be spoken by {engine} "
        f"({expected.characters} characters{cost})"
    )


def serve_cosyvoice(
    model_dir: Annotated[
        Path, typer.Argument(help="Folder of a CosyVoice 2 or 3 model.", callback=folder_there)
    ],
    repo: Annotated[
        Path | None,
        typer.Option(
            "--repo",
            help="Clone of the CosyVoice repository, with its submodules.",
            callback=folder_there,
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 takes any free one.")] = 50000,
) -> None:
    """Serve a CosyVoice model of yours: /v1/audio/speech with speed, seed and reference (docs/engines.md)."""
    from .serve_cosyvoice import serve

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    serve(model_dir, repo_dir=repo, host=host, port=port)
