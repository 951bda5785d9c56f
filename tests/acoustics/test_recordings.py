import numpy as np
import pytest
import soundfile

from duplexkit import AudioError
from duplexkit.acoustics.recordings import from_direct_sound, read_folder

RATE_HZ = 24_000


def test_a_folder_is_read_in_order_at_one_rate(tmp_path):
    for name, rate_hz in (("b.wav", 48_000), ("a.WAV", 24_000)):
        soundfile.write(
            tmp_path / name, np.full(rate_hz, 0.25, np.float32), rate_hz, subtype="FLOAT", format="WAV"
        )
    (tmp_path / "notes.txt").write_text("not a sound")
    read = read_folder(tmp_path, sample_rate_hz=RATE_HZ)
    assert list(read) == ["a.WAV", "b.wav"]
    assert all(samples.shape == (RATE_HZ,) and samples.dtype == np.float32 for samples in read.values())
    np.testing.assert_array_equal(read["a.WAV"], 0.25)
    np.testing.assert_allclose(read["b.wav"][1_000:-1_000], 0.25, atol=1e-4)


def test_files_that_are_no_signal_are_named(tmp_path):
    with pytest.raises(AudioError, match=r"holds no \.wav file"):
        read_folder(tmp_path, sample_rate_hz=RATE_HZ)
    soundfile.write(tmp_path / "two.wav", np.zeros((100, 2)), RATE_HZ)
    with pytest.raises(AudioError, match=r"two\.wav has 2 channels"):
        read_folder(tmp_path, sample_rate_hz=RATE_HZ)


def test_a_measured_response_starts_with_its_direct_sound():
    rir = np.zeros(1_000, np.float32)
    rir[200:] = 0.001
    rir[300] = 0.5  # direct
    rir[420] = -0.9  # a reflection louder than the direct sound
    cut = from_direct_sound(rir)
    assert cut.size == 700 and cut[0] == np.float32(0.5) and cut[120] == np.float32(-0.9)
    with pytest.raises(AudioError, match="zeros"):
        from_direct_sound(np.zeros(10, np.float32))
