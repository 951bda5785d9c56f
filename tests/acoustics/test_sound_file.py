"""Sound files of users: read whole and exactly, or refused with both lengths."""

import struct
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import soundfile

from duplexkit import AudioError
from duplexkit.acoustics.riff import promise_of
from duplexkit.acoustics.sound_file import read_sound, sound_facts

RATE_HZ = 24_000
N = 30_000


def sound(format_: str, subtype: str, n: int = N) -> bytes:
    """Return a file of two channels: a ramp and its mirror."""
    ramp = np.linspace(-0.5, 0.5, n, dtype=np.float32)
    buffer = BytesIO()
    soundfile.write(buffer, np.stack([ramp, ramp[::-1]], axis=1), RATE_HZ, format=format_, subtype=subtype)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("format_", "subtype"),
    [
        *(("WAV", s) for s in ("PCM_16", "PCM_24", "PCM_32", "FLOAT", "ULAW")),
        *(
            ("RF64", "PCM_16"),
            ("FLAC", "PCM_16"),
            ("OGG", "VORBIS"),
            ("OGG", "OPUS"),
            ("MP3", "MPEG_LAYER_III"),
        ),
    ],
)
def test_a_whole_file_is_what_libsndfile_decodes(format_: str, subtype: str, tmp_path: Path) -> None:
    content = sound(format_, subtype)
    wanted, _ = soundfile.read(BytesIO(content), dtype="float32", always_2d=True)
    (tmp_path / "x").write_bytes(content)
    for source in (content, tmp_path / "x"):
        channels, rate_hz = read_sound(source, name="x")
        assert channels.dtype == np.float32 and channels.shape == (2, wanted.shape[0])
        assert rate_hz == sound_facts(source).sample_rate_hz == RATE_HZ
        assert np.array_equal(channels, wanted.T)


def test_a_cut_wav_names_both_lengths() -> None:
    """16 bits of two channels: 4 bytes a sample; the head of a plain WAV file is 44 bytes."""
    whole = sound("WAV", "PCM_16")
    assert len(whole) == 44 + 4 * N
    for n_left in (0, 1, N // 2, N - 1):
        left = whole[: 44 + 4 * n_left]
        said = rf"x: cut short: its header promises 30000 samples \(1\.250 s\), the file holds {n_left} \("
        for read in (read_sound, sound_facts):
            with pytest.raises(AudioError, match=said):
                read(left, name="x")


@pytest.mark.parametrize(("format_", "subtype"), [("RF64", "PCM_16"), ("FLAC", "PCM_16"), ("WAV", "FLOAT")])
def test_other_headers_promise_too(format_: str, subtype: str) -> None:
    whole = sound(format_, subtype)
    with pytest.raises(
        AudioError, match=r"cut short: its header promises 30000 samples .*the file holds \d+ \("
    ):
        read_sound(whole[: len(whole) * 2 // 3], name="x")


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_an_ogg_stream_without_its_end_is_cut_short(subtype: str) -> None:
    whole = sound("OGG", subtype, n=200_000)
    with pytest.raises(AudioError, match=r"cut short: the stream has no end; \d+ samples .* are there"):
        read_sound(whole[: len(whole) // 2], name="x")


@pytest.mark.parametrize("stated", [0xFFFFFFFF, 0x7FFFFFFF])
def test_a_header_written_before_the_sound_promises_nothing(stated: int) -> None:
    """Programs that write to a pipe do not know how much will come."""
    whole = bytearray(sound("WAV", "PCM_16"))
    whole[40:44] = struct.pack("<I", stated)
    assert promise_of(BytesIO(bytes(whole))) is None
    assert read_sound(bytes(whole), name="x")[0].shape == (2, N)


def test_chunks_before_the_sound_are_passed_over() -> None:
    whole = sound("WAV", "PCM_16")
    note = b"LIST" + struct.pack("<I", 5) + b"INFOx" + b"\0"  # an odd chunk is filled up
    listed = whole[:36] + note + whole[36:]
    assert read_sound(listed, name="x")[0].shape == (2, N)
    promise = promise_of(BytesIO(listed[:-40]))
    assert promise is not None and (promise.n_promised, promise.n_there) == (4 * N, 4 * N - 40)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"the file is empty \(0 bytes\)"),
        (b"no sound at all", "no sound file that can be read"),
        (sound("WAV", "PCM_16", n=0), "holds no samples"),
        (sound("WAV", "PCM_16")[:20], "no sound file that can be read"),
    ],
    ids=["empty", "text", "no samples", "half a head"],
)
def test_what_holds_no_sound_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    path.write_bytes(content)
    with pytest.raises(AudioError, match=said) as refused:
        read_sound(path)
    assert str(refused.value).startswith(f"{path}: ")


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.wav", tmp_path):
        with pytest.raises(AudioError, match="cannot be read"):
            read_sound(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_no_numbers_are_refused(value: float) -> None:
    samples = np.zeros((100, 2), dtype=np.float32)
    samples[7, 1] = value
    buffer = BytesIO()
    soundfile.write(buffer, samples, RATE_HZ, format="WAV", subtype="FLOAT")
    with pytest.raises(AudioError, match=rf"x: sample 7 of channel 1 is {value}; wanted numbers"):
        read_sound(buffer.getvalue(), name="x")


@pytest.mark.parametrize("rate_hz", [1, 7_999, 192_001])
def test_rates_no_speech_has_are_refused(rate_hz: int) -> None:
    buffer = BytesIO()
    soundfile.write(buffer, np.zeros(100), rate_hz, format="WAV")
    with pytest.raises(AudioError, match=rf"x: sample rate {rate_hz} Hz; wanted 8000 to 192000"):
        read_sound(buffer.getvalue(), name="x")
