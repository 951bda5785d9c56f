"""Word times for engines that know none."""

import importlib.util
import json
import sys
import types
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import EngineError, RecipeError, SpeechError
from duplexkit.builders.speakers import Clip, ClipWord, SpeechRequest, make_speaker
from duplexkit.builders.speakers.align import (
    Align,
    Aligner,
    aligner_from,
    estimated_words,
    with_word_times,
)
from duplexkit.builders.speakers.align_sphinx import ARPABET, arpabet
from duplexkit.builders.speakers.words import words_of
from duplexkit.scenarios.conversation import Voice
from tests.builders.local_server import tones

RATE_HZ = 24_000
VOICE = Voice(
    id="x",
    engine="x",
    languages=("en",),
    gender="unknown",
    accent="",
    licence="x",
    attribution="",
    mix=(("x", 1.0),),
)
needs_sphinx = pytest.mark.skipif(
    importlib.util.find_spec("pocketsphinx") is None, reason="pocketsphinx is not installed (extra align)"
)


def request(text: str, language: str = "en") -> SpeechRequest:
    return SpeechRequest(text=text, language=language, voice=VOICE)


def clip(samples: np.ndarray) -> Clip:
    return Clip(samples=samples, sample_rate_hz=RATE_HZ, words=None, word_time_source="")


def test_a_silence_is_put_at_the_comma() -> None:
    """Tones of 1.0 and 0.4 s: in proportion alone, "and" would start inside the first."""
    words = estimated_words(
        tones(1.0, 0.4),
        sample_rate_hz=RATE_HZ,
        text="yes please do come in, and thank you very much",
        language="en",
    )
    onset_s = {word.text: word.onset_s for word in words}
    assert onset_s["yes"] == pytest.approx(0.3, abs=0.011)
    assert onset_s["and"] == pytest.approx(0.3 + 1.0 + 0.3, abs=0.011)
    assert words[-1].offset_s == pytest.approx(0.3 + 1.0 + 0.3 + 0.4, abs=0.02)


def test_equal_words_share_one_tone_equally() -> None:
    words = estimated_words(tones(1.2), sample_rate_hz=RATE_HZ, text="la la la la", language="fr")
    assert [w.onset_s for w in words] == pytest.approx([0.3, 0.6, 0.9, 1.2], abs=0.02)


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("我想去北京，好吗？", "zh", list("我想去北京好吗")),
        ("¿Qué tal, José-María?", "es", ["Qué", "tal", "José-María"]),
        ("あのー、東京は晴れです。", "ja", ["あのー", "東京", "は", "晴れ", "です"]),
        ("It's half-past 25%.", "en", ["It's", "half-past", "25%"]),
    ],
)
def test_words_of_languages(text: str, language: str, wanted: list[str]) -> None:
    assert [text[w.start_char : w.stop_char] for w in words_of(text, language)] == wanted


@settings(deadline=None, max_examples=60)
@given(
    words=st.lists(st.text(alphabet="abcdéß", min_size=1, max_size=8), min_size=1, max_size=12),
    marks=st.lists(st.sampled_from([" ", ", ", ". "]), min_size=12, max_size=12),
    lengths_s=st.lists(st.floats(min_value=0.05, max_value=0.8), min_size=1, max_size=5),
)
def test_estimates_are_complete_ordered_and_inside(
    words: list[str], marks: list[str], lengths_s: list[float]
) -> None:
    text = "".join(word + mark for word, mark in zip(words, marks, strict=False)).strip()
    samples = tones(*lengths_s)
    timed = estimated_words(samples, sample_rate_hz=RATE_HZ, text=text, language="de")
    assert [word.text for word in timed] == words
    edges = [t for word in timed for t in (word.onset_s, word.offset_s)]
    assert edges == sorted(edges) and all(word.offset_s > word.onset_s for word in timed)
    assert edges[0] == pytest.approx(0.3, abs=0.011) and edges[-1] == pytest.approx(
        samples.size / RATE_HZ - 0.3, abs=0.02
    )


def test_silence_and_no_words_are_refused() -> None:
    with pytest.raises(SpeechError, match="no speech in the clip"):
        estimated_words(np.zeros(RATE_HZ, dtype=np.float32), sample_rate_hz=RATE_HZ, text="hi", language="de")
    with pytest.raises(SpeechError, match="no word in '…'"):
        estimated_words(tones(1.0), sample_rate_hz=RATE_HZ, text="…", language="de")


