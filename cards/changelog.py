"""CHANGELOG.md of a dataset: one section per version, newest first."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from ..builders.built import read_manifest
from ..builders.json_file import read_text
from .variant_section import variant_lines

FILE = "CHANGELOG.md"
HEAD = "# Changelog\n"
_SECTION = re.compile(r"^## (\S+)", re.MULTILINE)


def read_changelog(folder: Path, version: str) -> str:
    """Return CHANGELOG.md of a folder; where there is none, that of a first release, or of a new variant.

    Raises
    ------
    ReleaseError
        If it, or the manifest, cannot be read; names the file.
    """
    path = folder / FILE
    if path.exists():
        return read_text(path, cure="write it again, or take it away: the next card starts a new one")
    lines = variant_lines(read_manifest(folder)) or ["First release."]
    return with_entry(HEAD, version=version, lines=tuple(lines))


def versions(text: str) -> tuple[str, ...]:
    """Return the versions that have a section, as they stand."""
    return tuple(_SECTION.findall(text))


def with_entry(text: str, *, version: str, lines: tuple[str, ...]) -> str:
    r"""Return a changelog with a section for `version` on top, or in place of the one it has.

    Examples
    --------
    >>> print(with_entry("# Changelog\n\n## 1.0.0\n\n- First.\n", version="1.1.0", lines=("More.",)))
    # Changelog
    <BLANKLINE>
    ## 1.1.0
    <BLANKLINE>
    - More.
    <BLANKLINE>
    ## 1.0.0
    <BLANKLINE>
    - First.
    <BLANKLINE>
    """
    sections = [section for section in _sections(text) if _SECTION.findall(section)[0] != version]
    entry = f"## {version}\n\n" + "".join(f"- {line}\n" for line in lines)
    return HEAD + "".join(f"\n{section.strip()}\n" for section in (entry, *sections))


def latest_entries(text: str, n: int = 5) -> str:
    """Return the newest sections with headings one level lower, for the card."""
    return "\n\n".join(f"#{section.strip()}" for section in _sections(text)[:n])


def _sections(text: str) -> list[str]:
    starts = [match.start() for match in _SECTION.finditer(text)]
    return [text[a:b] for a, b in pairwise([*starts, len(text)])]
