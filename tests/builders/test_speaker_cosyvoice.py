"""CosyVoice: upstream's server with its byte format and faults, and the model's own code in process."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from duplexkit import EngineError, RecipeError, SpeechError
from duplexkit.builders.speakers import Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.cosyvoice import spoken_form
from duplexkit.builders.speakers.hibari import Hibari
from duplexkit.builders.speakers.katakana import katakana
from duplexkit.builders.speakers.wav import wav_bytes
from duplexkit.scenarios.markup import Reading
from tests.builders.cosy_speaker import REFERENCE, made, spoken
from tests.builders.local_server import Asked, pcm16, send, send_chunks, serving, tones

SAMPLES = tones(0.4, 0.3)
PCM = pcm16(SAMPLES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.wav").write_bytes(REFERENCE)
    return tmp_path


# upstream's server


class Upstream:
    """Answers as FastAPI does: 404 for what it does not know, else chunks of raw PCM, or what `fault` says."""

    def __init__(self, *faults: str) -> None:
        self.faults = list(faults)

    def __call__(self, handler: object, asked: Asked) -> None:
        if not asked.path.startswith("/inference_"):
            send(handler, 404, b'{"detail":"Not Found"}', "application/json")
            return
        fault = self.faults.pop(0) if self.faults else ""
        half = len(PCM) // 4 * 2
        if fault == "head":  # since 622a3a1: status 200, then the generator raises
            send_chunks(handler, [], breaks_off=True)
        elif fault == "broken":
            send_chunks(handler, [PCM[:half]], breaks_off=True)
        elif fault == "odd":
            send_chunks(handler, [PCM[:half], PCM[half:-1]])
        elif fault == "empty":
            send_chunks(handler, [])
        elif fault == "500":
            send(handler, 500, b"Internal Server Error", "text/plain")
        elif fault == "422":
            send(handler, 422, b'{"detail":"missing"}', "application/json")
        else:
            send_chunks(handler, [PCM[:half], PCM[half:]])


@pytest.mark.parametrize(
    ("voice", "route", "fields"),
    [
        (
            "ann",
            "zero_shot",
            {"tts_text": b"Good morning.", "prompt_text": b"Hello.", "prompt_wav": REFERENCE},
        ),
        (
            "calm",
            "instruct2",
            {"tts_text": b"Good morning.", "instruct_text": b"Calmly.", "prompt_wav": REFERENCE},
        ),
        ("known", "sft", {"tts_text": b"Good morning.", "spk_id": b"heart"}),
    ],
)
def test_upstreams_routes_and_bytes(folder: Path, voice: str, route: str, fields: dict) -> None:
    with serving(Upstream()) as server:
        speaker = made(folder, server.url)
        clip = spoken(speaker, voice)
    asked = server.asked[-1]
    assert asked.path == f"/inference_{route}"
    assert asked.form() == fields
    assert clip.sample_rate_hz == 24_000 and np.abs(clip.samples - SAMPLES).max() <= 1 / 32768
    assert not speaker.uses_seed and "CosyVoice2-0.5B" in speaker.version


def test_japanese_is_sent_in_katakana_without_a_reference_text(folder: Path) -> None:
    with serving(Upstream()) as server:
        spoken(made(folder, server.url), "ann_ja", "今日は3時に東京駅で。", language="ja")
    assert server.asked[-1].path == "/inference_cross_lingual"
    assert server.asked[-1].form()["tts_text"].decode() == "キョーワサンジニトーキョーエキデ。"


@pytest.mark.parametrize("fault", ["head", "broken", "odd", "empty", "500"])
def test_a_fault_that_passes_is_recovered_from(folder: Path, fault: str) -> None:
    with serving(Upstream(fault)) as server:
        clip = spoken(made(folder, server.url), "ann")
    assert clip.samples.size == SAMPLES.size


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "head",
            r"broke off its answer after 0 bytes\. Upstream's server since commit 622a3a1.*tried 2 times",
        ),
        ("broken", "broke off its answer after"),
        ("odd", "an odd number: no whole 16-bit samples"),
        ("empty", "sent 0 bytes"),
        ("500", "answered 500: Internal Server Error"),
        ("422", "answered 422: .*missing"),
    ],
)
def test_a_fault_that_stays_is_one_clear_message(folder: Path, fault: str, message: str) -> None:
    with serving(Upstream(fault, fault)) as server, pytest.raises(SpeechError, match=message) as caught:
        spoken(made(folder, server.url), "ann")
    assert isinstance(caught.value, EngineError) == (fault != "422")  # 422 is about this request only


def test_what_upstreams_routes_cannot_take_is_said(folder: Path) -> None:
    with serving(Upstream()) as server:
        with pytest.raises(SpeechError, match=r"speed 1\.2: upstream's CosyVoice server takes none"):
            spoken(made(folder, server.url), "ann", speed=1.2)
        with pytest.raises(SpeechError, match=r"voice 'ann_ja' speaks ja, not 'en'"):
            spoken(made(folder, server.url), "ann_ja")
        with pytest.raises(
            RecipeError, match=r"speech\.options\.model is missing: upstream's server does not say"
        ):
            options = {"url": server.url, "voices": {"a": {"speaker_id": "x", "licence": "CC0-1.0"}}}
            make_speaker("cosyvoice", folder, options)
        with pytest.raises(SpeechError, match="what answers there is not duplexkit serve-cosyvoice"):
            made(folder, server.url, server="duplexkit")


def test_a_dead_server_is_said(folder: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(
            SpeechError, match=rf"the CosyVoice server {url} does not answer .*Connection refused"
        ):
            made(folder, url)
        with pytest.raises(SpeechError, match=r"cannot be reached .*tried 2 times"):
            spoken(made(folder, url, server="upstream"), "ann")


# voices


def test_voices_of_one_reference_are_related_and_apart_in_the_cache(folder: Path) -> None:
    with serving(Upstream()) as server:
        voices = made(folder, server.url).voices()
        (folder / "ref.wav").write_bytes(wav_bytes(tones(1.1, rate_hz=16_000), sample_rate_hz=16_000))
        changed = made(folder, server.url).voices()
    ann, calm, known = (voices[name] for name in ("ann", "calm", "known"))
    assert set(ann.parents) & set(calm.parents) and not set(ann.parents) & set(known.parents)
    assert ann.mix != calm.mix and ann.mix != changed["ann"].mix
    assert ann.parents[0].startswith("reference:sha256:") and str(folder) not in repr(ann)
    assert sum(weight for _, weight in ann.mix) == 1.0


@pytest.mark.parametrize(
    ("voice", "message"),
    [
        ({"reference_path": "none.wav", "licence": "x"}, "there is no file"),
        ({"reference_path": "ref.wav"}, r"voices\.v\.licence is missing"),
        ({"licence": "x"}, "wanted either reference_path or speaker_id"),
        ({"reference_path": "ref.wav", "speaker_id": "x", "licence": "x"}, "wanted either"),
        ({"reference_paht": "ref.wav", "licence": "x"}, "did you mean 'reference_path'"),
    ],
)
def test_a_wrong_voice_is_named(folder: Path, voice: dict, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        made(folder, "http://127.0.0.1:1", server="upstream", voices={"v": voice})


@pytest.mark.parametrize(("length_s", "rate_hz"), [(31.0, 16_000), (1.0, 8_000)])
def test_a_reference_that_is_too_long_or_too_coarse_is_refused(
    folder: Path, length_s: float, rate_hz: int
) -> None:
    sound = np.zeros(int(length_s * rate_hz), dtype=np.float32)
    (folder / "ref.wav").write_bytes(wav_bytes(sound, sample_rate_hz=rate_hz))
    with pytest.raises(SpeechError, match="wanted at most 30 s and at least 16000 Hz"):
        made(folder, "http://127.0.0.1:1", server="upstream")


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.zeros(16_000), r"ref\.wav holds 0\.00 s of speech; wanted at least 0\.5 s at -50 dBov"),
        (np.zeros(1), r"holds 0\.00 s of speech"),
        (np.full(1, 0.5), r"holds 0\.00 s of speech"),
        (np.full(16_000, 0.5), "holds 0.00 s of speech"),  # a level without a swing is no sound
        (tones(0.3, rate_hz=16_000), r"holds 0\.30 s of speech at -15 dBov; wanted at least 0\.5 s"),
        (tones(1.0, rate_hz=16_000) * 1e-3, r"holds 1\.00 s of speech at -75 dBov"),
        (tones(1.0, rate_hz=16_000) * 1e30, r"reaches 2\.5e\+29; wanted samples from -1 to 1"),
        (tones(1.0, rate_hz=16_000) * np.nan, "samples that are no numbers"),
    ],
)
def test_a_reference_without_speech_is_refused(folder: Path, samples: np.ndarray, message: str) -> None:
    (folder / "ref.wav").write_bytes(wav_bytes(samples, sample_rate_hz=16_000))
    with pytest.raises(SpeechError, match=message):
        made(folder, "http://127.0.0.1:1", server="upstream")


@pytest.mark.parametrize("path", [".", "ref.wav/x", "x" * 300])
def test_a_reference_that_cannot_be_read_is_named(folder: Path, path: str) -> None:
    voices = {"v": {"reference_path": path, "licence": "x"}}
    with pytest.raises(RecipeError, match=r"voices\.v\.reference_path: "):
        made(folder, "http://127.0.0.1:1", server="upstream", voices=voices)


def test_folders_that_are_none_are_the_recipes_fault(folder: Path) -> None:
    for keys, message in (
        ({"model_dir": "none"}, "none is no CosyVoice model: it has none of cosyvoice3.yaml"),
        ({"model_dir": "m", "repo_dir": "none"}, "none is no clone of CosyVoice"),
    ):
        (folder / "m").mkdir(exist_ok=True)
        (folder / "m" / "cosyvoice2.yaml").touch()
        options = {"voices": {"a": {"speaker_id": "x", "licence": "CC0-1.0"}}, **keys}
        with pytest.raises(RecipeError, match=message):
            make_speaker("cosyvoice", folder, options, folder)


def test_whole_numbers_are_no_ranges(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"speech\.options\.attempts = \[1, 3\]: wanted one whole number"):
        made(folder, "http://127.0.0.1:1", server="upstream", attempts=[1, 3])


# text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("11月3日、25分。", "ジューイチガツミッカ、ニジューゴフン。"),
        ("「うん」…そう？", "ウン。ソー？"),
        ("私は東京へ", "ワタシワトーキョーエ"),
    ],
)
def test_katakana(text: str, wanted: str) -> None:
    assert katakana(text) == wanted


def test_sounds_breaks_and_readings_are_written() -> None:
    speaker_voice = Hibari(Path(), {}).voices()["heart"]
    reading = Reading(start=0, stop=2, spoken="あした", is_phonemes=False)
    japanese = SpeechRequest(
        text="明日は晴れ。",
        language="ja",
        voice=speaker_voice,
        readings=(reading,),
        breaks=(3,),
        sounds=((3, "laugh"),),
    )
    assert spoken_form(japanese) == "アシタワ、[laughter]ハレ。"
    english = SpeechRequest(
        text="Oh no, not again.",
        language="en",
        voice=speaker_voice,
        breaks=(3, 7),
        sounds=((7, "breath"), (16, "cough")),
    )
    assert spoken_form(english) == "Oh, no, [breath]not [cough]again."


# the real model code, on random weights


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.builders.tiny_cosyvoice import make_tiny_cosyvoice

    return make_tiny_cosyvoice(tmp_path_factory.mktemp("tiny") / "CosyVoice2-tiny")


def in_process(folder: Path, tiny: Path) -> Speaker:
    options = {
        "model_dir": str(tiny),
        "aligner": "estimated",
        "voices": {
            "ann": {"reference_path": "ref.wav", "reference_text": "Hello.", "licence": "CC0-1.0"},
            "calm": {"reference_path": "ref.wav", "instruct": "Calmly.", "licence": "CC0-1.0"},
            "ann_ja": {"reference_path": "ref.wav", "licence": "CC0-1.0", "languages": ["ja"]},
            "nobody": {"speaker_id": "nobody", "licence": "CC0-1.0"},
        },
    }
    return make_speaker("cosyvoice", folder, options, folder)


@pytest.mark.slow
@pytest.mark.extras("cosyvoice")
def test_the_real_code_in_process(folder: Path, tiny: Path) -> None:
    speaker = in_process(folder, tiny)
    one, again, other = (spoken(speaker, "ann", seed=seed) for seed in (1, 1, 2))
    assert one.samples.tobytes() == again.samples.tobytes() != other.samples.tobytes()
    assert one.sample_rate_hz == 24_000 and one.word_time_source == "estimated"
    fast = spoken(speaker, "ann", seed=1, speed=1.5)
    assert fast.samples.size / one.samples.size == pytest.approx(1 / 1.5, abs=0.05)
    assert spoken(speaker, "calm", seed=1).samples.size > 1000
    assert spoken(speaker, "ann_ja", "はい、そうです。", language="ja", seed=1).samples.size > 1000
    with pytest.raises(SpeechError, match="the model has no speaker 'nobody'; none"):
        spoken(speaker, "nobody")
    assert speaker.uses_seed and speaker.version.startswith("model=CosyVoice2:")


@pytest.mark.slow
@pytest.mark.extras("cosyvoice")
def test_the_real_code_behind_our_server_gives_the_same_samples(folder: Path, tiny: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = [sys.executable, "-m", "duplexkit.builders.serve_cosyvoice", str(tiny), "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert any(f"http://127.0.0.1:{port}, 24000 Hz" in line for line in process.stderr), (
            "it did not start"
        )
        speaker = made(folder, f"http://127.0.0.1:{port}", timeout_s=60.0)
        over_http = spoken(speaker, "ann", seed=3, speed=1.25)
    finally:
        process.terminate()
        process.communicate(timeout=30)
    direct = in_process(folder, tiny)
    assert over_http.samples.tobytes() == spoken(direct, "ann", seed=3, speed=1.25).samples.tobytes()
    assert speaker.version == direct.version


@pytest.mark.slow
@pytest.mark.extras("cosyvoice")
def test_a_model_whose_weights_are_missing_is_refused(tiny: Path, tmp_path: Path) -> None:
    copy = tmp_path / "CosyVoice2-copy"
    shutil.copytree(tiny, copy)
    (copy / "flow-original.pt").unlink()
    (copy / "flow.pt").unlink()
    (tmp_path / "ref.wav").write_bytes(REFERENCE)
    with pytest.raises(SpeechError, match=r"the CosyVoice model in .*copy cannot be loaded"):
        in_process(tmp_path, copy)
