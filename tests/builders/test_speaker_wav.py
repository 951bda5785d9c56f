"""Bytes from servers: what is whole is read exactly, what is broken is refused."""

import io
import struct

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.speakers.wav import (
    BrokenSoundError,
    NoSoundError,
    Sound,
    check_content_type,
    is_text,
    read_pcm16,
    read_wav,
    wav_bytes,
)

SAMPLES = np.array([0.0, 0.5, -0.5, 0.25, -1.0], dtype=np.float32)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT"])
def test_what_libsndfile_writes_is_read(subtype: str) -> None:
    file = io.BytesIO()
    soundfile.write(file, SAMPLES, 22050, format="WAV", subtype=subtype)
    sound = read_wav(file.getvalue(), source="x")
    assert sound.sample_rate_hz == 22050 and sound.samples.tolist() == SAMPLES.tolist()


def test_what_we_write_libsndfile_reads() -> None:
    samples, rate_hz = soundfile.read(io.BytesIO(wav_bytes(SAMPLES, sample_rate_hz=24000)), dtype="float32")
    assert rate_hz == 24000 and samples.tolist() == SAMPLES.tolist()


@given(cut=st.integers(min_value=1, max_value=len(wav_bytes(SAMPLES, sample_rate_hz=24000)) - 1))
def test_a_file_cut_anywhere_is_refused(cut: int) -> None:
    with pytest.raises(BrokenSoundError):
        read_wav(wav_bytes(SAMPLES, sample_rate_hz=24000)[:cut], source="x")


def _files() -> list[bytes]:
    files = []
    for kind in ("WAV", "WAVEX"):
        for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"):
            file = io.BytesIO()
            soundfile.write(file, SAMPLES, 24000, format=kind, subtype=subtype)
            files.append(file.getvalue())
    return files


FILES = _files()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("data", FILES, ids=[f"{k}" for k in range(len(FILES))])
def test_a_file_cut_or_changed_anywhere_is_a_sound_or_refused(data: bytes) -> None:
    def read(changed: bytes) -> None:
        try:
            sound = read_wav(changed, source="x")
        except BrokenSoundError:
            return
        assert isinstance(sound, Sound) and sound.samples.size and np.isfinite(sound.samples).all()

    for cut in range(len(data)):
        read(data[:cut])
    for place in range(len(data)):
        for value in {0, 1, 2, 16, 40, 127, 128, 255, data[place] ^ 1, data[place] ^ 128}:
            read(data[:place] + bytes([value]) + data[place + 1 :])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_sound_or_refused(tail: bytes) -> None:
    for data in (tail, b"RIFF\0\0\0\0WAVE" + tail, FILES[7][:20] + tail, FILES[7][:40] + tail):
        for read in (
            lambda d: read_wav(d, source="x"),
            lambda d: read_pcm16(d, sample_rate_hz=8000, source="x"),
        ):
            try:
                assert read(data).samples.size
            except BrokenSoundError as error:
                assert str(error).startswith("x sent ")


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF])
def test_sizes_of_a_streamed_header_stand_for_what_came(size: int) -> None:
    data = bytearray(wav_bytes(SAMPLES, sample_rate_hz=24000))
    at = data.index(b"data") + 4
    data[at : at + 4] = struct.pack("<I", size)
    assert read_wav(bytes(data), source="x").samples.tolist() == SAMPLES.tolist()


def test_chunks_between_format_and_data_are_passed_over() -> None:
    data = wav_bytes(SAMPLES, sample_rate_hz=24000)
    at = data.index(b"data")
    assert read_wav(data[:at] + b"LIST\x03\x00\x00\x00abc\x00" + data[at:], source="x").samples.size == 5


def test_several_channels_and_numbers_that_are_none_are_refused() -> None:
    file = io.BytesIO()
    soundfile.write(file, np.zeros((4, 2), dtype=np.float32), 24000, format="WAV")
    with pytest.raises(BrokenSoundError, match="2 channels"):
        read_wav(file.getvalue(), source="x")
    with pytest.raises(BrokenSoundError, match="no numbers"):
        read_wav(wav_bytes(np.array([np.nan], dtype=np.float32), sample_rate_hz=24000), source="x")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x sent 0 bytes"),
        (b"\x00\x01\x02", "3 bytes, an odd number"),
        (b"RIFF....WAVE", "x sent a WAV file where headerless PCM was asked for"),
        (b"ID3\x04", "x sent a MP3 file"),
        (b"\x1f\x8b\x08\0", "x sent a gzip file"),
        (b'{"error": "quota"}', "x sent a text where headerless PCM was asked for: .*quota"),
    ],
)
def test_what_is_no_pcm_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(BrokenSoundError, match=message):
        read_pcm16(data, sample_rate_hz=24000, source="x")


def test_pcm_is_read_exactly() -> None:
    sound = read_pcm16(struct.pack("<4h", 0, 16384, -32768, 1), sample_rate_hz=16000, source="x")
    assert sound.samples.tolist() == [0.0, 0.5, -1.0, 1 / 32768] and sound.sample_rate_hz == 16000


def test_a_server_that_says_it_sends_something_else_is_believed() -> None:
    check_content_type("audio/wav", b"", source="x")
    check_content_type("application/octet-stream", b"", source="x")
    for kind in (
        "text/html",
        "Text/Plain; charset=x",
        "application/xml",
        "application/atom+xml",
        "audio/mpeg",
    ):
        with pytest.raises(NoSoundError, match="not WAV or PCM"):
            check_content_type(kind, b"\0\0", source="x")
    with pytest.raises(BrokenSoundError, match=r"x sent application/json.*oh no"):
        check_content_type("application/json", b"oh no", source="x")


@pytest.mark.parametrize("level", [0.0, 1 / 32768, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("offset", [0.0, -1 / 32768, 0.002, -0.002, 0.5])
def test_no_sound_is_a_text(level: float, offset: float) -> None:
    rng = np.random.default_rng(7)
    for n in (32, 300, 24_000):
        noise = np.clip(offset + level * rng.uniform(-1, 1, n), -1, 1 - 1 / 32768)
        assert not is_text((noise * 32768).astype("<i2").tobytes())


@pytest.mark.parametrize(
    "text",
    [
        "{}", "no", '\ufeff{"a": 1}', "  \r\n<html>", "<?xml version='1.0'?>", '[{"a": "é"}]', "枠を超えました" * 99,
        '{"error": "' + "é" * 600, "x" * 63 + "é" * 600,
    ],
)  # fmt: skip
def test_a_text_is_one(text: str) -> None:
    assert is_text(text.encode())
    if text[0] in "<{[":
        assert is_text(text.encode("latin-1"))
