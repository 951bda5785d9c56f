"""The fast English engine, with its real network."""

from pathlib import Path

import numpy as np
import pytest

from duplexkit import SpeechError
from duplexkit.acoustics.activity import speech_spans
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.speakers import Clip, Speaker, SpeechRequest, make_speaker
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.markup import Reading

TEXT = "Please book a table for two, and then call me back at half past seven."


@pytest.fixture(scope="module")
def hibari(tmp_path_factory: pytest.TempPathFactory) -> Speaker:
    return make_speaker("hibari", tmp_path_factory.mktemp("cache"))


def spoken(speaker: Speaker, text: str = TEXT, voice: str = "heart", **more: object) -> Clip:
    return speaker.speak(SpeechRequest(text=text, language="en", voice=speaker.voices()[voice], **more))


def test_the_seed_and_nothing_else_decides_the_clip(hibari: Speaker) -> None:
    one, again, other = (spoken(hibari, seed=seed) for seed in (3, 3, 4))
    assert one.samples.dtype == np.float32 and one.samples.tobytes() == again.samples.tobytes()
    assert one.samples.size == other.samples.size and one.samples.tobytes() != other.samples.tobytes()


@pytest.mark.parametrize("voice", ["heart", "heart_low", "heart_deep", "heart_high"])
def test_words_are_complete_ordered_and_where_the_sound_is(hibari: Speaker, voice: str) -> None:
    clip = spoken(hibari, voice=voice)
    assert [word.text for word in clip.words] == TEXT.replace(",", "").replace(".", "").split()
    assert all(TEXT[w.start_char : w.stop_char] == w.text for w in clip.words)
    edges = [t for word in clip.words for t in (word.onset_s, word.offset_s)]
    assert edges == sorted(edges) and edges[-1] <= clip.samples.size / clip.sample_rate_hz
    spans = speech_spans(clip.samples, sample_rate_hz=clip.sample_rate_hz, min_hush_s=0.12)
    assert len(spans) == 2  # the comma is a silence
    onsets_s = [start / clip.sample_rate_hz for start, _ in spans]
    assert clip.words[0].onset_s == pytest.approx(onsets_s[0], abs=0.1)
    and_ = next(word for word in clip.words if word.text == "and")
    assert and_.onset_s == pytest.approx(onsets_s[1], abs=0.1)


def test_speed_changes_the_length(hibari: Speaker) -> None:
    slow, fast = (spoken(hibari, speed=speed).words[-1].onset_s for speed in (0.8, 1.25))
    assert 1.3 < slow / fast < 1.8  # 1.25 / 0.8 = 1.56, whole frames per sound


def test_a_shifted_voice_has_its_pitch(hibari: Speaker) -> None:
    """Pitch by autocorrelation: the shift is made by resampling, so its ratio is that of the voice."""

    def pitch_hz(clip: Clip) -> float:
        frames = np.lib.stride_tricks.sliding_window_view(clip.samples, 1200)[::600]
        loud = frames[np.square(frames).mean(axis=1) > 1e-3]
        spectra = np.abs(np.fft.rfft(loud - loud.mean(axis=1, keepdims=True), 4096)) ** 2
        lags = np.fft.irfft(spectra)[:, 60:300]  # 400 to 80 Hz at 24 kHz
        return float(np.median(clip.sample_rate_hz / (60 + np.argmax(lags, axis=1))))

    heart = pitch_hz(spoken(hibari))
    assert pitch_hz(spoken(hibari, voice="heart_low")) / heart == pytest.approx(0.78, abs=0.06)
    assert pitch_hz(spoken(hibari, voice="heart_high")) / heart == pytest.approx(1.16, abs=0.08)


def test_readings_and_breaks_are_heard(hibari: Speaker) -> None:
    text = "I want tea and toast"
    plain, broken = spoken(hibari, text), spoken(hibari, text, breaks=(11,))
    tea_s = [clip.words[3].onset_s - clip.words[2].onset_s for clip in (plain, broken)]
    assert tea_s[1] > tea_s[0] + 0.1  # the comma's hesitation stands between the words
    read = spoken(
        hibari, text, readings=(Reading(start=7, stop=10, spoken="coffee and water", is_phonemes=False),)
    )
    assert read.samples.size > plain.samples.size and [w.text for w in read.words] == text.split()


def test_a_long_text_is_spoken_in_parts_with_right_times(hibari: Speaker) -> None:
    text = " ".join(f"This is sentence number {n}, and it says nothing new at all." for n in range(1, 16))
    clip = spoken(hibari, text)
    onsets_s = [word.onset_s for word in clip.words]
    assert onsets_s == sorted(onsets_s) and len(onsets_s) == len(text.split())
    starts_s = [w.onset_s for w in clip.words if w.text == "This"]
    spans = speech_spans(clip.samples, sample_rate_hz=24000, min_hush_s=0.2)
    heard_s = np.array([start / 24000 for start, _ in spans])
    assert all(np.abs(heard_s - start_s).min() < 0.1 for start_s in starts_s)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"language": "ja"}, "hibari speaks en only, not 'ja'"),
        ({"speed": 2.5}, r"speed 2\.5 of .* is outside"),
        ({"text": "你好"}, "is no character that can be spoken"),
        ({"text": "..."}, "nothing to speak"),
    ],
)
def test_what_cannot_be_spoken_is_said(hibari: Speaker, changes: dict, message: str) -> None:
    asked = {"text": TEXT, "language": "en", "voice": hibari.voices()["heart"], **changes}
    with pytest.raises(SpeechError, match=message):
        hibari.speak(SpeechRequest(**asked))


def test_voices_of_a_release_and_of_tests_are_apart(hibari: Speaker) -> None:
    sets = hibari.voice_sets()["en"]
    assert sets["default"] == ("heart",) and set(sets["default"]) < set(sets["bulk"]) == set(hibari.voices())
    parents = [voice.parents for voice in hibari.voices().values()]
    assert len(set(parents)) == len(parents) and hibari.voices()["heart"].parents == ("af_heart",)


WHOLE = """
name = "bulk"
version = "1.0.0"
seed = 3
languages = ["en"]
licence = "Apache-2.0"
[speech]
engine = "hibari"
[speech.voices.en]
user = "bulk"
system = "bulk"
other = "bulk"
"""


def test_a_whole_recipe_of_real_speech_passes_its_own_check(tone_build, tmp_path: Path) -> None:
    """All eight scenarios: the shifted copies are what lets two voices meet."""
    result = tone_build(WHOLE + "".join(f"[scenarios.{name}]\ncount = 1\n" for name in SCENARIOS))
    assert result.rejects == () and result.n_spoken > 20
    assert list(check_folder(tmp_path / "out", lambda done, total: None)) == []


def test_it_is_fast(hibari: Speaker, tmp_path: Path) -> None:
    import time

    spoken(hibari)
    began = time.perf_counter()
    clip = spoken(hibari, seed=9)
    assert clip.samples.size / clip.sample_rate_hz > 5 * (
        time.perf_counter() - began
    )  # 60 times on an idle core
