"""Commands about time: M3's events of a file, timing profiles fitted and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .. import RecipeError
from ..whole_file import beside
from .inputs import files_there

timing = typer.Typer(
    no_args_is_help=True, help="Timing profiles: fit one to dialogues of yours, or look at one."
)


def add_commands(app: typer.Typer) -> None:
    """Add the commands ``events`` and ``timing``."""
    app.command()(events)
    app.add_typer(timing, name="timing")


def events(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Word files (channel, start, end, word, by tabs) or two-channel recordings.",
            callback=files_there,
        ),
    ],
) -> None:
    """Print M3's events of each dialogue as one JSON line."""
    from ..scenarios.m3_json import m3_line
    from .timing_sources import dialogues

    for dialogue_id, labelled in dialogues(files):
        typer.echo(json.dumps(m3_line(dialogue_id, labelled)))


@timing.command()
def fit(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Two-channel recordings, word files (.txt, .tsv) or M3's events (.jsonl).",
            callback=files_there,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The profile to write, a .json file.")],
    variable: Annotated[
        str, typer.Option("--variable", help="shift: M3's turn shifts; fto: every talkspurt.")
    ] = "shift",
    roles: Annotated[
        str,
        typer.Option(
            "--roles",
            help="Who is on channels 0 and 1: equal (two people: both directions count as one), "
            "system,user (M3's task data) or user,system.",
        ),
    ] = "equal",
    language: Annotated[str, typer.Option("--language", help="Language of the dialogues.")] = "und",
    licence: Annotated[
        str, typer.Option("--licence", help="What may be done with these statistics.")
    ] = "unknown: statistics of own data",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.")] = False,
) -> None:
    """Fit a timing profile to dialogues of yours."""
    from ..scenarios.timing import VARIABLES, profile_json, read_profile
    from ..scenarios.timing_fit import ProfileSource, fit_profile
    from ..scenarios.timing_show import describe
    from ..scenarios.transitions import Transitions, add_transitions
    from .timing_sources import dialogues

    by_channel = {"equal": "equal,equal", "system,user": "system,user", "user,system": "user,system"}.get(
        roles
    )
    if by_channel is None:
        raise RecipeError(f"--roles {roles}: wanted equal, system,user or user,system")
    if variable not in VARIABLES:
        raise RecipeError(f"--variable {variable}: wanted {' or '.join(VARIABLES)}")
    if out.suffix != ".json":
        raise RecipeError(f"--out {out}: wanted the name of a .json file")
    if not out.absolute().parent.is_dir():
        raise RecipeError(f"--out {out}: there is no folder {out.absolute().parent}")
    if out.exists() and not overwrite:
        raise RecipeError(f"{out} exists; give another --out, or --overwrite to replace it")
    found = Transitions()
    n_dialogues = 0
    for dialogue_id, labelled in dialogues(files):
        if set(labelled) != {"0", "1"}:
            raise RecipeError(
                f"{dialogue_id}: channels {', '.join(labelled)}; wanted 0 and 1, one speaker each"
            )
        add_transitions(
            found, labelled, roles=dict(zip("01", by_channel.split(","), strict=True)), variable=variable
        )
        n_dialogues += 1
    profile = fit_profile(
        found,
        ProfileSource(
            name=out.stem,
            variable=variable,
            source=f"{n_dialogues} dialogue{'s' * (n_dialogues != 1)}, roles {roles}",
            language=language,
            licence=licence,
        ),
    )
    with beside(out) as part:
        part.write_text(profile_json(profile), encoding="utf-8")
        try:
            read_profile(part)  # one that no recipe could use is not left
        except RecipeError as error:
            raise RecipeError(str(error).replace(str(part), str(out))) from None
    typer.echo(describe(profile))
    for name, table in profile.tables.items():
        if table.method != "quantiles":
            typer.echo(f"\n{name}: only {table.n} transitions (below 200): a law was fitted, {table.method}")
    typer.echo(f'\nwritten: {out}; use it as timing_profile = "{out}"')


@timing.command()
def show(
    profile: Annotated[str, typer.Argument(help="A shipped profile's name, a .json file, or constant:0.2.")],
) -> None:
    """Draw a timing profile."""
    from ..scenarios.timing import load_profile
    from ..scenarios.timing_show import describe

    typer.echo(describe(load_profile(profile)))
