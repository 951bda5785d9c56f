"""ChatTTS: the text it is given, and its real code on a tiny model of random weights."""

import json
from pathlib import Path

import numpy as np
import pytest

from duplexkit import EngineError, RecipeError, SpeechError
from duplexkit.builders.speakers import Clip, Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.chattts_text import chattts_text
from duplexkit.scenarios.bank import SHIPPED
from duplexkit.scenarios.conversation import Voice
from duplexkit.scenarios.markup import parse

VOICE = Voice(
    id="x",
    engine="chattts",
    languages=("en", "zh"),
    gender="unknown",
    accent="",
    licence="x",
    attribution="",
    mix=(),
)


def text_of(text: str, language: str = "en", **more: object) -> str:
    return chattts_text(SpeechRequest(text=text, language=language, voice=VOICE, **more))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I can't, it's 3 o'clock!", "I can not, its three oclock."),
        ("Don't you think? They'd better not.", "Do you not think. They had better not."),
        ("In 1990, the 3rd of 1,250 paid 2.5%.", "In nineteen ninety, the third of one thousand, two hundred and "
         "fifty paid two point five percent."),
        ("Wait… really?! Dr. Wu's café—now", "Wait. really. Doctor Wus cafe, now"),
    ],
)  # fmt: skip
def test_english_is_written_as_it_is_kept(text: str, wanted: str) -> None:
    assert text_of(text) == wanted


def test_marks_become_tokens_inside_the_text() -> None:
    marked = text_of(
        "I want tea, and toast.", breaks=(7, 12, 22), sounds=((7, "laugh"), (22, "laugh"), (2, "cough"))
    )
    assert marked == "I want [uv_break] [laugh] tea, [lbreak] and [laugh] toast."


@pytest.mark.parametrize("position", [0, 1, 2, 6, 7, 10, 11, 12, 15, 16, 21, 22])
def test_no_token_stands_at_an_end_where_it_makes_noise(position: int) -> None:
    words = text_of("I want tea, and toast.", breaks=(position,), sounds=((position, "laugh"),)).split()
    assert words[-1] == "toast." and [w.strip(",.") for w in words if "[" not in w] == [
        "I",
        "want",
        "tea",
        "and",
        "toast",
    ]


@pytest.mark.parametrize("position", [3, 9, 20, 23])
def test_a_mark_inside_a_word_or_outside_is_refused(position: int) -> None:
    with pytest.raises(SpeechError, match=r"inside a word|is outside"):
        text_of("I want tea, and toast.", breaks=(position,))


def test_chinese_is_kept_in_its_own_marks() -> None:
    assert text_of("我想去北京！好吗？", "zh", breaks=(2,)) == "我想 [uv_break] 去北京。 好吗。"


@pytest.mark.parametrize(
    ("text", "language", "message"),
    [
        ("我3点去", "zh", "'3' in '我3点去': ChatTTS drops digits"),
        ("こんにちは", "ja", "ChatTTS speaks en and zh, not 'ja'"),
        ("Привет", "en", "would leave 'П' of 'Привет' out"),
        ("我ё", "zh", "would leave 'ё'"),
        ("…", "en", "there is no word"),
    ],
)
def test_what_would_be_lost_is_refused(text: str, language: str, message: str) -> None:
    with pytest.raises(SpeechError, match=message):
        text_of(text, language)