def own(words: list[tuple[int, int, float, float]]) -> Aligner:
    text = "yes no"
    given = [
        ClipWord(text=text[a:b], start_char=a, stop_char=b, onset_s=on_s, offset_s=off_s)
        for a, b, on_s, off_s in words
    ]
    return Aligner(source="own", version="1", align=lambda samples, rate_hz, text, language: given)


def test_an_aligner_of_ones_own_is_used_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("my_aligner")

    def align(samples: np.ndarray, sample_rate_hz: int, text: str, language: str) -> list[ClipWord]:
        assert samples.shape == (tones(1.0).size,) and sample_rate_hz == RATE_HZ and language == "en"
        return [ClipWord(text=text, start_char=0, stop_char=len(text), onset_s=0.4, offset_s=1.2)]

    align.version = "7"
    module.align = align
    monkeypatch.setitem(__import__("sys").modules, "my_aligner", module)
    aligner = aligner_from("my_aligner:align")
    assert aligner.version == "my_aligner:align=7"
    timed = with_word_times(clip(tones(1.0)), request("yes"), aligner)
    assert timed.word_time_source == "my_aligner:align" and timed.words[0].onset_s == 0.4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([(0, 3, 0.3, 0.5)], "'n' at 4 of 'yes no' is in no word"),
        ([(4, 6, 0.3, 0.5), (0, 3, 0.5, 0.6)], "not in the order"),
        ([(0, 3, 0.5, 0.7), (4, 6, 0.6, 0.8)], "not in order inside the clip"),
        ([(0, 3, 0.5, 0.7), (4, 6, 0.8, 9.0)], "not in order inside the clip"),
    ],
)
def test_an_aligner_that_is_wrong_is_found_out(words: list, message: str) -> None:
    with pytest.raises(SpeechError, match=f"aligner own: .*{message}"):
        with_word_times(clip(tones(1.0)), request("yes no"), own(words))


def test_a_vowel_sign_must_be_in_a_word_too() -> None:
    words = [ClipWord(text="म", start_char=0, stop_char=1, onset_s=0.3, offset_s=0.5)]
    aligner = Aligner(source="own", version="1", align=lambda *asked: words)
    with pytest.raises(SpeechError, match=r"aligner own: .* at 1 of 'मु' is in no word"):
        with_word_times(clip(tones(1.0)), request("मु", "hi"), aligner)


def failing(*asked: object) -> list[ClipWord]:
    raise ValueError("no model\nsecond line")


def half(*asked: object) -> Iterator[ClipWord]:
    yield ClipWord(text="yes", start_char=0, stop_char=3, onset_s=0.3, offset_s=0.5)
    raise KeyError("no")


@pytest.mark.parametrize(
    ("align", "message"),
    [
        (failing, "failed on 'yes no': ValueError: no model$"),
        (half, "failed on 'yes no': KeyError: the key 'no' is missing"),
        (lambda: None, "failed on 'yes no': TypeError"),
        (lambda *asked: 5, "returned 5 for 'yes no': .*wanted a list of ClipWord, or None"),
        (lambda *asked: "yes no", "returned .*wanted a list of ClipWord"),
        (lambda *asked: [("yes", 0.3, 0.5)], "returned .*wanted a list of ClipWord"),
        (
            lambda *asked: [ClipWord(text="yes", start_char=0, stop_char=3, onset_s=None, offset_s=0.5)],
            "returned .*wanted a list of ClipWord",
        ),
        (
            lambda *asked: [ClipWord(text="yes", start_char=0.5, stop_char=3, onset_s=0.3, offset_s=0.5)],
            "returned .*wanted a list of ClipWord",
        ),
    ],
)
def test_an_aligner_that_fails_stops_the_build_and_is_named(align: Align, message: str) -> None:
    with pytest.raises(EngineError, match=f"the aligner 'own' {message}"):
        with_word_times(clip(tones(1.0)), request("yes no"), Aligner(source="own", version="1", align=align))


def test_an_aligners_numbers_and_spelling_become_the_texts() -> None:
    words = [
        ClipWord(
            text="YES",
            start_char=np.int64(0),
            stop_char=np.int64(3),
            onset_s=np.float32(0.25),
            offset_s=np.float32(0.5),
        )
    ]
    aligner = Aligner(source="own", version="1", align=lambda *asked: words)
    timed = with_word_times(clip(tones(1.0)), request("yes"), aligner)
    assert json.dumps([asdict(word) for word in timed.words]) == (
        '[{"text": "yes", "start_char": 0, "stop_char": 3, "onset_s": 0.25, "offset_s": 0.5}]'
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("align = 3", "that is 3; wanted a function"),
        ("1 / 0", "division by zero"),
        ("def align(:", "invalid syntax"),
        ("import sys; sys.exit('not now')", "not now"),
        ("import no_such_module_of_anybody", "No module named"),
    ],
)
def test_an_aligner_whose_module_is_wrong_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, message: str
) -> None:
    (tmp_path / "wrong_aligner.py").write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wrong_aligner", raising=False)
    with pytest.raises(RecipeError, match=rf"speech\.options\.aligner = 'wrong_aligner:align': .*{message}"):
        aligner_from("wrong_aligner:align")


