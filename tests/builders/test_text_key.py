"""Which spellings are the same words, and which are not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.speakers.text_key import text_key
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.markup import shown


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("दिन", "दान"),
        ("ไก่", "ไก้"),
        ("كَتَبَ", "كُتِبَ"),
        ("が", "か"),
        ("résumé", "resume"),
        ("Maße", "Masse"),
        ("-5 degrees", "5 degrees"),
        ("−5 degrees", "5 degrees"),
        ("— 5 degrees", "5 degrees"),
        ("C++", "C"),
        ("50%", "50"),
        ("$5", "5"),
        ("A & B", "A B"),
        ("10⁵", "105"),
        ("3.5", "35"),
        ("No. 5", "No 5"),
        ("2 – 3", "2 3"),
        ("1、2", "1 2"),
        ("a nice", "an ice"),
        ("p.m. now", "pm now"),
        ("we're", "were"),
        ("re-sign", "resign"),
    ],
)
def test_other_words(one: str, other: str) -> None:
    assert text_key(one) != text_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wait, STOP!", " wait   stop"),
        ("Wait — stop", "wait… stop"),
        ("Well—maybe", "well maybe"),
        ("“Stop”, he said (twice).", "stop he said twice"),
        ("It’s late.", "it's late"),
        ("¿Qué tal?", "qué tal"),
        ("It is 5.", "it is 5"),
        ("ちょっと待って。", "ちょっと待って"),
        ("はい！そう", "はい!そう"),
        ("ＡＢ ３", "ab 3"),
        ("ｶﾞｽ", "ガス"),
        ("है। कल", "है कल"),
        ("\ufeffhi", "hi"),
    ],
)
def test_the_same_words(one: str, other: str) -> None:
    assert text_key(one) == text_key(other)


ALPHABET = "aB éñßдЖदिनीไก่ภาכָּكَتがガ猫 ,.!?-–—+%²5'’\"()"


@given(st.text(alphabet=ALPHABET, max_size=20))
def test_the_normal_form_of_a_text_does_not_matter(text: str) -> None:
    assert text_key(unicodedata.normalize("NFD", text)) == text_key(unicodedata.normalize("NFC", text))


@given(st.text(alphabet=ALPHABET, max_size=20))
def test_only_marks_and_spaces_are_lost(text: str) -> None:
    """Nothing that is written with a letter, a digit, a vowel sign or a spoken sign goes."""

    def heard(one: str) -> str:
        lower = unicodedata.normalize("NFC", one).lower().replace("’", "'")
        return "".join(char for char in lower if char not in ' ,.!?–—"()')

    assert heard(text_key(text)) == heard(text)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_two_texts_of_the_bank_are_the_same_words(language: str) -> None:
    """Else a table of the bank's recordings would be refused."""
    texts = {
        shown(turn.text)
        for scenario in ("user_interruption", "user_backchannel", "talking_to_others", "pause_handling")
        for script in load_scripts(scenario, language)
        for turn in script.turns
    }
    assert len(texts) > 300 and len({text_key(text) for text in texts}) == len(texts)
