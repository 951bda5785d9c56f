"""Text to the words and characters that error rates compare: case, marks, spelling and digits made alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ..speakers.words import is_mark

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_LARGE = re.compile("(hundred|thousand|million|billion)(th|ths|s)?")
_ORDINALS = {
    **{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"},
    **{"nine": "ninth", "twelve": "twelfth"},
}
_SYMBOLS = {"%": " percent", "&": " and ", "+": " plus ", "°": " degrees ", "=": " equals ", "@": " at "}
_SPELT = {
    "ok": "okay",
    "alright": "all right",
    "mm": "hmm",
    "mhm": "hmm",
    "hm": "hmm",
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "st": "saint",
    "versus": "vs",
    **{"grey": "gray", "programme": "program", "tonne": "ton", "tonnes": "tons", "plough": "plow"},
    **{"disc": "disk", "discs": "disks", "doughnut": "donut", "doughnuts": "donuts", "drier": "dryer"},
    **{"tyre": "tire", "tyres": "tires", "kerb": "curb", "pyjamas": "pajamas", "moustache": "mustache"},
    **{"yoghurt": "yogurt", "jewellery": "jewelry", "cheque": "check", "cheques": "checks", "axe": "ax"},
    **{"omelet": "omelette", "catalog": "catalogue", "dialog": "dialogue", "storey": "story"},
    **{"advisor": "adviser", "judgement": "judgment", "ageing": "aging", "enquiry": "inquiry"},
}
"""Words with two spellings, to one."""

MEASURED = {
    **{"km": "kilometers", "cm": "centimeters", "mm": "millimeters", "kg": "kilograms", "mg": "milligrams"},
    **{"ml": "milliliters", "mph": "miles per hour", "kph": "kilometers per hour", "lbs": "pounds"},
    **{"lb": "pounds", "oz": "ounces", "ft": "feet", "hrs": "hours", "mins": "minutes", "secs": "seconds"},
    **{"gb": "gigabytes", "mb": "megabytes", "kwh": "kilowatt hours", "kw": "kilowatts"},
}
"""Units that recognisers shorten after digits."""

_ONE_SPELLING = (
    (re.compile(r"\b(\w{3,})our(s|ed|ing|ful|ite)?\b"), r"\1or\2"),
    (re.compile(r"\b(\w{3,})is(e|es|ed|ing|ation)\b"), r"\1iz\2"),
    (re.compile(r"\b(\w+)tre(s?)\b"), r"\1ter\2"),
    (re.compile(r"\b(\w+[aeiou])ll(ed|ing|er|ers)\b"), r"\1l\2"),
)
"""British to American by ending; real words that this makes alike ("filling", "filing") are rare."""


def is_japanese(language: str) -> bool:
    """Return whether a language tag says Japanese."""
    return language.split("-")[0].lower() == "ja"


def normal_words(text: str, language: str) -> tuple[str, ...]:
    """Return the words that a word error rate compares.

    Lower case; punctuation and apostrophes left out, hyphens are spaces. English: digits, percent, dollars, clock
    times, telephone numbers, units, decades and ordinals as words, no "and" inside a number, no "a" or "one"
    before "hundred" and larger, no "o'clock"; British spellings and a few short forms replaced. Japanese: the
    characters.

    Examples
    --------
    >>> normal_words("Mr. O'Neil's 25% — at 10:30, OK?", "en")
    ('mister', 'oneils', 'twenty', 'five', 'percent', 'at', 'ten', 'thirty', 'okay')
    """
    if is_japanese(language):
        return tuple(normal_characters(text, language))
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"['’‘`]", "", text)
    is_english = language.lower().startswith("en")
    if is_english:
        text = _in_words(text)
    words = "".join(char if char.isalnum() or is_mark(char) else " " for char in text).split()
    return (
        _as_said([part for word in words for part in _SPELT.get(word, word).split()])
        if is_english
        else tuple(words)
    )


def normal_characters(text: str, language: str) -> str:
    """Return the characters that a character error rate compares, and that a speaking rate counts.

    NFKC, lower case, letters with the marks on them and digits only (long-vowel marks stay). For Japanese error
    rates see `kana_of`, which also unites kanji with kana.

    Examples
    --------
    >>> normal_characters("えーと、ＡＢ 3時？", "ja")
    'えーとab3時'
    """
    text = unicodedata.normalize("NFKC", text).lower()
    return "".join(char for char in text if char.isalnum() or is_mark(char) or char == "ー")


def kana_of(text: str) -> str:
    """Return a Japanese text as katakana as it is pronounced, so that 話, はな and ハナ compare alike."""
    import pyopenjtalk

    said = str(pyopenjtalk.g2p(unicodedata.normalize("NFKC", text), kana=True))
    return "".join(char for char in said if char.isalnum() or char == "ー")


def _in_words(text: str) -> str:
    """Return an English text in small letters with numbers and signs as words, and British spellings as American."""
    text = re.sub(r"\b(?:uh|ah)[ -]huh\b", "aha", text)
    text = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text)
    text = re.sub(r"\$(\d[\d,]*(?:\.\d+)?(?: (?:hundred|thousand|million|billion)\b)*)", r"\1 dollars", text)
    text = re.sub(r"(?<![\d.])1 dollars\b", "1 dollar", text)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"(?:\(\d{3}\) ?|\b\d{3}[ -])\d{3}-\d{4}\b|\b\d{3}-\d{4}\b", _telephone, text)
    text = re.sub(rf"(\d[\d.]*)\s?({'|'.join(MEASURED)})\b", _measured, text)
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", _clock, text)
    text = re.sub(r"\b(\d+)s\b", lambda m: f" {_plural(int(m[1]))} ", text)
    text = re.sub(r"\b(\d+)(st|nd|rd|th)\b", lambda m: f" {_ordinal(int(m[1]))} ", text)
    text = re.sub(r"\d+(?:\.\d+)?", _number, text)
    for symbol, word in _SYMBOLS.items():
        text = text.replace(symbol, word)
    for ending, replacement in _ONE_SPELLING:
        text = ending.sub(replacement, text)
    text = re.sub(r"\b(hundred|thousand|million|billion) and (?=\w)", r"\1 ", text)
    return text


def _as_said(words: Sequence[str]) -> tuple[str, ...]:
    """Return words without those that numbers are said with or without: "a hundred", "one hundred", "100".

    No "a" or "one" before hundreds and larger (twenty-one thousand keeps its own), no "o'clock" behind an hour;
    "one thousand eight hundred" is said "eighteen hundred" too.
    """
    said: list[str] = []
    for i, word in enumerate(words):
        following, before = words[i + 1 : i + 2], words[i - 1] if i else ""
        if word in ("a", "one") and before not in _TENS[2:] and _LARGE.fullmatch("".join(following)):
            continue
        if word == "oclock" and before in _UNITS[1:13]:
            continue
        said.append(word)
        if (
            word == "hundred"
            and said[-3:-2] == ["thousand"]
            and said[-2] in _UNITS[1:10]
            and _stands_alone(said[:-3])
        ):
            said[-3:] = [_UNITS[10 + _UNITS.index(said[-2])], "hundred"]
    return tuple(said)


def _stands_alone(before: Sequence[str]) -> bool:
    """Return whether no number goes before "thousand"."""
    return not before or before[-1] not in (*_UNITS, *_TENS[2:], "hundred")


def _telephone(found: re.Match[str]) -> str:
    """Return a telephone number digit by digit; a range of round numbers ("500-1000") as it is."""
    if re.fullmatch(r"\d{3}-\d{2}00", found[0]):
        return found[0]
    return " ".join(_UNITS[int(char)] for char in found[0] if char.isdigit())


def _measured(found: re.Match[str]) -> str:
    """Return a number and its unit, "1 km" in the singular."""
    unit, *rest = MEASURED[found[2]].split()
    one = {"feet": "foot"}.get(unit, unit.removesuffix("s"))
    return " ".join((found[1], one if found[1] == "1" else unit, *rest))


def _number(found: re.Match[str]) -> str:
    whole, _, decimals = found[0].partition(".")
    said = _year(int(whole)) if len(whole) == 4 and not decimals else _cardinal(int(whole))
    if decimals:
        said += " point " + " ".join(_UNITS[int(digit)] for digit in decimals)
    return f" {said} "


def _plural(value: int) -> str:
    """Return decades and centuries: 90s, 1990s, 1800s."""
    hundreds, rest = divmod(value, 100)
    said = f"{_cardinal(hundreds)} hundred" if 11 <= hundreds <= 19 and not rest else _year(value)
    return f"{said[:-1]}ies" if said.endswith("y") else f"{said}s"


def _clock(found: re.Match[str]) -> str:
    hour, minute = int(found[1]), int(found[2])
    if minute == 0:
        return f" {_cardinal(hour)} "
    return f" {_cardinal(hour)} {'oh ' if minute < 10 else ''}{_cardinal(minute)} "


def _cardinal(value: int) -> str:
    for scale, name in _SCALES:
        if value >= scale:
            rest = value % scale
            return f"{_cardinal(value // scale)} {name}" + (f" {_cardinal(rest)}" if rest else "")
    if value < 20:
        return _UNITS[value]
    return _TENS[value // 10] + (f" {_UNITS[value % 10]}" if value % 10 else "")


def _year(value: int) -> str:
    century, rest = divmod(value, 100)
    if not 10 <= century <= 20 or (century == 20 and rest < 10) or not rest:
        return _cardinal(value)
    return f"{_cardinal(century)} {'oh ' if rest < 10 else ''}{_cardinal(rest)}"


def _ordinal(value: int) -> str:
    *before, last = _cardinal(value).split()
    regular = (last[:-1] + "ie" if last.endswith("y") else last) + "th"
    return " ".join((*before, _ORDINALS.get(last, regular)))
