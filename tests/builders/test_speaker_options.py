"""Every option of every engine, walked: what can change the sound changes the cache's key, and nothing else does."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from duplexkit.builders.speakers import (
    SpeechRequest,
    chattts,
    cosyvoice,
    cosyvoice_model,
    engines,
    make_speaker,
    openai_speech,
    recorded,
)
from duplexkit.builders.speakers.options import read_voices
from duplexkit.builders.speakers.wav import wav_bytes
from duplexkit.builders.speech_cache import request_key
from tests.builders.cosy_speaker import REFERENCE
from tests.builders.local_server import tones

ALIGNER = "tests.builders.local_server:tones"
"""Another aligner: only its name is looked at here."""
OF_A_VOICE = {
    "gender": "female", "accent": "en-GB", "age": "old", "licence": "MIT", "attribution": "Ann",
    "languages": ["en", "ja"],
}  # fmt: skip
"""What is known of a voice beside how it sounds."""

OPENAI = {"base_url": "http://127.0.0.1:1/v1", "model": "m", "licence": "CC0-1.0", "aligner": "estimated"}
OPENAI_SOUND = {
    "base_url": "http://127.0.0.1:2/v1",  # another server may call another model by the same name
    "model": "other", "response_format": "pcm", "instructions": "Slowly.", "aligner": ALIGNER,
    "sample_rate_hz": 16_000, "sends_speed": False, "extra_body": {"style": "sad"},
}  # fmt: skip
OPENAI_SILENT = {
    "licence": "MIT", "attribution": "Ann", "concurrency": 9, "attempts": 9, "timeout_s": 9.0,
    "usd_per_million_chars": 9.0,
}  # fmt: skip
COSY = {"url": "http://127.0.0.1:1", "server": "upstream", "model": "m", "aligner": "estimated"}
COSY_SOUND = {"model": "other", "sample_rate_hz": 22_050, "aligner": ALIGNER}
COSY_SILENT = {
    "url": "http://127.0.0.1:2", "licence": "MIT", "concurrency": 9, "attempts": 9, "timeout_s": 9.0,
}  # fmt: skip
COSY_ELSEWHERE = {"server", "model_dir", "repo_dir"}
"""Told apart by what they lead to: see the tests of the digests below, and test_serve_cosyvoice."""
RECORDED = {"clips_dir": "clips", "language": "en", "licence": "CC0-1.0", "aligner": "estimated"}
RECORDED_SOUND = {
    "clips_dir": "clips2", "audio_column": "other", "text_column": "said", "speaker_column": "who",
    "language": "en-GB", "aligner": ALIGNER,
}  # fmt: skip
RECORDED_SILENT = {"licence": "MIT", "attribution": "Ann"}
RECORDED_ELSEWHERE = {"dataset", "config", "split", "revision"}
"""They lead to recordings, whose content is hashed as that of a folder's."""
CHATTTS_SOUND = {
    "temperature": 0.5, "top_p": 0.5, "top_k": 5, "max_new_token": 5, "device": "cuda",
}  # fmt: skip
CHATTTS_SILENT = {"licence": "MIT", "attempts": 9}
CHATTTS_ELSEWHERE = {"source", "model_dir", "aligner", "asr_check", "n_voices", "voice_seed"}
"""By the hashes of the weights, the aligner's version, whether it listens, and the voices there are."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.wav").write_bytes(REFERENCE)
    (tmp_path / "other.wav").write_bytes(wav_bytes(tones(1.5, rate_hz=16_000), sample_rate_hz=16_000))
    for name, length_s in {"clips": 0.5, "clips2": 0.6}.items():
        (tmp_path / name).mkdir()
        for k in (1, 2):
            sound = wav_bytes(tones(k * length_s), sample_rate_hz=24_000)
            (tmp_path / name / f"{k}.wav").write_bytes(sound)
        row = {"file_name": "1.wav", "other": "2.wav", "text": "Wait.", "said": "Wait!", "speaker": "v"}
        (tmp_path / name / "metadata.jsonl").write_text(json.dumps({**row, "who": "w"}))
    return tmp_path


def openai_key(folder: Path, options: Mapping[str, object], voice: Mapping[str, object]) -> str:
    voices = {"v": {"languages": ["en"], **voice}}
    return key_of("openai_speech", folder, {**OPENAI, "voices": voices, **options})


def cosy_key(folder: Path, options: Mapping[str, object], voice: Mapping[str, object]) -> str:
    given = {"reference_path": "ref.wav", "licence": "CC0-1.0", **voice}
    if "speaker_id" in voice:
        del given["reference_path"]
    return key_of("cosyvoice", folder, {**COSY, "voices": {"v": given}, **options})


def recorded_key(folder: Path, options: Mapping[str, object], voice: Mapping[str, object]) -> str:
    return key_of("recorded", folder, {**RECORDED, **options})


def key_of(engine: str, folder: Path, options: Mapping[str, object]) -> str:
    speaker = make_speaker(engine, folder, options, folder)
    (voice,) = speaker.voices().values()
    return request_key(speaker, SpeechRequest(text="Wait.", language="en", voice=voice, seed=1))


@pytest.mark.parametrize(
    ("key", "sound", "silent"),
    [
        (openai_key, OPENAI_SOUND, OPENAI_SILENT),
        (cosy_key, COSY_SOUND, COSY_SILENT),
        (recorded_key, RECORDED_SOUND, RECORDED_SILENT),
    ],
    ids=["openai_speech", "cosyvoice", "recorded"],
)
def test_an_option_is_part_of_the_key_where_it_can_change_the_sound(
    key: Callable[..., str], sound: dict, silent: dict, folder: Path
) -> None:
    first = key(folder, {}, {})
    assert key(folder, {}, {}) == first
    changed = {name: key(folder, {name: value}, {}) for name, value in sound.items()}
    assert [name for name, other in changed.items() if other == first] == []
    assert len(set(changed.values())) == len(changed)
    assert [name for name, value in silent.items() if key(folder, {name: value}, {}) != first] == []


@pytest.mark.parametrize(
    ("key", "sound"),
    [
        (openai_key, {"voice": "other", "instructions": "Slowly."}),
        (
            cosy_key,
            {
                "reference_path": "other.wav",
                "reference_text": "Hi.",
                "speaker_id": "x",
                "instruct": "Slowly.",
            },
        ),
    ],
    ids=["openai_speech", "cosyvoice"],
)
def test_so_is_what_a_voice_is_asked_with(key: Callable[..., str], sound: dict, folder: Path) -> None:
    first = key(folder, {}, {})
    changed = {first, *(key(folder, {}, {name: value}) for name, value in sound.items())}
    assert len(changed) == 1 + len(sound)
    assert {key(folder, {}, {name: value}) for name, value in OF_A_VOICE.items()} == {first}


def test_what_is_not_said_of_a_voice_is_unknown() -> None:
    table = {
        "a": {"licence": "MIT", "languages": ["en"]},
        "b": {"licence": "MIT", "languages": ["en"], "age": "old"},
    }
    voices = [
        voice for voice, _ in read_voices(table, engine="e", languages=(), licence="", fields={}).values()
    ]
    assert [(voice.gender, voice.age, voice.accent) for voice in voices] == [
        ("unknown", "unknown", ""),
        ("unknown", "old", ""),
    ]


@pytest.mark.parametrize("first", [True, False])
def test_so_is_every_option_of_chattts(first: bool) -> None:
    def digest(**more: object) -> str:
        return chattts.options_digest({**chattts._DEFAULTS, **more}, config={}, listens=first)

    assert len({digest(), *(digest(**{k: v}) for k, v in CHATTTS_SOUND.items())}) == 1 + len(CHATTTS_SOUND)
    assert {digest(**{name: value}) for name, value in CHATTTS_SILENT.items()} == {digest()}
    others = (
        chattts.options_digest(chattts._DEFAULTS, config={"gpt": {"n": 1}}, listens=first),
        chattts.options_digest(chattts._DEFAULTS, config={}, listens=not first),
    )
    assert len({digest(), *others}) == 3


def test_no_option_is_left_out_of_this_walk() -> None:
    known = {
        "openai_speech": (openai_speech, {*OPENAI_SOUND, *OPENAI_SILENT} - {"extra_body"}, {"voice", "instructions"}),
        "cosyvoice": (
            cosyvoice,
            {*COSY_SOUND, *COSY_SILENT, *COSY_ELSEWHERE},
            {"reference_path", "reference_text", "speaker_id", "instruct"},
        ),
        "recorded": (recorded, {*RECORDED_SOUND, *RECORDED_SILENT, *RECORDED_ELSEWHERE}, None),
        "chattts": (chattts, {*CHATTTS_SOUND, *CHATTTS_SILENT, *CHATTTS_ELSEWHERE}, {"speaker"}),
    }  # fmt: skip
    for module, options, of_a_voice in known.values():
        assert set(module._FIELDS) == options
        assert of_a_voice is None or set(module._VOICE_FIELDS) == of_a_voice
    shipped = {name for name, engine in engines().items() if name != "tone" and engine.code_licence}
    assert shipped == {*known, "kokoro", "hibari"}  # the last two take no options: test_speaker_registry


class TestCosyVoiceInProcess:
    """What `model_dir` and `repo_dir` lead to: any change of any file that decides the sound is another model."""

    @pytest.mark.parametrize("name", ["llm.pt", "spk2info.pt", "campplus.onnx", "cosyvoice2.yaml"])
    def test_weights(self, name: str, tmp_path: Path) -> None:
        for other in ("llm.pt", "spk2info.pt", "campplus.onnx", "cosyvoice2.yaml"):
            (tmp_path / other).write_bytes(b"1" * 100)
        (tmp_path / "README.md").write_bytes(b"1")
        first = cosyvoice_model.model_digest(tmp_path)
        (tmp_path / "README.md").write_bytes(b"2")
        assert cosyvoice_model.model_digest(tmp_path) == first
        (tmp_path / name).write_bytes(b"1" * 99 + b"2")
        assert cosyvoice_model.model_digest(tmp_path) != first

    def test_code(self, tmp_path: Path) -> None:
        from importlib.util import module_from_spec, spec_from_file_location

        def digest() -> str:
            spec = spec_from_file_location("p.cli.main", tmp_path / "p" / "cli" / "main.py")
            assert spec is not None
            return cosyvoice_model.code_digest(module_from_spec(spec))

        (tmp_path / "p" / "cli").mkdir(parents=True)
        (tmp_path / "p" / "cli" / "main.py").write_text("")
        (tmp_path / "p" / "flow.py").write_text("a = 1")
        (tmp_path / "beside.py").write_text("a = 1")
        first = digest()
        (tmp_path / "beside.py").write_text("a = 2")
        assert digest() == first
        (tmp_path / "p" / "flow.py").write_text("a = 2")
        assert digest() != first
