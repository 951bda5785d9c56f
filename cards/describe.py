"""A built folder to everything that describes it: changelog, citation, plots, card, Croissant, preview page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .about import read_about
from .card import version_of, write_card
from .changelog import FILE as CHANGELOG
from .changelog import read_changelog
from .citation import citation_cff
from .summarize import summarize


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
            title=about.title or recipe["name"], version=stated, licence=recipe["licence"], about=about
        ),
        encoding="utf-8",
    )
    write_card(folder, repository=repository, version=version)
