"""The clips of a build, or of a cache, as one file that speaks for itself on another machine."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from .. import DuplexkitError, ReleaseError, SpeechError
from ..scenarios.reason import reason_of
from ..whole_file import beside, put_bytes
from .cache_care import entries
from .json_file import misfit
from .said import all_said
from .side_files import read_rejects
from .speech_cache import entry_path, is_whole, unwritable
from .speech_entry import clip_in
from .zip_members import WHEN, ZIP_FAULTS, Members, open_members

_FORMAT = 1
_HEAD = "archive.json"
_NAME = re.compile(r"([A-Za-z0-9_.-]+)/([0-9a-f]{64})")


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


def clips_of_archive(archive: Path) -> tuple[str, ...]:
    """Return the clips in an archive, as ``engine/key``.

    Raises
    ------
    SpeechError
        If the file is no such archive.
    """
    with _opened(archive) as (_, names):
        return tuple(sorted(name.removesuffix(".zip") for name in names))


def clips_there(clips: Iterable[str], cache_dir: Path) -> tuple[str, ...]:
    """Return those of the clips that the cache has, damaged or not."""
    return tuple(clip for clip in clips if _path(clip, cache_dir, cache_dir).is_file())


def refuse_unwritable(archive: Path) -> None:
    """Refuse a name at which no file can be written, before there is anything to write.

    Raises
    ------
    DuplexkitError
        If so: the command was given a wrong name.
    """
    try:
        folder = next(folder for folder in archive.absolute().parents if folder.exists())
        (folder / archive.name).exists()  # says if the name is too long
        probe = folder / f".{uuid4().hex}.tmp"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise DuplexkitError(f"{archive} cannot be written: {reason_of(error)}; name another place") from None


def export_clips(
    clips: Iterable[str], cache_dir: Path, archive: Path, *, some: bool = False
) -> tuple[str, ...]:
    """Write the clips to one file, and return which; the file is there whole or not at all. Each is read once.

    Parameters
    ----------
    some
        Whether those that are missing or damaged are left out.

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
    written = []
    try:
        with beside(archive) as part, zipfile.ZipFile(part, "w") as file:
            for clip in wanted:
                data = _whole(_path(clip, cache_dir, archive))
                if data is not None:  # not packed again: it is a ZIP file
                    file.writestr(zipfile.ZipInfo(f"{clip}.zip", WHEN), data)
                    written.append(clip)
            lost = sorted({*wanted} - {*written})
            if lost and not some:
                raise SpeechError(
                    f"{len(lost)} of {len(wanted)} clips are not in the cache {cache_dir}, or damaged there "
                    f"(the first: {lost[0]}): give the cache that the build was made with (--cache)"
                )
            head = {"format": _FORMAT, "made_by": "duplexkit", "clips": len(written)}
            file.writestr(zipfile.ZipInfo(_HEAD, WHEN), json.dumps(head))
    except OSError as error:
        raise ReleaseError(f"{archive} cannot be written: {reason_of(error)}") from None
    return tuple(written)


def _whole(path: Path) -> bytes | None:
    """Return the bytes of a clip; None where it is not there, or damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return data if clip_in(data, path.stem) is not None else None


def import_clips(archive: Path, cache_dir: Path) -> tuple[int, int]:
    """Put the clips of an archive into a cache; return how many are new, and how many were there.

    A clip is checked before it gets its place; one that is there and whole stays.

    Raises
    ------
    SpeechError
        If the file is no such archive, or a clip in it is damaged, or stands under the name of another; nothing
        of that kind is put into the cache.
    EngineError
        If the cache cannot be written.
    """
    n_new = 0
    with _opened(archive) as (members, names):
        for name in names:
            target = _path(name.removesuffix(".zip"), cache_dir, archive)
            if is_whole(target):
                continue
            n_new += 1
            data = _member(members, name, archive)
            if clip_in(data, target.stem) is None:
                raise SpeechError(
                    f"{archive}: the clip {name} is damaged, or is another one; copy the archive again"
                )
            try:
                put_bytes(target, data)
            except OSError as error:
                raise unwritable(cache_dir, error) from None
    return n_new, len(names) - n_new


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[Members, tuple[str, ...]]]:
    """Open an archive, and give the names of its clips."""
    with ExitStack() as stack:
        try:
            members = stack.enter_context(open_members(archive))
            names = _entries_of(members, archive)
        except ZIP_FAULTS as error:
            raise _no_archive(archive, error) from None
        yield members, names


def _member(members: Members, name: str, archive: Path) -> bytes:
    try:
        return members.read(name)
    except ZIP_FAULTS as error:
        raise _no_archive(archive, error) from None


def _entries_of(members: Members, archive: Path) -> tuple[str, ...]:
    """Return the names of an archive's clips, as many as it says it holds."""
    head = json.loads(members.read(_HEAD))
    wrong = misfit(head, {"format": int, "clips": int})
    if wrong:
        raise ValueError(f"{_HEAD}: {wrong}")
    if head["format"] != _FORMAT:
        raise SpeechError(
            f"{archive}: format {head['format']!r}, wanted {_FORMAT}: use the duplexkit that made it"
        )
    names = tuple(name for name in members.names if name != _HEAD)
    if len(names) != head["clips"]:
        raise SpeechError(f"{archive}: {len(names)} clips, but it was written with {head['clips']}")
    return names


def _no_archive(archive: Path, error: Exception) -> SpeechError:
    return SpeechError(
        f"{archive}: no speech archive of duplexkit, or a damaged one ({reason_of(error)}); "
        f"make it with `duplexkit cache export`"
    )


def _path(clip: str, cache_dir: Path, archive: Path) -> Path:
    match = _NAME.fullmatch(clip)
    if match is None or match.group(1).strip(".") == "":
        raise SpeechError(f"{archive}: {clip!r} is no clip's name; wanted ENGINE/SHA-256")
    return entry_path(cache_dir, match.group(1), match.group(2))
