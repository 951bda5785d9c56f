"""WebDataset's rules on tar shards."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ... import ReleaseError
from .format import Finding
from .reading import Report


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
        except tarfile.TarError as error:
            report.find(path, "unreadable-shard", str(error), "a tar file")
        yield from report.taken()


def _bytes(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return b"" if file is None else file.read()


def _sample(path: Path, key: str, members: dict[str, bytes], seen: set[str], report: Report) -> None:
    import soundfile

    if key in seen:
        report.find(path, "key-twice", key, "the members of a sample one after the other, keys only once")
    seen.add(key)
    for name in ("json", "input.flac"):
        if name not in members:
            report.find(path, "missing-member", f"{key}: no {name}", "labels and input")
            return
    try:
        labels = json.loads(members["json"])
        duration_s = float(labels["duration_s"])
    except (ValueError, KeyError, TypeError) as error:
        report.find(path, "unreadable-json", f"{key}: {error}", "the row's labels")
        return
    for name, content in members.items():
        if not name.endswith(".flac"):
            continue
        try:
            info = soundfile.info(io.BytesIO(content))
        except soundfile.LibsndfileError as error:
            report.find(path, "unreadable-sound", f"{key}.{name}: {error}", "FLAC")
            continue
        if abs(info.duration - duration_s) > 1e-3:
            report.find(path, "wrong-duration", f"{key}.{name}: {info.duration:.3f} s", f"{duration_s:.3f} s")