@pytest.mark.parametrize(
    "name", ["nonsense", "a..b:c", "no.such.module:align", "math:no_such_function", "os;x:y"]
)
def test_an_aligner_that_does_not_exist_is_named(name: str) -> None:
    with pytest.raises(RecipeError, match=r"speech\.options\.aligner = "):
        aligner_from(name)


def test_where_no_aligner_speaks_the_language_times_are_marked_estimated() -> None:
    timed = with_word_times(clip(tones(1.0)), request("oui", "fr"), aligner_from("auto"))
    assert timed.word_time_source == "estimated" and len(timed.words) == 1


@pytest.mark.skipif(importlib.util.find_spec("pocketsphinx") is not None, reason="pocketsphinx is installed")
def test_auto_without_pocketsphinx_estimates_and_pocketsphinx_says_what_to_install() -> None:
    assert aligner_from("auto").source == "estimated"
    with pytest.raises(SpeechError, match="pip install pocketsphinx"):
        aligner_from("pocketsphinx")


def test_every_english_sound_has_its_arpabet_sound() -> None:
    sounds = set(
        [
            "AA",
            "AE",
            "AH",
            "AO",
            "AW",
            "AY",
            "B",
            "CH",
            "D",
            "DH",
            "EH",
            "ER",
            "EY",
            "F",
            "G",
            "HH",
            "IH",
            "IY",
            "JH",
            "K",
            "L",
            "M",
            "N",
            "NG",
            "OW",
            "OY",
            "P",
            "R",
            "S",
            "SH",
            "T",
            "TH",
            "UH",
            "UW",
            "V",
            "W",
            "Y",
            "Z",
            "ZH",
        ]
    )
    assert set(ARPABET.values()) == sounds  # the 39 of CMUdict
    assert arpabet("hˈæpi bˈɜɹθdˌA") == ("HH", "AE", "P", "IY", "B", "ER", "TH", "D", "EY")


@needs_sphinx
def test_pocketsphinx_agrees_with_the_networks_own_times(tmp_path: Path) -> None:
    """The bar: spread (mean distance after the aligner's own bias) at most 25 ms, 95 % within 60 ms."""
    speaker = make_speaker("hibari", tmp_path)
    texts = [
        "The quick brown fox jumps over the lazy dog, and then it sleeps.",
        "Could you remind me to water the plants at half past seven tomorrow?",
        "I'd rather walk along the river than wait for another bus.",
        "She bought twelve eggs, a loaf of bread, and three bottles of milk.",
    ]
    distances_s = []
    for k, text in enumerate(texts * 2):
        voice = speaker.voices()[("heart", "heart_high")[k // len(texts)]]
        known = speaker.speak(SpeechRequest(text=text, language="en", voice=voice, seed=k))
        found = with_word_times(
            Clip(samples=known.samples, sample_rate_hz=known.sample_rate_hz, words=None, word_time_source=""),
            request(text),
            aligner_from("pocketsphinx"),
        )
        assert found.word_time_source == "pocketsphinx"
        assert [w.text for w in found.words] == [w.text for w in known.words]
        distances_s += [a.onset_s - b.onset_s for a, b in zip(found.words[1:], known.words[1:], strict=True)]
    distances_s = np.array(distances_s)
    bias_s = np.median(distances_s)
    assert abs(bias_s) < 0.02
    assert np.abs(distances_s - bias_s).mean() <= 0.025
    assert np.percentile(np.abs(distances_s - bias_s), 95) <= 0.060


@needs_sphinx
def test_pocketsphinx_leaves_other_languages_and_other_words_to_the_estimate(tmp_path: Path) -> None:
    aligner = aligner_from("pocketsphinx")
    assert with_word_times(clip(tones(1.0)), request("oui", "fr"), aligner).word_time_source == "estimated"
    long = "a text of very many words that no tone of a tenth of a second can hold " * 4
    assert with_word_times(clip(tones(0.1)), request(long), aligner).word_time_source == "estimated"
