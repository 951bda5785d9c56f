"""Every reader of a user's own sound refuses what is damaged, and names the file and what is wrong with it."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit import DuplexkitError
from duplexkit.acoustics.recordings import read_folder
from duplexkit.builders.corpora.audio_file import read_two_channels
from duplexkit.builders.corpora.icc import read_icc
from duplexkit.builders.imports.row import read_sound
from duplexkit.builders.quality.clip_source import items_of, read_clip
from duplexkit.builders.speakers import SpeechRequest
from duplexkit.builders.speakers.recorded import Recorded
from duplexkit.builders.timing_sources import dialogues

RATE_HZ = 24_000


def noise(n_channels: int, rate_hz: int = RATE_HZ, n: int = 24_000, value: float | None = None) -> bytes:
    samples = np.random.default_rng(1).uniform(-0.3, 0.3, (n, n_channels)).astype(np.float32)
    if value is not None:
        samples[n // 2] = value
    buffer = BytesIO()
    soundfile.write(buffer, samples, rate_hz, format="WAV", subtype="PCM_16" if value is None else "FLOAT")
    return buffer.getvalue()


DAMAGES: dict[str, tuple[Callable[[int], bytes], str]] = {
    "cut short": (
        lambda n: noise(n)[: 44 + 12_000 * 2 * n],
        r"promises 24000 samples \(1\.000 s\), the file holds 12000 \(0\.500 s\)",
    ),
    "no samples": (lambda n: noise(n, n=0), "holds no samples"),
    "empty": (lambda n: b"", "the file is empty"),
    "no sound": (lambda n: b"these are words", "no sound file that can be read"),
    "not a number": (lambda n: noise(n, value=np.nan), "is nan; wanted numbers"),
    "1 Hz": (lambda n: noise(n, rate_hz=1), "sample rate 1 Hz; wanted 8000 to 192000 Hz"),
}


def recorded(path: Path) -> Any:
    (path.parent / "metadata.jsonl").write_text(
        '{"file_name": "x.wav", "text": "wait", "speaker": "ada"}\n', encoding="utf-8"
    )
    options = {"clips_dir": str(path.parent), "licence": "CC0-1.0", "language": "en", "aligner": "estimated"}
    speaker = Recorded(path.parent, options)
    return speaker.speak(SpeechRequest(text="wait", language="en", voice=speaker.voices()["ada"]))


def measured(path: Path) -> Any:
    (item,) = items_of(path.parent, "en")
    return [read_clip(place, "en") for place in item.tracks]


READERS: dict[str, tuple[Callable[[Path], Any], int]] = {
    "annotate: two channels": (read_two_channels, 2),
    "annotate: listeners": (lambda path: list(read_icc(path.parent)), 2),
    "import": (lambda path: read_sound(path, n_channels=1), 1),
    "recorded speaker": (recorded, 1),
    "folder of noise": (lambda path: read_folder(path.parent, sample_rate_hz=RATE_HZ), 1),
    "timing fit, events": (lambda path: list(dialogues([path])), 2),
    "check --measure": (measured, 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("reader", READERS)
def test_damaged_sound_is_refused_by_all(reader: str, damage: str, tmp_path: Path) -> None:
    read, n_channels = READERS[reader]
    content, said = DAMAGES[damage]
    (tmp_path / "x.wav").write_bytes(content(n_channels))
    with pytest.raises(DuplexkitError, match=said) as refused:
        read(tmp_path / "x.wav")
    named = "the recording of 'wait' by 'ada'" if reader == "recorded speaker" else str(tmp_path / "x.wav")
    assert named in str(refused.value)


@pytest.mark.parametrize("reader", READERS)
def test_whole_sound_is_read_by_all(reader: str, tmp_path: Path) -> None:
    read, n_channels = READERS[reader]
    (tmp_path / "x.wav").write_bytes(noise(n_channels))
    assert read(tmp_path / "x.wav") is not None


def test_an_import_limits_nothing_in_secret(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(noise(1, value=1.5))
    with pytest.raises(DuplexkitError, match=r"x\.wav: samples\[12000\] is 1\.5"):
        read_sound(tmp_path / "x.wav", n_channels=1)
