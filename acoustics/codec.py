"""Send a signal through a telephone or a lossy codec and back."""

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_number, check_rate_hz, check_signal, check_unclipped
from .level import from_pcm16, to_pcm16
from .resample import resample

CodecName = Literal["g711_mulaw", "g711_alaw", "vorbis", "opus", "mp3"]
_SOUNDFILE = {"vorbis": ("OGG", "VORBIS"), "opus": ("OGG", "OPUS"), "mp3": ("MP3", "MPEG_LAYER_III")}
CODECS: tuple[CodecName, ...] = ("g711_mulaw", "g711_alaw", "vorbis", "opus", "mp3")
TELEPHONE_RATE_HZ = 8_000
TELEPHONE_BAND_HZ = (300.0, 3_400.0)
_MULAW_BIAS = 33
_MULAW_MAX = 8_158
_OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)
_MP3_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecParams:
    """Every number of one way through a codec.

    Parameters
    ----------
    codec : {"g711_mulaw", "g711_alaw", "vorbis", "opus", "mp3"}
        The two of G.711 stand for a telephone: 300 to 3400 Hz at 8 kHz.
    compression : float, 0 to 1
        0 is the best quality and the highest rate; the telephone knows none.
    """

    codec: CodecName
    compression: float = 0.5

    def __post_init__(self) -> None:
        if self.codec not in CODECS:
            raise AudioError(f"codec {self.codec!r} is unknown; known are {', '.join(CODECS)}")
        check_number(self.compression, name="compression", low=0.0, high=1.0, unit="")


def draw_codec(rng: np.random.Generator, *, codecs: tuple[CodecName, ...] = CODECS) -> CodecParams:
    """Return a codec drawn from `codecs` with a compression between 0.3 and 0.9 (our choice)."""
    if not codecs:
        raise AudioError(f"codecs is empty; wanted some of {', '.join(CODECS)}")
    name = codecs[int(rng.integers(len(codecs)))]
    return CodecParams(codec=name, compression=float(rng.uniform(0.3, 0.9)))


