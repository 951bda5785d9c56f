"""A built folder to everything that describes it: changelog, citation, plots, card, Croissant, preview page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..builders.built import open_built
from ..builders.side_files import read_side_files
from .about import read_about
from .card import version_of, write_card
from .changelog import FILE as CHANGELOG
from .changelog import read_changelog
from .citation import citation_cff
from .croissant import FILE as CROISSANT
from .croissant import write_croissant
from .folder_beside import refuse_other_than_folder
from .plots import FOLDER as PLOTS
from .plots import write_plots
from .preview.page import FOLDER as PREVIEW
from .preview.page import write_preview
from .summarize import summarize
from .variant_section import bases


def write_papers(folder: Path, *, repository: str = "", version: str = "") -> None:
    """Write CHANGELOG.md (if there is none), CITATION.cff and README.md of a built folder.

    Parameters
    ----------
    folder
        A built folder.
    repository, version
        Where it will be published and as what, in place of release.toml's and the recipe's.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset.
    """
    about = read_about(folder)
    about = replace(about, repository=repository or about.repository, version=version or about.version)
    summary = summarize(folder)
    stated = version_of(summary, about)
    recipe = summary.manifest["recipe"]
    (folder / CHANGELOG).write_text(read_changelog(folder, stated), encoding="utf-8")
    (folder / "CITATION.cff").write_text(
        citation_cff(
            title=about.title or recipe["name"],
            version=stated,
            licence=recipe["licence"],
            about=about,
            bases=bases(summary.manifest),
        ),
        encoding="utf-8",
    )
    write_card(folder, repository=repository, version=version)


def refuse_damaged(folder: Path, *, but: str = "") -> None:
    """Refuse a folder that cannot be described, before anything in it is written.

    Parameters
    ----------
    folder
        A built folder.
    but
        A file beside the shards that somebody is about to replace: it is not looked at.

    Raises
    ------
    ReleaseError
        If it holds no finished dataset, or something in it is damaged; names it.
    """
    open_built(folder)
    read_side_files(folder, but=but)
    about = read_about(folder)
    read_changelog(folder, about.version)
    for name in (PLOTS, PREVIEW):
        refuse_other_than_folder(folder / name)


def describe(
    folder: Path, *, repository: str = "", version: str = "", plots: bool = True, preview: bool = True
) -> tuple[str, ...]:
    """Write everything that describes a built folder; return the names of what was written.

    Nothing is written where something in the folder is damaged.

    croissant.json needs to know where the files will be: it is written only where a repository is stated.
    """
    about = read_about(folder)
    about = replace(about, repository=repository or about.repository, version=version or about.version)
    refuse_damaged(folder)
    written = []
    if plots:
        write_plots(folder)
        written.append(PLOTS)
    if about.repository:
        summary = summarize(folder)
        write_croissant(
            folder,
            summary,
            about=about,
            version=version_of(summary, about),
            title=about.title or summary.manifest["recipe"]["name"],
        )
        written.append(CROISSANT)
    write_papers(folder, repository=repository, version=version)
    written += [CHANGELOG, "CITATION.cff", "README.md"]
    if preview:
        write_preview(folder)
        written.append(f"{PREVIEW}/index.html")
    return tuple(written)
