"""The OpenAI route against a real local server: whole answers, and every way one can fail."""

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from duplexkit import EngineError, RecipeError, SpeechError
from duplexkit.builders.speakers import Clip, Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.wav import wav_bytes
from duplexkit.builders.speech_cache import get_or_speak
from duplexkit.scenarios.markup import Reading
from tests.builders.local_server import Asked, pcm16, send, serving, tones

SAMPLES = tones(0.4, 0.3)
WAV = wav_bytes(SAMPLES, sample_rate_hz=24_000)


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


def options(url: str, **more: object) -> dict:
    return {
        "base_url": f"{url}/v1",
        "model": "tts",
        "licence": "LicenseRef-test",
        "aligner": "estimated",
        "attempts": 2,
        "timeout_s": 5.0,
        "voices": {
            "nova": {"languages": ["en", "ja"], "gender": "female"},
            "deep": {"languages": ["en"], "voice": "onyx", "instructions": "Slowly."},
        },
        **more,
    }


def spoken(speaker: Speaker, text: str = "Hello there.", voice: str = "nova", **more: object) -> Clip:
    asked = {"language": "en", **more}
    return speaker.speak(SpeechRequest(text=text, voice=speaker.voices()[voice], **asked))


def test_a_clip_comes_as_it_was_sent(tmp_path: Path) -> None:
    with serving(lambda h, a: send(h, 200, WAV, "audio/wav")) as server:
        speaker = make_speaker("openai_speech", tmp_path, options(server.url, extra_body={"stream": False}))
        clip = spoken(speaker, voice="deep", speed=1.25)
    asked = json.loads(server.asked[0].body)
    assert (
        server.asked[0].path == "/v1/audio/speech"
        and server.asked[0].headers["Authorization"] == "Bearer test"
    )
    assert asked == {
        "model": "tts", "input": "Hello there.", "voice": "onyx", "response_format": "wav", "speed": 1.25,
        "instructions": "Slowly.", "stream": False,
    }  # fmt: skip
    assert clip.sample_rate_hz == 24_000 and clip.samples.tobytes() == SAMPLES.tobytes()
    assert clip.word_time_source == "estimated" and [w.text for w in clip.words] == ["Hello", "there"]


def test_pcm_has_the_rate_of_the_recipe(tmp_path: Path) -> None:
    with serving(lambda h, a: send(h, 200, pcm16(SAMPLES), "audio/pcm")) as server:
        more = {"response_format": "pcm", "sample_rate_hz": 22_050}
        clip = spoken(make_speaker("openai_speech", tmp_path, options(server.url, **more)))
    assert clip.sample_rate_hz == 22_050 and np.abs(clip.samples - SAMPLES).max() <= 1 / 32768


def test_readings_and_breaks_are_written(tmp_path: Path) -> None:
    with serving(lambda h, a: send(h, 200, WAV, "audio/wav")) as server:
        speaker = make_speaker("openai_speech", tmp_path, options(server.url))
        kana = Reading(start=0, stop=2, spoken="きょう", is_phonemes=False)
        spoken(speaker, "今日は晴れ", language="ja", readings=(kana,), breaks=(3,))
        sound = Reading(start=2, stop=5, spoken="tˈi", is_phonemes=True)
        spoken(speaker, "a tea, please", readings=(sound,), breaks=(2, 7))
    assert [json.loads(asked.body)["input"] for asked in server.asked] == ["きょうは、晴れ", "a, tea, please"]


class Failing:
    """Answers wrongly as long as there are failures left, then rightly."""

    def __init__(self, *failures: object) -> None:
        self.failures = list(failures)

    def __call__(self, handler: object, asked: Asked) -> None:
        if not self.failures:
            send(handler, 200, WAV, "audio/wav")
            return
        failure = self.failures.pop(0)
        if isinstance(failure, int):
            body = json.dumps({"error": {"message": "not now", "type": "x", "code": failure}}).encode()
            send(handler, failure, body, "application/json", retry_after_ms="10")
        elif isinstance(failure, float):
            time.sleep(failure)
            handler.close_connection = True
        else:
            send(handler, 200, failure, "audio/wav")


@pytest.mark.parametrize(
    "failure",
    [429, 500, 503, WAV[:-7], b"", WAV[:20], wav_bytes(SAMPLES, sample_rate_hz=4000)],
    ids=["429", "500", "503", "truncated", "empty", "header only", "absurd rate"],
)
def test_a_failure_that_passes_is_recovered_from(failure: object, tmp_path: Path) -> None:
    with serving(Failing(failure)) as server:
        clip = spoken(make_speaker("openai_speech", tmp_path, options(server.url)))
    assert len(server.asked) == 2 and clip.samples.tobytes() == SAMPLES.tobytes()


def test_a_timeout_that_passes_is_recovered_from(tmp_path: Path) -> None:
    with serving(Failing(1.0)) as server:
        clip = spoken(make_speaker("openai_speech", tmp_path, options(server.url, timeout_s=0.3)))
    assert len(server.asked) == 2 and clip.samples.size == SAMPLES.size


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        ([429, 429], r"answered 429 to 'Hello there\.', tried up to 2 times: .*not now"),
        ([500, 500], "answered 500"),
        ([400], "answered 400"),
        ([401], r"refused the key \(401\): set OPENAI_API_KEY"),
        ([WAV[:-7], WAV[:-7]], r"cut off: its header says .* bytes.*tried 2 times, for 'Hello there\.'"),
        ([b'{"error": "no"}'] * 2, "no WAV file"),
    ],
)
def test_a_failure_that_stays_is_one_clear_message_and_nothing_is_kept(
    failures: list, message: str, tmp_path: Path
) -> None:
    with serving(Failing(*failures)) as server:
        speaker = make_speaker("openai_speech", tmp_path, options(server.url))
        request = SpeechRequest(text="Hello there.", language="en", voice=speaker.voices()["nova"])
        counted: list[str] = []
        with pytest.raises(SpeechError, match=message) as caught:
            get_or_speak(tmp_path, speaker, request, counted.append)
        assert isinstance(caught.value, EngineError) == (failures != [400])  # 400 is about this text only
        assert counted == [] and not list(tmp_path.rglob("*.zip"))
        _, clip = get_or_speak(
            tmp_path, speaker, request, counted.append
        )  # the build goes on where it stopped
        assert counted == ["spoken"] and clip.samples.tobytes() == SAMPLES.tobytes()


