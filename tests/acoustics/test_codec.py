import io

import numpy as np
import pytest
import soundfile

from duplexkit import AudioError
from duplexkit.acoustics.codec import (
    CODECS,
    CodecParams,
    alaw_decode,
    alaw_encode,
    draw_codec,
    mulaw_decode,
    mulaw_encode,
    telephone,
    through_codec,
)

RATE_HZ = 24_000
EVERY = np.arange(-32_768, 32_768).astype(np.int16)


@pytest.mark.parametrize(
    ("subtype", "encode", "decode"),
    [("ULAW", mulaw_encode, mulaw_decode), ("ALAW", alaw_encode, alaw_decode)],
)
def test_g711_is_libsndfiles_for_every_16_bit_sample(subtype, encode, decode):
    buffer = io.BytesIO()
    soundfile.write(buffer, EVERY, 8_000, format="RAW", subtype=subtype)
    theirs = np.frombuffer(buffer.getvalue(), np.uint8)
    octets = np.arange(256, dtype=np.uint8)
    decoded, _ = soundfile.read(
        io.BytesIO(octets.tobytes()),
        dtype="int16",
        format="RAW",
        subtype=subtype,
        samplerate=8_000,
        channels=1,
    )
    np.testing.assert_array_equal(decode(octets), decoded)
    # at the 127 negative decision levels libsndfile goes the other way than the ITU's one's complement, which
    # is as near or, where the steps change, nearer
    ours, wanted = decode(encode(EVERY)).astype(int), decode(theirs).astype(int)
    assert np.all(np.abs(ours - EVERY) <= np.abs(wanted - EVERY))
    differing = EVERY[encode(EVERY) != theirs]
    assert differing.size == 127 and np.all(differing < 0)


def test_g711_has_the_values_of_its_tables():
    # mu-law: silence is 0xFF, the largest 0x80 = 32124; A-law: the smallest step 0xD5 = 8, the largest 0xAA = 32256
    assert mulaw_encode(np.array([0, 32_767, -32_768], np.int16)).tolist() == [0xFF, 0x80, 0x00]
    assert mulaw_decode(np.array([0xFF, 0x80, 0x00], np.uint8)).tolist() == [0, 32_124, -32_124]
    assert alaw_encode(np.array([0, 32_767, -32_768], np.int16)).tolist() == [0xD5, 0xAA, 0x2A]
    assert alaw_decode(np.array([0xD5, 0xAA, 0x2A], np.uint8)).tolist() == [8, 32_256, -32_256]


@pytest.mark.parametrize("pair", [(mulaw_encode, mulaw_decode), (alaw_encode, alaw_decode)])
def test_g711_is_logarithmic(pair):
    decoded = pair[1](pair[0](EVERY)).astype(int)
    assert np.all(np.diff(decoded) >= 0)
    loud = np.abs(EVERY.astype(int)) > 1_000
    assert np.max(np.abs(decoded - EVERY)[loud] / np.abs(EVERY.astype(int))[loud]) < 0.035


def test_the_telephone_passes_its_band_only(tone):
    for hz, low_db, high_db in ((1_000, -0.5, 0.5), (3_000, -1.5, 0.5), (100, -200, -30), (5_000, -200, -30)):
        sent = tone(n_samples=RATE_HZ, hz=hz, amplitude=0.5)
        got = telephone(sent, law="mulaw", sample_rate_hz=RATE_HZ)
        assert got.shape == sent.shape
        level_db = 10 * np.log10(np.mean(got[4_000:-4_000] ** 2) / np.mean(sent**2) + 1e-20)
        assert low_db <= level_db <= high_db


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_keeps_time_and_length(syllables, codec):
    speech = np.pad(syllables(np.random.default_rng(0), duration_s=1.0), (6_000, 6_001))
    copy = speech.copy()
    got = through_codec(speech, CodecParams(codec=codec), sample_rate_hz=RATE_HZ)
    np.testing.assert_array_equal(speech, copy)
    assert got.shape == speech.shape and got.dtype == np.float32
    assert not np.array_equal(got, speech)
    spectrum = np.fft.rfft(got, 65_536) * np.conj(np.fft.rfft(speech, 65_536))
    correlation = np.fft.irfft(spectrum)
    lag = int(np.argmax(correlation))
    lag = lag - 65_536 if lag > 32_768 else lag
    assert abs(lag) <= 1
    assert got.tobytes() == through_codec(speech, CodecParams(codec=codec), sample_rate_hz=RATE_HZ).tobytes()


def test_more_compression_loses_more(syllables):
    speech = syllables(np.random.default_rng(1), duration_s=2.0)
    for codec in ("vorbis", "opus", "mp3"):
        loss = [
            float(
                np.mean(
                    (
                        through_codec(speech, CodecParams(codec=codec, compression=c), sample_rate_hz=RATE_HZ)
                        - speech
                    )
                    ** 2
                )
            )
            for c in (0.1, 0.95)
        ]
        assert loss[0] < loss[1]


def test_codecs_are_drawn_from_those_given():
    rng = np.random.default_rng(0)
    assert {draw_codec(rng, codecs=("mp3", "opus")).codec for _ in range(30)} == {"mp3", "opus"}
    with pytest.raises(AudioError, match="codecs is empty"):
        draw_codec(rng, codecs=())


def test_what_a_codec_does_not_know_is_refused():
    samples = np.full(1_000, 0.1, np.float32)
    with pytest.raises(AudioError, match="'amr' is unknown"):
        CodecParams(codec="amr")
    with pytest.raises(AudioError, match="opus does not know 44100"):
        through_codec(samples, CodecParams(codec="opus"), sample_rate_hz=44_100)
    with pytest.raises(AudioError, match="mp3 does not know 96000"):
        through_codec(samples, CodecParams(codec="mp3"), sample_rate_hz=96_000)
    with pytest.raises(AudioError, match="law 'blaw'"):
        telephone(samples, law="blaw", sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="beyond full scale"):
        through_codec(samples * np.float32(20.0), CodecParams(codec="vorbis"), sample_rate_hz=RATE_HZ)