def test_every_english_line_of_the_bank_can_be_given() -> None:
    kept = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,. []_")
    n_lines = 0
    for path in sorted((SHIPPED / "en").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            for turn in json.loads(line)["turns"]:
                marked = parse(turn["text"])
                breaks = tuple(mark.position for mark in marked.places("pause"))
                assert set(text_of(marked.text, readings=marked.readings, breaks=breaks)) <= kept
                n_lines += 1
    assert n_lines > 1000


# the real package, on random weights


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.builders.tiny_chattts import make_tiny_chattts

    return make_tiny_chattts(tmp_path_factory.mktemp("chattts"))


def made(folder: Path, cache_dir: Path, **more: object) -> Speaker:
    options = {
        "source": "custom", "model_dir": str(folder), "temperature": 1.0, "top_p": 1.0, "top_k": 600,
        "asr_check": "off", "aligner": "estimated", "n_voices": 2, "device": "cpu", **more,
    }  # fmt: skip
    return make_speaker("chattts", cache_dir, options)


@pytest.fixture(scope="module")
def speaker(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Speaker:
    return made(tiny, tmp_path_factory.mktemp("cache"))


def spoken(speaker: Speaker, voice: int = 0, **more: object) -> Clip:
    asked = {
        "text": "I want tea, please.", "language": "en", "seed": 1, "breaks": (7,), "sounds": ((12, "laugh"),), **more,
    }  # fmt: skip
    return speaker.speak(SpeechRequest(voice=list(speaker.voices().values())[voice], **asked))


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_the_seed_the_voice_and_the_tokens_decide_the_clip(speaker: Speaker) -> None:
    one, again = spoken(speaker), spoken(speaker)
    assert one.samples.tobytes() == again.samples.tobytes() and one.sample_rate_hz == 24_000
    others = [
        spoken(speaker, seed=2),
        spoken(speaker, 1),
        spoken(speaker, sounds=()),
        spoken(speaker, breaks=()),
    ]
    assert len({clip.samples.tobytes() for clip in (one, *others)}) == 5
    assert [w.text for w in one.words] == [
        "I",
        "want",
        "tea",
        "please",
    ] and one.word_time_source == "estimated"


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_chinese_passes_through(speaker: Speaker) -> None:
    assert spoken(speaker, text="今天我们去北京。", language="zh", breaks=(2,), sounds=()).samples.size > 1000


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_a_text_that_comes_to_no_end_is_refused_after_its_attempts(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(
        SpeechError, match=r"in 2 attempts \(incomplete result. hit max_new_token: 2; incomplete"
    ):
        spoken(made(tiny, tmp_path, max_new_token=2, attempts=2))


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_drawn_voices_are_kept_and_given_strings_are_used(
    speaker: Speaker, tiny: Path, tmp_path: Path
) -> None:
    def mixes(of: Speaker) -> dict[str, object]:
        return {name: voice.mix for name, voice in of.voices().items()}

    first = made(tiny, tmp_path)
    (path,) = (tmp_path / "chattts").glob("voices-*-0.json")
    drawn = json.loads(path.read_text("utf-8"))
    more = made(tiny, tmp_path, n_voices=3)
    assert list(first.voices()) == list(drawn) == ["chattts-0-000", "chattts-0-001"]
    assert mixes(first).items() <= mixes(more).items()
    assert mixes(first) == mixes(speaker)  # drawn anew in another folder
    assert set(mixes(first).values()).isdisjoint(mixes(made(tiny, tmp_path, voice_seed=1)).values())
    voices = {"mine": {"speaker": drawn["chattts-0-001"], "gender": "female"}}
    given = made(tiny, tmp_path, voices=voices)
    assert given.voices()["mine"].licence == "CC-BY-NC-4.0"
    assert given.voices()["mine"].mix == first.voices()["chattts-0-001"].mix
    assert spoken(given).samples.tobytes() == spoken(speaker, 1).samples.tobytes()


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_what_is_no_speaker_string_is_refused(tiny: Path, tmp_path: Path) -> None:
    from ChatTTS.config import Config
    from ChatTTS.model import Speaker as Strings

    larger = Strings(Config().gpt.hidden_size, Config().spk_stat).sample_random()  # of another model
    for speaker in ("", "x", "一", "a" * 400, "𠀀𠀀𠀀", larger):
        with pytest.raises(RecipeError, match=r"voices\.v\.speaker = .*wanted 64 numbers as ChatTTS"):
            made(tiny, tmp_path, voices={"v": {"speaker": speaker}})


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_damaged_strings_are_drawn_anew(tiny: Path, tmp_path: Path) -> None:
    first = made(tiny, tmp_path).voices()
    (path,) = (tmp_path / "chattts").glob("voices-*-0.json")
    for damaged in (b"{", b"[1]", b'{"chattts-0-000": 1}', b"\xff"):
        path.write_bytes(damaged)
        assert made(tiny, tmp_path).voices() == first


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_a_device_that_is_not_there_is_said(tiny: Path, tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(EngineError, match="weights cannot be loaded: "):
        spoken(made(tiny, tmp_path, device="cuda"))


@pytest.mark.slow
@pytest.mark.extras("chattts")
@pytest.mark.parametrize(
    "said",
    ["[]", "{", '{"sha256": 1}', '{"sha256": {}, "config": 1}', '{"sha256": {}, "config": {"gpt": 1}}',
     '{"sha256": {}, "config": {"gpt": {"hidden_size": "x"}}}'],
)  # fmt: skip
def test_a_folder_that_says_nonsense_of_itself_is_refused(tmp_path: Path, said: str) -> None:
    (tmp_path / "duplexkit.json").write_text(said)
    with pytest.raises(RecipeError, match=r"duplexkit\.json"):
        made(tmp_path, tmp_path)


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_changed_weights_are_refused_and_missing_ones_named(tiny: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(tiny, copy)
    with (copy / "asset" / "Embed.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(SpeechError, match=r"weights cannot be loaded from .*copy: .*Embed\.safetensors"):
        spoken(made(copy, tmp_path))
    with pytest.raises(RecipeError, match=r"model_dir: there is no folder"):
        made(tmp_path / "none", tmp_path)
    (copy / "duplexkit.json").write_text('{"config": {"nonsense": 1}, "sha256": {}}')
    with pytest.raises(RecipeError, match="ChatTTS has no setting 'nonsense'"):
        made(copy, tmp_path)


@pytest.mark.slow
@pytest.mark.extras("chattts")
def test_what_the_engine_says_of_itself(speaker: Speaker) -> None:
    assert speaker.licence == "CC-BY-NC-4.0" and speaker.uses_seed
    assert "chattts=0.2.5" in speaker.version and "torch=" in speaker.version
    with pytest.raises(SpeechError, match=r"speed 1\.9"):
        spoken(speaker, speed=1.9)


@pytest.mark.slow
@pytest.mark.extras("quality")
def test_the_recogniser_hears_tokens_that_are_read_out(tmp_path: Path) -> None:
    from duplexkit.builders.speakers.heard import heard_words

    hibari = make_speaker("hibari", tmp_path)
    clip = hibari.speak(
        SpeechRequest(
            text="I want a laugh and some tea.", language="en", voice=hibari.voices()["heart"], seed=1
        )
    )
    heard = heard_words(clip.samples, sample_rate_hz=clip.sample_rate_hz)
    assert "laugh" in heard and "tea" in heard
    assert np.isfinite(clip.samples).all()