def test_a_timeout_that_stays_and_a_dead_server_are_said(tmp_path: Path) -> None:
    with serving(Failing(1.0, 1.0)) as server:
        with pytest.raises(SpeechError, match=r"gave no answer in 0\.2 s, tried 2 times"):
            spoken(make_speaker("openai_speech", tmp_path, options(server.url, timeout_s=0.2)))
        url = server.url
    with pytest.raises(SpeechError, match=r"cannot be reached .*mend speech\.options\.base_url"):
        spoken(make_speaker("openai_speech", tmp_path, options(url)))


def test_another_rate_than_the_recipe_says_is_refused(tmp_path: Path) -> None:
    with serving(lambda h, a: send(h, 200, wav_bytes(SAMPLES, sample_rate_hz=16_000), "audio/wav")) as server:
        speaker = make_speaker("openai_speech", tmp_path, options(server.url, sample_rate_hz=24_000))
        with pytest.raises(
            SpeechError, match=r"sent sound of 16000 Hz; speech\.options\.sample_rate_hz says 24000"
        ):
            spoken(speaker)
        assert spoken(make_speaker("openai_speech", tmp_path, options(server.url))).sample_rate_hz == 16_000


def test_no_key_is_needed_for_a_server_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving(lambda h, a: send(h, 200, WAV, "audio/wav")) as server:
        assert (
            spoken(make_speaker("openai_speech", tmp_path, options(server.url))).samples.size == SAMPLES.size
        )
    without = options("")
    del without["base_url"]
    with pytest.raises(SpeechError, match="no key: set the environment variable OPENAI_API_KEY"):
        spoken(make_speaker("openai_speech", tmp_path, without))


def test_no_more_requests_run_at_once_than_the_recipe_says(tmp_path: Path) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def answer(handler: object, asked: Asked) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with lock:
            running -= 1
        send(handler, 200, WAV, "audio/wav")

    with serving(answer) as server:
        made = [make_speaker("openai_speech", tmp_path, options(server.url, concurrency=2)) for _ in range(6)]
        threads = [threading.Thread(target=spoken, args=(speaker,)) for speaker in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.asked) == 6 and most == 2


def test_what_decides_the_sound_decides_the_version(tmp_path: Path) -> None:
    def made(**more: object) -> Speaker:
        return make_speaker("openai_speech", tmp_path, options("http://a", **more))

    assert made().version == made().version
    assert made().version != make_speaker("openai_speech", tmp_path, options("http://b")).version
    assert made().version == made(concurrency=9).version
    assert (
        len({made(model="b").version, made(instructions="x").version, made(extra_body={"a": 1}).version}) == 3
    )
    one = made().voices()["deep"]
    other = made(voices={"deep": {"languages": ["en"], "voice": "onyx", "instructions": "Fast."}}).voices()[
        "deep"
    ]
    assert one.mix != other.mix and set(one.parents) & set(other.parents) == {"openai_speech:onyx"}


def test_another_server_with_the_same_model_name_is_asked_itself(tmp_path: Path) -> None:
    counts: list[str] = []
    for k in (0, 1):
        samples = (SAMPLES * (1 - 0.5 * k)).astype(np.float32)
        wav = wav_bytes(samples, sample_rate_hz=24_000)
        with serving(lambda h, a, wav=wav: send(h, 200, wav, "audio/wav")) as server:
            speaker = make_speaker("openai_speech", tmp_path, options(server.url))
            request = SpeechRequest(text="Hello there", language="en", voice=speaker.voices()["nova"])
            for _ in range(2):
                _, clip = get_or_speak(tmp_path / "cache", speaker, request, counts.append)
                assert np.abs(clip.samples - samples).max() <= 1 / 32768
    assert counts == ["spoken", "cached"] * 2


def test_a_server_without_speed_says_so(tmp_path: Path) -> None:
    assert make_speaker("openai_speech", tmp_path, options("http://a")).takes_speed
    assert not make_speaker("openai_speech", tmp_path, options("http://a", sends_speed=False)).takes_speed


def test_voices_and_their_languages(tmp_path: Path) -> None:
    speaker = make_speaker("openai_speech", tmp_path, options("http://a"))
    assert speaker.voice_sets() == {
        "en": {"default": ("nova", "deep"), "female": ("nova",), "unknown": ("deep",)},
        "ja": {"default": ("nova",), "female": ("nova",)},
    }
    with pytest.raises(SpeechError, match="voice 'deep' speaks en, not 'ja'"):
        spoken(speaker, "はい", voice="deep", language="ja")
    with pytest.raises(RecipeError, match=r"speech\.options\.voices\.x\.languages is missing"):
        make_speaker("openai_speech", tmp_path, options("http://a", voices={"x": {}}))
    with pytest.raises(RecipeError, match=r"speech\.options\.attempts = \[1, 3\]: wanted one whole number"):
        make_speaker("openai_speech", tmp_path, options("http://a", attempts=[1, 3]))
