"""The chunks of a WAV file, and how many bytes of sound its header promises."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

STREAMED_SIZES = (0, 0xFFFFFFFF, 0x7FFFFFFF)
"""What a header says that was written before the sound was known."""

_RF64_SIZE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Bytes of sound that a header promises, those that are there, and how many make one sample of all channels."""

    n_promised: int
    n_there: int
    n_block: int


def is_wav(file: BinaryIO) -> bool:
    """Return whether a file begins as a WAV file does (also one above 4 GB, RF64)."""
    file.seek(0)
    head = file.read(12)
    return head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE"


def chunks(file: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, place of the body and stated size of each chunk of a WAV file, as far as there are any.

    Examples
    --------
    >>> from io import BytesIO
    >>> list(chunks(BytesIO(b"RIFF....WAVEdata" + bytes([2, 0, 0, 0]) + b"xy")))
    [(b'data', 20, 2)]
    """
    place = 12
    while True:
        file.seek(place)
        head = file.read(8)
        if len(head) < 8:
            return
        size = struct.unpack("<I", head[4:])[0]
        yield head[:4], place + 8, size
        place += 8 + size + size % 2


def promise_of(file: BinaryIO) -> Promise | None:
    """Return what a WAV file's header promises; None where it promises nothing, or the file is no WAV file."""
    if not is_wav(file):
        return None
    n_file = file.seek(0, 2)
    n_block, long_size = 0, None
    for name, body, size in chunks(file):
        file.seek(body)
        if name == b"ds64":
            long_size = struct.unpack("<Q", file.read(16)[8:])[0] if size >= 16 else None
        elif name == b"fmt ":
            n_block = struct.unpack("<H", file.read(14)[12:])[0] if body + 14 <= n_file else 0
        elif name == b"data":
            if size == _RF64_SIZE and long_size is not None:
                size = long_size
            elif size in STREAMED_SIZES:
                return None
            return Promise(n_promised=size, n_there=max(0, n_file - body), n_block=n_block)
    return None
