"""A difference into the newer folder's CHANGELOG.md."""

from __future__ import annotations

import re
from pathlib import Path

from .. import ReleaseError
from .changelog import FILE, read_changelog, with_entry
from .load import fetch, version_of_card


def open_release(name: str) -> Path:
    """Return the folder of a release: the folder itself, or what ORG/NAME@vX.Y.Z holds.

    Raises
    ------
    ReleaseError
        If there is no such folder or release.
    """
    if Path(name).is_dir():
        return Path(name)
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)@v?(\d+\.\d+\.\d+)", name)
    if match is None:
        raise ReleaseError(f"{name}: neither a folder nor ORG/NAME@vX.Y.Z")
    return fetch(match[1], match[2])


def write_entry(new: Path, old: Path, *, version: str, lines: tuple[str, ...]) -> Path:
    """Write a section for `version` on top of the older release's changelog; return the file.

    Raises
    ------
    ReleaseError
        If `new` is no folder of this machine.
    """
    if not new.is_dir():
        raise ReleaseError(f"{new}: no folder; --write needs one to write into")
    path = new / FILE
    text = read_changelog(old, version_of_card(old))
    path.write_text(with_entry(text, version=version, lines=lines), encoding="utf-8")
    return path
