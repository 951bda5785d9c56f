"""ZIP files of ours, read back: a damaged one is one kind of error, whatever zipfile makes of it."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

WHEN = (1980, 1, 1, 0, 0, 0)
"""The date of all members, so that the same content gives the same file."""

ZIP_FAULTS = (
    OSError,
    ValueError,
    LookupError,
    EOFError,
    RuntimeError,  # a password, or a method that is not known
    ArithmeticError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
"""What reading a damaged ZIP file, or JSON and arrays out of it, may raise."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The members of an open ZIP file, each of another name, and none encrypted."""

    file: zipfile.ZipFile
    names: tuple[str, ...]

    def read(self, name: str) -> bytes:
        """Return a member's bytes, checked against their checksum; raises one of `ZIP_FAULTS`."""
        return self.file.read(name)


@contextmanager
def open_members(file: Path | IO[bytes]) -> Iterator[Members]:
    """Open a ZIP file to read.

    Raises
    ------
    Exception
        One of `ZIP_FAULTS`, if it is damaged or none.
    """
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        names = tuple(info.filename for info in infos)
        if len(set(names)) < len(names):
            raise ValueError(f"{Counter(names).most_common(1)[0][0]} stands in it twice")
        odd = next((info for info in infos if info.compress_type not in _METHODS or info.flag_bits & 1), None)
        if odd is not None:
            raise ValueError(f"{odd.filename} is packed in a way that cannot be read")
        yield Members(file=archive, names=names)
