"""A sound file that a user brings: read whole, or refused with what its header promises and what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import MAX_RATE_HZ, MIN_RATE_HZ
from .riff import promise_of

if TYPE_CHECKING:
    from soundfile import SoundFile

_BLOCK = 4096
_OGG_PAGE, _OGG_TAIL, _OGG_END = b"OggS", 1 << 17, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundFacts:
    """What a sound file is; `n_samples` are those of each channel."""

    sample_rate_hz: int
    n_channels: int
    n_samples: int
    subtype: str

    @property
    def length_s(self) -> float:
        """Its length in seconds."""
        return self.n_samples / self.sample_rate_hz


def sound_facts(source: Path | bytes, *, name: str = "") -> SoundFacts:
    """Return what a sound file is, by its header; one that is cut short is refused where the header shows it.

    Parameters
    ----------
    source : Path or bytes
        The file, or its content.
    name : str
        How messages call it; left out: the path.

    Raises
    ------
    AudioError
        No such file, no sound file, or a WAV or Ogg file that is cut short.
    """
    name = name or str(source)
    with _opened(source, name) as (file, sound):
        facts = _facts(sound)
        _check_whole(file, facts, name)
    return facts


def read_sound(source: Path | bytes, *, name: str = "") -> tuple[NDArray[np.float32], int]:
    """Return all channels of a sound file, float32 of shape (channels, n), and its rate in hertz.

    Parameters
    ----------
    source : Path or bytes
        The file, or its content.
    name : str
        How messages call it; left out: the path.

    Raises
    ------
    AudioError
        No such file, no sound file, a rate outside 8000 to 192000 Hz, no samples, samples that are no numbers,
        or fewer samples than the header promises: the message names both lengths.

    Notes
    -----
    An MP3 file has no length to hold it to: one that is cut short is read as far as it goes.
    """
    name = name or str(source)
    with _opened(source, name) as (file, sound):
        facts = _facts(sound)
        if not MIN_RATE_HZ <= facts.sample_rate_hz <= MAX_RATE_HZ:
            raise AudioError(
                f"{name}: sample rate {facts.sample_rate_hz} Hz; wanted {MIN_RATE_HZ} to {MAX_RATE_HZ} Hz: convert "
                f"it, or mend its header"
            )
        _check_whole(file, facts, name)
        channels = _samples(file, sound, name)
    if channels.shape[1] == 0:
        raise AudioError(f"{name}: holds no samples; wanted sound")
    if not np.isfinite(channels).all():
        channel, at = (int(i) for i in np.argwhere(~np.isfinite(channels))[0])
        raise AudioError(
            f"{name}: sample {at} of channel {channel} is {channels[channel, at]}; wanted numbers only: write the "
            f"file again"
        )
    return channels, facts.sample_rate_hz


@contextmanager
def _opened(source: Path | bytes, name: str) -> Iterator[tuple[BinaryIO, SoundFile]]:
    import soundfile

    try:
        with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
            if file.seek(0, 2) == 0:
                raise AudioError(f"{name}: the file is empty (0 bytes); wanted a sound file")
            file.seek(0)
            with soundfile.SoundFile(file) as sound:
                yield file, sound
    except soundfile.LibsndfileError as error:
        why = error.error_string.strip(" .") or "the sound in it is damaged"
        raise AudioError(f"{name}: no sound file that can be read ({why}); copy or make it again") from None
    except OSError as error:
        raise AudioError(
            f"{name}: cannot be read ({(error.strerror or 'no such file').lower()}); give a file that can"
        ) from None


def _facts(sound: SoundFile) -> SoundFacts:
    return SoundFacts(
        sample_rate_hz=int(sound.samplerate),
        n_channels=int(sound.channels),
        n_samples=int(sound.frames),
        subtype=str(sound.subtype),
    )


def _samples(file: BinaryIO, sound: SoundFile, name: str) -> NDArray[np.float32]:
    """Return the samples, shape (channels, n); fewer than the header says are refused."""
    import soundfile

    facts = _facts(sound)
    sound.seek(0)
    try:
        samples = sound.read(dtype="float32", always_2d=True)
    except soundfile.LibsndfileError:
        n_there = _n_decoded(file)
        if n_there >= facts.n_samples:
            raise
        raise _cut_short(facts, facts.n_samples, n_there, name) from None
    if samples.shape[0] < facts.n_samples and sound.format != "MP3":
        raise _cut_short(facts, facts.n_samples, samples.shape[0], name)
    return np.ascontiguousarray(samples.T)


def _n_decoded(file: BinaryIO) -> int:
    """Return how many samples can be decoded, in steps of a block."""
    import soundfile

    file.seek(0)
    n = 0
    try:
        with soundfile.SoundFile(file) as sound:
            while (n_read := sound.read(_BLOCK, dtype="float32", always_2d=True).shape[0]) > 0:
                n += n_read
    except soundfile.LibsndfileError:
        pass
    return n


def _check_whole(file: BinaryIO, facts: SoundFacts, name: str) -> None:
    """Refuse a WAV file with fewer bytes than its header promises, and an Ogg file without its end."""
    at = file.tell()
    promise = promise_of(file)
    if promise is not None and promise.n_there < promise.n_promised:
        if facts.subtype.startswith(("PCM", "FLOAT", "DOUBLE", "ULAW", "ALAW")) and promise.n_block:
            n_block = promise.n_block
            raise _cut_short(facts, promise.n_promised // n_block, promise.n_there // n_block, name)
        raise AudioError(
            f"{name}: cut short: its header promises {promise.n_promised} bytes of sound, the file holds "
            f"{promise.n_there}; copy or make it again"
        )
    if not _ogg_has_end(file):
        raise AudioError(
            f"{name}: cut short: the stream has no end; {facts.n_samples} samples ({facts.length_s:.3f} s) are there; "
            f"copy or make it again"
        )
    file.seek(at)


def _cut_short(facts: SoundFacts, n_promised: int, n_there: int, name: str) -> AudioError:
    rate_hz = facts.sample_rate_hz
    return AudioError(
        f"{name}: cut short: its header promises {n_promised} samples ({n_promised / rate_hz:.3f} s), the file holds "
        f"{n_there} ({n_there / rate_hz:.3f} s); copy or make it again"
    )


def _ogg_has_end(file: BinaryIO) -> bool:
    """Return whether the last page of an Ogg stream is whole and says it is the last; True for other files."""
    file.seek(0)
    if file.read(4) != _OGG_PAGE:
        return True
    n_file = file.seek(0, 2)
    file.seek(max(0, n_file - _OGG_TAIL))
    tail = file.read()
    page = tail[tail.rfind(_OGG_PAGE) :]
    if len(page) < 27 or not page[5] & _OGG_END:
        return False
    n_segments = page[26]
    return len(page) >= 27 + n_segments + sum(page[27 : 27 + n_segments])
