"""The words of a text, in any language."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.speakers.words import letter_places, spells, words_of
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.markup import shown


def words(text: str, language: str) -> list[str]:
    return [text[word.start_char : word.stop_char] for word in words_of(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("मुझे दिन के बारे में बताओ।", "hi", ["मुझे", "दिन", "के", "बारे", "में", "बताओ"]),
        ("क्\u200dष है", "hi", ["क्\u200dष", "है"]),
        ("เขา กินไก่", "th", ["เขา", "กินไก่"]),
        ("كَتَبَ الدَّرْسَ.", "ar", ["كَتَبَ", "الدَّرْسَ"]),
        ("می\u200cخواهم بروم", "fa", ["می\u200cخواهم", "بروم"]),
        ("צה״ל וחיפה", "he", ["צה״ל", "וחיפה"]),
        (
            unicodedata.normalize("NFD", "déjà vu"),
            "fr",
            [unicodedata.normalize("NFD", w) for w in ("déjà", "vu")],
        ),
        ("col·lecció", "ca", ["col·lecció"]),
        ("葛\U000e0100飾区", "zh", ["葛\U000e0100", "飾", "区"]),
        ("❤️ sí", "es", ["sí"]),
        ("_ a_b", "de", ["a_b"]),
    ],
)
def test_a_letter_keeps_its_marks(text: str, language: str, wanted: list[str]) -> None:
    assert words(text, language) == wanted
    assert spells(wanted, text)


def bank_texts(language: str, step: int) -> list[str]:
    texts = [
        shown(turn.text)
        for scenario in ("user_interruption", "backchannel", "user_backchannel", "pause_handling", "mt_qa")
        for script in load_scripts(scenario, language)
        for turn in script.turns
    ]
    return texts[::step]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_words_of_the_bank_are_runs_of_letters_where_no_reading_rules_help(language: str) -> None:
    """No text of the bank has a mark that stands by itself: there a word is what it always was."""
    ideograph = r"[\u3400-\u4dbf\u4e00-\u9fff]"
    runs = re.compile(rf"{ideograph}|(?:(?!{ideograph})\w)+(?:['’.:-](?!{ideograph})\w+)*")
    texts = bank_texts(language, 1)
    assert len(texts) > 1000
    for text in texts:
        assert words(text, "qaa") == runs.findall(text)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_words_of_the_bank_are_those_of_the_reading_rules_and_spell_it(language: str) -> None:
    from duplexkit.builders.speakers.kokoro import phonemes

    for text in bank_texts(language, 25):
        said = [(g.start_char, g.stop_char) for g in phonemes(text, language)]
        assert [(w.start_char, w.stop_char) for w in words_of(text, language)] == said
        assert spells(words(text, language), text)


ALPHABET = "abé ,.'-_दिनी็ก่כָּかが猫5²❤️"


@given(st.text(alphabet=ALPHABET, max_size=16))
def test_words_hold_every_letter_and_spell_the_text(text: str) -> None:
    found = words_of(text, "qaa")
    inside = {place for word in found for place in range(word.start_char, word.stop_char)}
    assert set(letter_places(text)) <= inside
    assert spells([text[w.start_char : w.stop_char] for w in found], text)


@given(st.lists(st.text(alphabet="aébñöदिनीก่", min_size=1, max_size=6), min_size=1, max_size=5))
def test_weights_do_not_depend_on_the_normal_form(parts: list[str]) -> None:
    text = " ".join(parts)
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert [w.weight for w in words_of(composed, "qaa")] == [w.weight for w in words_of(apart, "qaa")]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (["stop", "wait"], "wait stop"),
        (["wait"], "wait stop"),
        (["wait", "stop", "stop"], "wait stop"),
        (["Wait", "stop"], "wait stop"),
        (["wait", ""], "wait"),
        (["दन"], "दिन"),
        (["दिन"], "दिनी"),
        (["म"], "मु"),
    ],
)
def test_other_words_do_not_spell_a_text(said: list[str], text: str) -> None:
    assert not spells(said, text)
