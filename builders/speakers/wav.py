"""Sound that came as bytes from a server: WAV or headerless PCM to samples, and every way it can be broken."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from ... import SpeechError
from ...acoustics.riff import STREAMED_SIZES, chunks

_OTHER_FORMATS = {
    b"ID3": "MP3",
    b"OggS": "Ogg",
    b"fLaC": "FLAC",
    b"RIFF": "WAV",
    b"FORM": "AIFF",
    b"caff": "CAF",
    b"\x1aE\xdf\xa3": "WebM",
    b"\x1f\x8b\x08": "gzip",
}
_OTHER_TYPES = ("mpeg", "mp3", "mp4", "ogg", "opus", "flac", "aac", "webm", "json", "html", "xml", "text/")
_TEXT_HEAD_BYTES, _TEXT_BYTES = 64, 512
_BOM = b"\xef\xbb\xbf"
_BLANKS = frozenset(b"\t\n\f\r")
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """Mono samples of shape (n,), float32, and their rate."""

    samples: NDArray[np.float32]
    sample_rate_hz: int


class BrokenSoundError(SpeechError):
    """Bytes that are no whole sound. Asking again may help."""


class NoSoundError(BrokenSoundError):
    """Bytes that are something else: a page, a message, another format."""


def read_pcm16(data: bytes, *, sample_rate_hz: int, source: str) -> Sound:
    """Return headerless little-endian 16-bit mono PCM as samples, x / 32768.

    Raises
    ------
    BrokenSoundError
        For no bytes, an odd number of them, a text, or a file with a header; names `source`.

    Examples
    --------
    >>> read_pcm16(bytes([0, 64]), sample_rate_hz=24000, source="x").samples.tolist()
    [0.5]
    """
    _check_some(data, source)
    for start, name in _OTHER_FORMATS.items():
        if data.startswith(start):
            raise NoSoundError(f"{source} sent a {name} file where headerless PCM was asked for")
    if is_text(data):
        raise NoSoundError(f"{source} sent a text where headerless PCM was asked for: {data[:120]!r}")
    if len(data) % 2:
        raise BrokenSoundError(
            f"{source} sent {len(data)} bytes, an odd number: no whole 16-bit samples, the stream was cut off"
        )
    samples = np.frombuffer(data, dtype="<i2").astype(np.float32) / np.float32(32768)
    return Sound(samples=samples, sample_rate_hz=sample_rate_hz)


def read_wav(data: bytes, *, source: str) -> Sound:
    """Return a mono WAV file's samples and rate.

    Raises
    ------
    BrokenSoundError
        If it is no WAV file, is cut off, holds no sample, or has several channels; names `source`.

    Notes
    -----
    16, 24 and 32-bit integers and 32-bit floats. A size of 0 or 0xFFFFFFFF, as servers write that stream,
    stands for all that came.
    """
    _check_some(data, source)
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        begin = data[: 120 if is_text(data) else 8]
        raise NoSoundError(f"{source} sent {len(data)} bytes that begin {begin!r}: no WAV file")
    layout: tuple[int, int, int, int] | None = None
    for name, body, size in chunks(BytesIO(data)):
        if name == b"fmt ":
            layout = _layout(data[body : body + size])
        elif name == b"data":
            if layout is None:
                break
            left = len(data) - body
            if size not in STREAMED_SIZES and size > left:
                raise BrokenSoundError(
                    f"{source} sent a WAV file that is cut off: its header says {size} bytes, {left} came"
                )
            stop = len(data) if size in STREAMED_SIZES else body + size
            return _decoded(data[body:stop], layout, source)
    raise BrokenSoundError(f"{source} sent a WAV file without its format or its data, {len(data)} bytes")


def wav_bytes(samples: NDArray[np.float32], *, sample_rate_hz: int) -> bytes:
    """Return a mono 32-bit float WAV file of the samples, shape (n,)."""
    body = np.asarray(samples, dtype="<f4").tobytes()
    head = struct.pack("<IHHIIHH", 16, _FLOAT, 1, sample_rate_hz, 4 * sample_rate_hz, 4, 32)
    return b"RIFF" + struct.pack("<I", 36 + len(body)) + b"WAVEfmt " + head + _data(body)


def _data(body: bytes) -> bytes:
    return b"data" + struct.pack("<I", len(body)) + body


def check_content_type(content_type: str, data: bytes, *, source: str) -> None:
    """Raise NoSoundError where the server itself says that it sent something else."""
    if any(other in content_type.lower() for other in _OTHER_TYPES):
        begin = f": {data[:120]!r}" if is_text(data) else ""
        raise NoSoundError(f"{source} sent {content_type}, not WAV or PCM{begin}")


def is_text(data: bytes) -> bool:
    """Return whether bytes begin as a text does: words in ASCII or UTF-8; JSON, HTML or XML in what goes by bytes.

    Examples
    --------
    >>> is_text(b'{"error": "quota"}'), is_text(bytes(64)), is_text(bytes([255]) * 512)
    (True, False, False)

    Notes
    -----
    Sixty-four bytes of printable ASCII, or 512 of UTF-8 without control characters, or 512 without them that begin
    with a bracket; or all there are. Loud PCM begins so with a chance of (98/256)^64; silence has bytes 0, and
    values just below zero are no UTF-8.
    """
    body = data.removeprefix(_BOM)
    if not body or _has_controls(head := body[:_TEXT_HEAD_BYTES]):
        return False
    if head.isascii() or (head.lstrip()[:1] in (b"<", b"{", b"[") and not _has_controls(body[:_TEXT_BYTES])):
        return True
    try:
        return not _has_controls(body[:_TEXT_BYTES].decode("utf-8").encode())
    except UnicodeDecodeError as error:  # a character that the cut divides
        whole = error.reason == "unexpected end of data" and len(body) > _TEXT_BYTES
        return whole and not _has_controls(body[: error.start])


def _has_controls(body: bytes) -> bool:
    return any((byte < 32 and byte not in _BLANKS) or byte == 127 for byte in body)


def _check_some(data: bytes, source: str) -> None:
    if not data:
        raise BrokenSoundError(f"{source} sent 0 bytes")


def _layout(body: bytes) -> tuple[int, int, int, int] | None:
    """Return coding, channels, rate and bits of a sample; None where the chunk is too short to say it."""
    if len(body) < 16:
        return None
    coding, channels, rate_hz, _, _, bits = struct.unpack("<HHIIHH", body[:16])
    if coding == _EXTENSIBLE and len(body) >= 26:
        coding = struct.unpack("<H", body[24:26])[0]
    return coding, channels, rate_hz, bits


def _decoded(body: bytes, layout: tuple[int, int, int, int], source: str) -> Sound:
    coding, channels, rate_hz, bits = layout
    if channels != 1:
        raise BrokenSoundError(f"{source} sent a WAV file of {channels} channels; wanted one")
    if not 8_000 <= rate_hz <= 192_000:
        raise BrokenSoundError(f"{source} sent a WAV file of {rate_hz} Hz; wanted 8000 to 192000")
    n_bytes = bits // 8
    if not body or n_bytes == 0 or len(body) % n_bytes:
        raise BrokenSoundError(f"{source} sent a WAV file with {len(body)} bytes of {bits}-bit samples")
    if coding == _FLOAT and bits == 32:
        samples = np.frombuffer(body, dtype="<f4").astype(np.float32)
        if not np.isfinite(samples).all():
            raise BrokenSoundError(f"{source} sent a WAV file with samples that are no numbers")
    elif coding == _PCM and bits == 24:
        thirds = np.frombuffer(body, dtype=np.uint8).reshape(-1, 3)
        widened = np.zeros((thirds.shape[0], 4), dtype=np.uint8)
        widened[:, 1:] = thirds
        samples = (widened.reshape(-1).view("<i4") / np.float64(2**31)).astype(np.float32)
    elif coding == _PCM and bits in (16, 32):
        whole = np.frombuffer(body, dtype=f"<i{n_bytes}")
        samples = (whole / np.float64(2 ** (bits - 1))).astype(np.float32)
    else:
        raise BrokenSoundError(
            f"{source} sent a WAV file of coding {coding} with {bits} bits; wanted 16, 24, 32-bit PCM or float"
        )
    return Sound(samples=samples, sample_rate_hz=rate_hz)