def through_codec(
    samples: NDArray[np.float32], params: CodecParams, *, sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the signal, shape (n,), encoded and decoded, in time with what it was.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,), unclipped
    params : CodecParams
    sample_rate_hz : int
        Opus and MP3 know certain rates only.

    Raises
    ------
    AudioError
        No signal, a clipped one, or a rate that the codec does not know.

    Notes
    -----
    Vorbis, Opus and MP3 by libsndfile, which takes the coders' delays out again, to a sample. The decoded
    samples belong to its version: write that into the provenance. A codec spreads what it codes over its
    frame, so something faint can precede an onset. Levels move by tenths of a dB.
    """
    check_signal(samples)
    check_unclipped(samples)
    check_rate_hz(sample_rate_hz)
    if params.codec in ("g711_mulaw", "g711_alaw"):
        return telephone(
            samples, law="mulaw" if params.codec == "g711_mulaw" else "alaw", sample_rate_hz=sample_rate_hz
        )
    return _through_soundfile(samples, params, sample_rate_hz)


def _through_soundfile(
    samples: NDArray[np.float32], params: CodecParams, sample_rate_hz: int
) -> NDArray[np.float32]:
    import soundfile

    rates_hz = {"opus": _OPUS_RATES_HZ, "mp3": _MP3_RATES_HZ}.get(params.codec)
    if rates_hz is not None and sample_rate_hz not in rates_hz:
        raise AudioError(
            f"{params.codec} does not know {sample_rate_hz} Hz; it knows {rates_hz}: resample first"
        )
    container, subtype = _SOUNDFILE[params.codec]
    buffer = io.BytesIO()
    with soundfile.SoundFile(
        buffer,
        "w",
        samplerate=sample_rate_hz,
        channels=1,
        format=container,
        subtype=subtype,
        compression_level=params.compression,
    ) as file:
        file.write(samples)
    buffer.seek(0)
    decoded, _ = soundfile.read(buffer, dtype="float32")
    result = np.zeros_like(samples)
    result[: min(decoded.size, samples.size)] = decoded[: samples.size]
    return result


def telephone(
    samples: NDArray[np.float32], *, law: Literal["mulaw", "alaw"], sample_rate_hz: int
) -> NDArray[np.float32]:
    """Return the signal, shape (n,), as a telephone line gives it: 300 to 3400 Hz, 8 kHz, 8 bits by G.711.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,), unclipped
        Above 1.0 after the band-pass it is limited, as G.711 does.
    law : {"mulaw", "alaw"}
    sample_rate_hz : int

    Raises
    ------
    AudioError
        No signal, a clipped one, a wrong rate or an unknown law.

    Notes
    -----
    Band-pass: Butterworth of second order to each side, run forwards and backwards: -6 dB at the band's ends,
    24 dB per octave, and no delay, so labels hold. The price is a ring of a few milliseconds before an onset.
    """
    from scipy.signal import butter, sosfiltfilt

    check_signal(samples)
    check_unclipped(samples)
    check_rate_hz(sample_rate_hz)
    if law not in ("mulaw", "alaw"):
        raise AudioError(f"law {law!r} is unknown; known are mulaw, alaw")
    narrow = resample(samples, from_rate_hz=sample_rate_hz, to_rate_hz=TELEPHONE_RATE_HZ)
    sections = butter(2, TELEPHONE_BAND_HZ, btype="bandpass", fs=TELEPHONE_RATE_HZ, output="sos")
    band = np.clip(sosfiltfilt(sections, narrow, padtype=None), -1.0, 1.0).astype(np.float32)
    pcm = to_pcm16(band)
    decoded = mulaw_decode(mulaw_encode(pcm)) if law == "mulaw" else alaw_decode(alaw_encode(pcm))
    wide = resample(from_pcm16(decoded), from_rate_hz=TELEPHONE_RATE_HZ, to_rate_hz=sample_rate_hz)
    result = np.zeros_like(samples)
    result[: min(wide.size, samples.size)] = wide[: samples.size]
    return result


def mulaw_encode(pcm: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Return the mu-law octets, shape (n,), of 16-bit samples, shape (n,) (ITU-T G.711, table 2a/2b)."""
    magnitude = np.where(pcm < 0, ~pcm.astype(np.int32), pcm.astype(np.int32)) >> 2
    magnitude = np.minimum(magnitude, _MULAW_MAX) + _MULAW_BIAS
    segment = np.floor(np.log2(magnitude)).astype(np.int32) - 5
    octet = (segment << 4) | ((magnitude >> (segment + 1)) & 0x0F)
    return np.asarray(np.where(pcm < 0, 0x7F, 0xFF) ^ octet, dtype=np.uint8)


def mulaw_decode(octets: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return the 16-bit samples, shape (n,), of mu-law octets, shape (n,)."""
    code = ~octets.astype(np.int32) & 0xFF
    magnitude = ((((code & 0x0F) << 1) + _MULAW_BIAS) << ((code >> 4) & 0x07)) - _MULAW_BIAS
    return np.asarray(np.where(code & 0x80, -magnitude, magnitude) << 2, dtype=np.int16)


def alaw_encode(pcm: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Return the A-law octets, shape (n,), of 16-bit samples, shape (n,) (ITU-T G.711, table 1a/1b)."""
    magnitude = np.where(pcm < 0, ~pcm.astype(np.int32), pcm.astype(np.int32)) >> 4
    segment = np.maximum(np.floor(np.log2(np.maximum(magnitude, 1))).astype(np.int32) - 3, 0)
    octet = (segment << 4) | ((magnitude >> np.maximum(segment - 1, 0)) & 0x0F)
    return np.asarray((octet ^ 0x55) | np.where(pcm < 0, 0x00, 0x80), dtype=np.uint8)


def alaw_decode(octets: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return the 16-bit samples, shape (n,), of A-law octets, shape (n,)."""
    code = (octets.astype(np.int32) & 0x7F) ^ 0x55
    segment, step = code >> 4, code & 0x0F
    magnitude = np.where(segment == 0, (step << 4) + 8, ((step << 4) + 264) << np.maximum(segment - 1, 0))
    return np.asarray(np.where(octets & 0x80, magnitude, -magnitude), dtype=np.int16)
