"""The command `annotate`: recordings of yours to rows, or to a page on which they are reviewed first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from .. import RecipeError
from ..whole_file import beside
from .inputs import file_there, folder_there

if TYPE_CHECKING:
    from .annotate import Wanted
    from .corpora.conversation import Conversation

TRANSCRIPTS = ("backbiter", "cliffhanger", "audiophile")
LAYOUTS = ("plain", "candor", "magicdata", "icc")


def add_commands(app: typer.Typer) -> None:
    """Add the command ``annotate``."""
    app.command()(annotate)


def annotate(
    folder: Annotated[Path, typer.Argument(help="The folder with your recordings.", callback=folder_there)],
    layout: Annotated[
        str,
        typer.Option(
            "--layout",
            help="plain: two-channel files, word files beside them; candor; magicdata; icc: what people "
            "listened to, and their responses.",
        ),
    ] = "plain",
    select: Annotated[
        str,
        typer.Option(
            "--select",
            help="chat: all, in segments of about two minutes; pause_handling or smooth_turn_taking: what "
            "fits Full-Duplex-Bench v1's rules.",
        ),
    ] = "chat",
    language: Annotated[
        str, typer.Option("--language", help="Language that is spoken, as en or ja.")
    ] = "und",
    licence: Annotated[str, typer.Option("--licence", help="Licence of the recordings (SPDX).")] = "",
    attribution: Annotated[str, typer.Option("--attribution", help="Whom the licence wants named.")] = "",
    out: Annotated[Path | None, typer.Option("--out", help="The dataset folder to write.")] = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", help="Write a page to review the excerpts instead, an .html file."),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            help="What the review page saved: only kept excerpts are taken.",
            callback=file_there,
        ),
    ] = None,
    annotations_only: Annotated[
        bool,
        typer.Option(
            "--annotations-only", help="No audio, only ids, offsets and labels (if the licence asks so)."
        ),
    ] = False,
    user_channel: Annotated[
        int, typer.Option("--user-channel", min=0, max=1, help="Who is the user in chat segments.")
    ] = 1,
    speakers: Annotated[
        str, typer.Option("--speakers", help="Names on channels 0 and 1, as A,B (else as the corpus says).")
    ] = "",
    pattern: Annotated[
        str,
        typer.Option("--pattern", help="Which files to read, a glob (plain: recordings; magicdata: texts)."),
    ] = "",
    transcript: Annotated[
        str, typer.Option("--transcript", help="candor: backbiter, cliffhanger or audiophile.")
    ] = "backbiter",
    columns: Annotated[
        str, typer.Option("--columns", help="candor: other names of columns, as start=begin,stop=end.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="The dataset's name; default: the folder's.")] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT or the page.")] = False,
) -> None:
    """Label recordings of yours by rule and write them as rows, or as a page to review."""
    from ..cards.describe import describe
    from ..scenarios.names import name_from, read_language, read_name
    from .annotate import Wanted, annotate_listened
    from .annotate import annotate as write
    from .corpora.icc import read_icc
    from .out_folder import refuse_taken, refuse_within
    from .review.decisions import read_decisions

    if layout not in LAYOUTS:
        raise RecipeError(f"--layout {layout}: wanted one of {', '.join(LAYOUTS)}")
    if transcript not in TRANSCRIPTS:
        raise RecipeError(f"--transcript {transcript}: wanted one of {', '.join(TRANSCRIPTS)}")
    if columns and layout != "candor":
        raise RecipeError(f"--columns {columns}: only candor has columns; leave it out")
    if (out is None) == (review is None):
        raise RecipeError("give either --out (a dataset folder) or --review (a page, an .html file)")
    if out is not None and not licence:
        raise RecipeError("--licence is missing: say under what licence the recordings are, as an SPDX id")
    if out is not None:
        refuse_taken(out, overwrite=overwrite)
        refuse_within(out, folder)
    read_language(language, "--language")
    called = read_name(name, "--name") if name else name_from(folder.resolve().name)
    if not called:
        raise RecipeError(f"{folder}: no name can be made of it; give the dataset one with --name")
    wanted = Wanted(
        name=called,
        version="1.0.0",
        language=language,
        corpus=layout,
        licence=licence,
        attribution=attribution,
        selection="backchannel" if layout == "icc" else select,
        user_channel=user_channel,
        has_audio=not annotations_only,
    )
    if layout == "icc":
        if out is None:
            raise RecipeError("--review: stimuli with listeners are not reviewed here; give --out")
        made = annotate_listened(read_icc(folder), wanted, out, overwrite=overwrite, describe=describe)
    else:
        read = _reader(folder, layout, speakers, pattern, transcript, columns)
        if review is not None:
            _write_page(review, read, wanted, overwrite)
            return
        assert out is not None
        chosen = None if decisions is None else read_decisions(decisions)
        made = write(read, wanted, out, decisions=chosen, overwrite=overwrite, describe=describe)
    typer.echo(f"{made.folder}: {made.n_rows} rows, {made.seconds / 60:.1f} minutes")
    _say_why({"left out by the rules": Counter(stretch.reason for _, stretch in made.excluded)})
    _say_why({"rejected by the reviewer": Counter(made.rejected.values())})


def _reader(
    folder: Path, layout: str, speakers: str, pattern: str, transcript: str, columns: str
) -> Callable[[], Iterable[Conversation]]:
    from .corpora.candor import read_candor
    from .corpora.magicdata import read_magicdata
    from .corpora.plain import read_plain

    names = tuple(part.strip() for part in speakers.split(",")) if speakers else None
    if names is not None and (len(names) != 2 or not all(names) or names[0] == names[1]):
        raise RecipeError(f"--speakers {speakers}: wanted two names, as A,B")
    pair = None if names is None else (names[0], names[1])
    parts = PurePath(pattern).parts
    if PurePath(pattern).is_absolute() or ".." in parts or any("**" in part != "**" for part in parts):
        raise RecipeError(
            f"--pattern {pattern}: wanted a pattern of files below the folder, such as **/*.wav"
        )
    if layout == "plain":
        return partial(read_plain, folder, pattern=pattern or "**/*", speakers=pair)
    if layout == "magicdata":
        return partial(read_magicdata, folder, pattern=pattern or "**/*.txt", speakers=pair)
    mapping = {}
    for part in columns.split(",") if columns else ():
        ours, equals, theirs = part.partition("=")
        if not equals:
            raise RecipeError(f"--columns {columns}: wanted OURS=THEIRS, as start=begin,stop=end")
        mapping[ours.strip()] = theirs.strip()
    return partial(read_candor, folder, transcript=transcript, columns=mapping, speakers=pair)


def _write_page(
    page: Path, read: Callable[[], Iterable[Conversation]], wanted: Wanted, overwrite: bool
) -> None:
    from .annotate import find_excerpts, review_items
    from .review.page import review_page

    if page.suffix != ".html":
        raise RecipeError(f"--review {page}: wanted the name of an .html file")
    if page.exists() and not overwrite:
        raise RecipeError(f"{page} exists; give another name, or --overwrite to replace it")
    reasons: Counter[str] = Counter()
    found = find_excerpts(read(), wanted, lambda _, stretch: reasons.update([stretch.reason]))
    n = -2  # the page's head and tail are pieces too
    with beside(page) as part, part.open("w", encoding="utf-8") as file:
        for piece in review_page(f"{wanted.name}: {wanted.selection}", review_items(found)):
            file.write(piece)
            n += 1
    typer.echo(f"{page}: {n} excerpts to review; open it, decide, save, and give the file as --decisions")
    _say_why({"left out by the rules": reasons})


def _say_why(counts: dict[str, Counter[str]]) -> None:
    for title, reasons in counts.items():
        for reason, n in reasons.most_common():
            typer.echo(f"{title}: {n} x {reason}")
