"""What of a voice decides its sound: id, mix and lexicon are in a clip's key, what only describes it is not."""

import json
from dataclasses import asdict, replace

import pytest

from duplexkit.builders.said import utterance_key
from duplexkit.builders.said_speaker import SaidSpeaker
from duplexkit.builders.said_speech import SPEECH
from duplexkit.builders.speakers import SpeechRequest
from duplexkit.builders.speakers.kokoro import Kokoro
from duplexkit.builders.speech_cache import request_key
from duplexkit.scenarios.conversation import PlannedTurn, Role, Start


@pytest.fixture
def speaker(tmp_path):
    return Kokoro(tmp_path)


def test_a_clip_is_known_by_all_of_a_voice_that_decides_its_sound_and_by_no_more(speaker):
    """Its lexicon does: the same styles read by the other one say other phonemes."""
    voices = speaker.voices().values()
    assert {v.lexicon for v in voices if v.accent == "en-GB"} == {"en-GB"}
    assert {v.lexicon for v in voices if v.accent != "en-GB"} == {""}
    emma = speaker.voices()["bf_emma"]
    turn = PlannedTurn(
        name="t", role=Role.USER, voice="bf_emma", text="Park here.", speed=1.0,
        start=Start(turn=None, distance_s=0.0), move="open",
    )  # fmt: skip

    def keys(of):
        asked = {"language": "en", "voice": of, "speaker": speaker, "seed": 0}
        return (
            request_key(speaker, SpeechRequest(text="Park here.", language="en", voice=of)),
            utterance_key(turn, sample_rate_hz=24000, **asked),
        )

    others = [replace(emma, lexicon=""), replace(emma, mix=(("bf_lily", 1.0),)), replace(emma, id="x")]
    assert all(a != b for of in others for a, b in zip(keys(of), keys(emma), strict=True))
    same = replace(emma, accent="en-AU", age="old", gender="male", attribution="", licence="MIT", dnsmos=None)
    assert keys(same) == keys(emma)


def test_a_build_that_does_not_say_the_lexicon_is_spoken_on_by_the_voices_own(speaker, tmp_path):
    emma, asked = speaker.voices()["bf_emma"], []

    class Listening(Kokoro):
        def speak(self, request):
            asked.append(request.voice)

    facts = {key: getattr(speaker, key) for key in ("engine", "version", "uses_seed", "licence")}
    older = {key: value for key, value in asdict(emma).items() if key != "lexicon"}
    (tmp_path / SPEECH).parent.mkdir()
    (tmp_path / SPEECH).write_text(json.dumps({**facts, "sets": {}, "voices": [older]}), encoding="utf-8")
    said = SaidSpeaker(tmp_path, lambda: Listening(tmp_path))
    said.speak(SpeechRequest(text="Park here.", language="en", voice=said.voices()["bf_emma"]))
    assert said.voices()["bf_emma"].lexicon == "" and asked == [emma]
