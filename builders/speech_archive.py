"""The clips of a build, or of a cache, as one file that speaks for itself on another machine."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from .. import ReleaseError, SpeechError
from ..scenarios.reason import reason_of
from ..whole_file import beside
from .cache_care import entries
from .said import all_said
from .side_files import read_rejects
from .speech_cache import entry_path, is_whole

_FORMAT = 1
_NAME = re.compile(r"([A-Za-z0-9_.-]+)/([0-9a-f]{64})")
_WHEN = (1980, 1, 1, 0, 0, 0)
"""All entries carry the same date, so that the same clips give the same file."""


def clips_of_build(folder: Path) -> tuple[str, ...]:
    """Return the clips that a build listened to, as ``engine/key``: those of its samples and of its rejects.

    Raises
    ------
    ReleaseError
        If the folder does not say.
    """
    clips = {clip for said in all_said(folder) for clip in said.clips}
    clips |= {clip for reject in read_rejects(folder) for clip in reject.get("clips", ())}
    return tuple(sorted(clips))


def clips_of_cache(cache_dir: Path, engine: str = "") -> tuple[str, ...]:
    """Return the clips in a cache, as ``engine/key``."""
    return tuple(sorted(f"{entry.engine}/{entry.path.stem}" for entry in entries(cache_dir, engine)))


def export_clips(clips: Iterable[str], cache_dir: Path, archive: Path) -> int:
    """Write the clips to one file, and return how many there are; the file is there whole or not at all.

    Raises
    ------
    ReleaseError
        If the file exists or cannot be written.
    SpeechError
        If a clip is not in the cache, or is damaged there.
    """
    if archive.exists():
        raise ReleaseError(f"{archive} exists; give another name, or take it away first")
    wanted = sorted(clips)
    missing = []
    try:
        with beside(archive) as part, zipfile.ZipFile(part, "w") as file:
            # the clips are not packed again: they are ZIP files
            head = {"format": _FORMAT, "made_by": "duplexkit", "clips": len(wanted)}
            file.writestr(zipfile.ZipInfo("archive.json", _WHEN), json.dumps(head))
            for clip in wanted:
                path = _path(clip, cache_dir, archive)
                if is_whole(path):
                    file.writestr(zipfile.ZipInfo(f"{clip}.zip", _WHEN), path.read_bytes())
                else:
                    missing.append(clip)
            if missing:
                raise SpeechError(
                    f"{len(missing)} of {len(wanted)} clips are not in the cache {cache_dir}, or damaged there "
                    f"(the first: {missing[0]}): give the cache that the build was made with (--cache)"
                )
    except OSError as error:
        raise ReleaseError(f"{archive} cannot be written: {error.strerror or error}") from None
    return len(wanted)


def import_clips(archive: Path, cache_dir: Path) -> tuple[int, int]:
    """Put the clips of an archive into a cache; return how many are new, and how many were there.

    A clip is checked before it gets its place; one that is there and whole stays.

    Raises
    ------
    SpeechError
        If the file is no such archive, or a clip in it is damaged; nothing damaged is put into the cache.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            head = json.loads(file.read("archive.json"))
            if head.get("format") != _FORMAT:
                raise SpeechError(
                    f"{archive}: format {head.get('format')!r}, wanted {_FORMAT}: use the duplexkit that made it"
                )
            names = [name for name in file.namelist() if name != "archive.json"]
            if len(names) != head["clips"]:
                raise SpeechError(f"{archive}: {len(names)} clips, but it was written with {head['clips']}")
            n_new = 0
            for name in names:
                target = _path(name.removesuffix(".zip"), cache_dir, archive)
                if is_whole(target):
                    continue
                n_new += 1
                with beside(target) as part:
                    part.write_bytes(file.read(name))
                    if not is_whole(part):
                        raise SpeechError(f"{archive}: the clip {name} is damaged; copy the archive again")
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        if isinstance(error, SpeechError):
            raise
        raise SpeechError(
            f"{archive}: no speech archive of duplexkit, or a damaged one ({reason_of(error)}); "
            f"make it with `duplexkit cache export`"
        ) from None
    return n_new, len(names) - n_new


def _path(clip: str, cache_dir: Path, archive: Path) -> Path:
    match = _NAME.fullmatch(clip)
    if match is None or match.group(1).strip(".") == "":
        raise SpeechError(f"{archive}: {clip!r} is no clip's name; wanted ENGINE/SHA-256")
    return entry_path(cache_dir, match.group(1), match.group(2))
