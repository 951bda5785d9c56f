"""The commands about speech: the voices, variants of a build, a server round CosyVoice."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from .. import RecipeError
from .inputs import folder_there

if TYPE_CHECKING:
    from .variant_report import ToSpeak

_N_CORES = os.cpu_count() or 1

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
    """Add ``voices``, ``variant`` and ``serve-cosyvoice`` to an app."""
    app.command()(voices)
    app.command()(variant)
    app.command("serve-cosyvoice")(serve_cosyvoice)


def cache_or_default(cache: Path | None) -> Path:
    """Return the cache that is named, or the user's."""
    from platformdirs import user_cache_path

    return cache or user_cache_path("duplexkit")


def read_archive(archive: Path | None, cache_dir: Path) -> None:
    """Put the clips of an archive into the cache, if it is there, and say so; else see that it can be written."""
    from .speech_archive import import_clips, refuse_unwritable

    if archive is None:
        return
    if archive.exists():
        n_new, n_there = import_clips(archive, cache_dir)
        typer.echo(f"{archive}: {n_new} clips taken, {n_there} were in the cache")
    else:
        refuse_unwritable(archive)


def write_archive(archive: Path | None, cache_dir: Path, folder: Path) -> None:
    """Write the clips of a build to an archive, unless it is there, and say so, and what it lacks.

    It comes last: the build stands, and has been told of.

    Raises
    ------
    ReleaseError
        If it cannot be written.
    """
    from .speech_archive import clips_of_archive, clips_of_build, clips_there, export_clips

    if archive is None:
        return
    wanted = clips_of_build(folder)
    is_old = archive.exists()
    there = clips_of_archive(archive) if is_old else clips_there(wanted, cache_dir)
    if not is_old and there:
        there = export_clips(there, cache_dir, archive, some=True)
    lost = sorted({*wanted} - {*there})
    if not is_old and there:
        more = "" if lost else "; elsewhere the same build with it speaks nothing"
        typer.echo(f"{archive}: {len(there)} clips written{more}")
    if not lost:
        return
    lacks = f"lacks {len(lost)} of the {len(wanted)} clips that {folder} listened to (the first: {lost[0]})"
    if is_old:
        lacks += "; it stays as it was"
    elif there:
        lacks += f": {cache_dir} does not have them"
    else:
        lacks = f"not written: {cache_dir} has none of the {len(wanted)} clips that {folder} listened to"
    typer.echo(
        f"{archive}: {lacks}. `duplexkit cache --cache DIR export FILE --build {folder}` writes all of them, from "
        f"the cache that they were spoken into",
        err=True,
    )


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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace that WAV file.")] = False,
    cache: Cache = None,
) -> None:
    """List voices, and hear one."""
    from ..scenarios.fields import unknown
    from ..scenarios.recipe import load_recipe
    from . import voice_table
    from .printed_table import print_tables
    from .speakers import engines, make_speaker
    from .workshop import speaker_of

    if play is not None:
        voice_table.refuse_unplayable(play, overwrite=overwrite)
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
        print_tables(voice_table.as_table(found, speaker))
        for line in voice_table.engine_lines(engines()[speaker.engine]):
            typer.echo(line)
    if play is not None:
        said = voice_table.play(found[0], speaker, play, language=language, text=text, overwrite=overwrite)
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
    from .printed_table import print_tables
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
    ids = report["ids"]
    typer.echo(
        f"\n{out}: {ids['same']} samples with the same id, {ids['parallel']} parallel ones, "
        f"{len(ids['new'])} new, {len(ids['missing'])} of the build are not there"
    )
    table = Table("column", "same", "changed", "of it")
    for column, counts in report["columns"].items():
        fields = ", ".join(f"{field} {n}" for field, n in counts.get("fields", {}).items())
        table.add_row(column, str(counts["same"]), str(counts["changed"]), fields)
    print_tables(table)
    for found in report["voices"]["alike"]:
        typer.echo(
            f"{found['id']}: {found['role']} is {found['is']}, was {found['was']}: both of the style "
            f"{', '.join(found['shared'])}"
        )
    typer.echo(
        f"{result.n_spoken} utterances spoken, {result.n_cached} from the cache, {result.n_kept} from {build}; "
        f"{len(result.rejects)} samples rejected. All of it: {out / 'variant.json'}"
    )
    for reject in result.rejects:
        typer.echo(f"rejected {reject.job.id}: {reject.rejected}")
    write_archive(speech_archive, cache_dir, out)


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
