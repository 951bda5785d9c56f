"""WebDataset's rules on tar shards."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ... import AudioError, ReleaseError
from ...acoustics.sound_file import sound_facts
from ..json_file import Form, misfit
from .format import Finding
from .reading import Report

_SPAN: Form = {"onset_s": float, "offset_s": float}
_LABELS: Form = {"duration_s": float, "turns": [_SPAN], "events": [_SPAN]}


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the shards: members of a key stand together, with sound and labels that open.

    Raises
    ------
    ReleaseError
        If there are no shards.
    """
    shards = sorted(folder.glob("*.tar"))
    if not shards:
        raise ReleaseError(f"{folder}: no tar shards in it")
    report = Report(folder)
    seen: set[str] = set()
    for path in shards:
        try:
            with tarfile.open(path) as tar:
                for key, members in groupby(tar, key=lambda member: member.name.partition(".")[0]):
                    _sample(
                        path, key, {m.name.partition(".")[2]: _bytes(tar, m) for m in members}, seen, report
                    )
                    yield from report.taken()
        except (tarfile.TarError, EOFError, OSError) as error:
            report.find(path, "unreadable-shard", str(error), "a tar file")
        else:
            if not _has_end(path):
                report.find(path, "cut-short", "no end of the archive", "two blocks of zeros at the end")
        yield from report.taken()


def _has_end(path: Path) -> bool:
    """Return whether the last two blocks of a tar file are zeros, as POSIX wants."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2 * tarfile.BLOCKSIZE))
        return file.read() == bytes(2 * tarfile.BLOCKSIZE)


def _bytes(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return b"" if file is None else file.read()


def _sample(path: Path, key: str, members: dict[str, bytes], seen: set[str], report: Report) -> None:
    if key in seen:
        report.find(path, "key-twice", key, "the members of a sample one after the other, keys only once")
    seen.add(key)
    for name in ("json", "input.flac"):
        if name not in members:
            report.find(path, "missing-member", f"{key}: no {name}", "labels and input")
            return
    try:
        labels = json.loads(members["json"])
        wrong = misfit(labels, _LABELS)
    except (ValueError, RecursionError) as error:
        wrong = str(error)
    if wrong:
        report.find(path, "unreadable-json", f"{key}: {wrong}", "the row's labels")
        return
    duration_s = labels["duration_s"]
    for kind in ("turns", "events"):
        for i, item in enumerate(labels[kind]):
            report.span(path, f"{key}: {kind}[{i}]", [item["onset_s"], item["offset_s"]], duration_s)
    for name, content in members.items():
        if not name.endswith(".flac"):
            continue
        try:
            length_s = sound_facts(content, name=f"{key}.{name}").length_s
        except AudioError as error:
            report.find(path, "unreadable-sound", str(error), "FLAC")
            continue
        if abs(length_s - duration_s) > 1e-3:
            report.find(path, "wrong-duration", f"{key}.{name}: {length_s:.3f} s", f"{duration_s:.3f} s")
