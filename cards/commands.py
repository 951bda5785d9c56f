"""Commands that describe and compare finished folders: card, preview, diff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import DuplexkitError
from ..builders.inputs import folder_there, release_there

_Folder = Annotated[Path, typer.Argument(help="A built folder.", callback=folder_there)]

_ANY_REPOSITORY, _ANY_VERSION = "org/name", "1.0.0"
"""Right ones, in the place of those that are not given."""


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("card")(card)
    app.command("preview")(preview)
    app.command("diff")(diff)


def card(
    folder: _Folder,
    repo: Annotated[str, typer.Option("--repo", metavar="ORG/NAME", help="Where it will be published.")] = "",
    version: Annotated[
        str, typer.Option("--version", metavar="X.Y.Z", help="As what; default: the recipe's version.")
    ] = "",
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the plots anew.")] = True,
    page: Annotated[bool, typer.Option("--preview/--no-preview", help="Write the preview page.")] = True,
) -> None:
    """Write card, changelog, citation, Croissant, plots and preview page of a built folder anew."""
    from .describe import describe
    from .release.gate import wrong_names

    wrong = [*wrong_names(repo or _ANY_REPOSITORY, version or _ANY_VERSION)]
    if wrong:
        raise DuplexkitError("; ".join(wrong))
    for name in describe(folder, repository=repo, version=version, plots=plots, preview=page):
        typer.echo(f"{folder / name} written")


def preview(
    folder: _Folder,
    samples: Annotated[int, typer.Option("--samples", min=1, help="How many samples at most.")] = 200,
) -> None:
    """Write the preview page of a built folder: open its index.html in a browser."""
    from .preview.page import write_preview

    typer.echo(write_preview(folder, n_samples=samples))


def diff(
    old: Annotated[str, typer.Argument(help="A folder, or ORG/NAME@vX.Y.Z on the Hub.")],
    new: Annotated[str, typer.Argument(help="A folder, or ORG/NAME@vX.Y.Z on the Hub.")],
    write: Annotated[
        bool, typer.Option("--write", help="Write the entry into NEW's CHANGELOG.md (NEW is a folder).")
    ] = False,
) -> None:
    """Say what changed between two releases, and which version the newer one must have at least."""
    from .diff import RULES, diff_folders, raised
    from .load import version_of_card
    from .write_entry import open_release, write_entry

    first, second = (release_there(name, open_release) for name in (old, new))
    found = diff_folders(first, second)
    version = version_of_card(first)
    for line in found.lines():
        typer.echo(line)
    if found.level == "none":
        typer.echo(f"no change: {version} stays")
        return
    wanted = raised(version, found.level)
    typer.echo(f"{found.level.upper()}: {version} -> {wanted}")
    for rule in RULES:
        typer.echo(f"  {rule}")
    if write:
        path = write_entry(Path(new), first, version=wanted, lines=found.lines())
        typer.echo(f"{path}: section {wanted} written; now: duplexkit card {new} --version {wanted}")
