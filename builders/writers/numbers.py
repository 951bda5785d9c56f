"""The numbers that a text says, whether in digits, English words or kanji."""

from __future__ import annotations

import re

_UNIT_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TEN_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = {word: value for value, word in enumerate(_UNIT_WORDS)}
_TENS = {word: 10 * value for value, word in enumerate(_TEN_WORDS, 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    "first": "one",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
}
_KANJI_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0}
_KANJI_SMALL = {"十": 10, "百": 100, "千": 1000}
_KANJI_LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}

_AND_A_HALF = re.compile(rf"\b(?:({'|'.join(_TEN_WORDS)}) )?({'|'.join(_UNIT_WORDS)}|\d+) and a half\b")
_ENGLISH = re.compile(r"[a-z]+|\d[\d,]*(?:\.\d+)?|[.,;:?!]")
_JAPANESE = re.compile(
    r"(?<![数何幾])[〇零一二三四五六七八九十百千万億兆点]+|[0-9０-９][0-9０-９,，]*(?:[.．][0-9０-９]+)?[万億兆]?"
)
_TRANSLATION = str.maketrans("０１２３４５６７８９，．", "0123456789,.")


def numbers_in(text: str, language: str) -> tuple[float, ...]:
    """Return the numbers in the order they are said; "second" is left out, it is a time as often.

    Examples
    --------
    >>> numbers_in("In nineteen sixty-nine, about 3.5 million people", "en")
    (1969.0, 3500000.0)
    >>> numbers_in("千九百六十九年、およそ三百五十万人", "ja")
    (1969.0, 3500000.0)
    """
    return _japanese(text) if language.split("-")[0].lower() == "ja" else _english(text)


def _english(text: str) -> tuple[float, ...]:
    found: list[float] = []
    words = _ENGLISH.findall(_plain(text))
    place = 0
    while place < len(words):
        number, stop = _english_number([_cardinal(word) for word in words[place:]])
        if stop:
            found.append(number)
            place += stop
        else:
            place += 1
    return tuple(found)


def _plain(text: str) -> str:
    """Return the text with "a hundred", "half a million" and "two and a half" as plain numbers."""
    plain = text.lower().replace("-", " ").replace("’", "'")
    plain = re.sub(r"\bhalf an? (million|billion|thousand|hundred)\b", r"0.5 \1", plain)
    plain = re.sub(r"\ba (million|billion|thousand|hundred)\b", r"one \1", plain)
    return _AND_A_HALF.sub(_half, plain)


def _half(match: re.Match[str]) -> str:
    tens, unit = match.groups()
    return f"{_TENS.get(tens, 0) + int(_UNITS.get(unit, unit))}.5"


def _cardinal(word: str) -> str:
    """Return the number word of an ordinal or plural ("sixties", "nineteenth")."""
    if word in _ORDINALS:
        return _ORDINALS[word]
    if word.endswith("ies") and word[:-3] + "y" in _TENS:
        return word[:-3] + "y"
    if word.endswith("ieth") and word[:-4] + "y" in _TENS:
        return word[:-4] + "y"
    for ending in ("th", "s"):
        if word.endswith(ending) and word[: -len(ending)] in {*_UNITS, *_SCALES}:
            return word[: -len(ending)]
    return word


def _english_number(words: list[str], *, may_be_year: bool = True) -> tuple[float, int]:
    """Return the number at the start of the words, and how many words it takes (0: none)."""
    total = group = 0.0
    place = 0
    last = ""
    while place < len(words):
        word = words[place]
        following = words[place + 1 : place + 2]
        if word[0].isdigit() and last == "":
            group, last = float(word.replace(",", "")), "digits"
        elif word in _SCALES and last:
            if word == "hundred":
                group *= 100
            else:
                total, group = total + group * _SCALES[word], 0.0
            last = "scale"
        elif word in _TENS and last in ("", "scale"):
            group, last = group + _TENS[word], "tens"
        elif word in _UNITS and (last in ("", "scale") or (last == "tens" and 0 < _UNITS[word] < 10)):
            if last == "scale" and following and following[0] in _SCALES and words[place - 1] == "and":
                return total + group, place - 1  # "a hundred and a hundred and sixty": two numbers
            group, last = group + _UNITS[word], "unit"
        elif (
            may_be_year
            and last in ("unit", "tens")
            and 10 <= total + group <= 21
            and _after_century(word, following)
        ):
            if word == "oh":
                return (total + group) * 100 + _UNITS[following[0]], place + 2
            rest, used = _english_number(words[place:], may_be_year=False)
            return (total + group) * 100 + rest, place + used
        elif word == "point" and last and following and following[0] in _UNITS:
            decimals = ""
            place += 1
            while place < len(words) and words[place] in _UNITS and _UNITS[words[place]] < 10:
                decimals += str(_UNITS[words[place]])
                place += 1
            group, last = float(f"{group:.0f}.{decimals}"), "decimals"
            continue
        elif not (word == "and" and last == "scale" and following and following[0] in {*_TENS, *_UNITS}):
            break
        place += 1
    return (total + group, place) if last else (0.0, 0)


def _after_century(word: str, following: list[str]) -> bool:
    """Return whether a word goes on with a year: "nineteen sixty-nine", "twenty oh five"."""
    if word == "oh":
        return bool(following) and following[0] in _UNITS
    return word in _TENS or _UNITS.get(word, 0) >= 10


def _japanese(text: str) -> tuple[float, ...]:
    found = []
    for match in _JAPANESE.finditer(text):
        said = match.group().translate(_TRANSLATION).strip("点")
        if said:
            found.append(_digits(said) if said[0].isascii() else _kanji(said))
    return tuple(found)


def _digits(said: str) -> float:
    scale = _KANJI_LARGE.get(said[-1], 1)
    return float(said.rstrip("万億兆").replace(",", "")) * scale


def _kanji(said: str) -> float:
    """Return the value of kanji numerals: by places, or digit by digit."""
    whole, _, decimals = said.partition("点")
    scale = 1
    if decimals and decimals[-1] in _KANJI_LARGE:
        scale, decimals = _KANJI_LARGE[decimals[-1]], decimals[:-1]
    if whole and all(char in _KANJI_DIGITS for char in whole):
        value = int("".join(str(_KANJI_DIGITS[char]) for char in whole))
    else:
        value = total = group = 0
        digit: int | None = None
        for char in whole:
            if char in _KANJI_DIGITS:
                digit = _KANJI_DIGITS[char]
            elif char in _KANJI_SMALL:
                group, digit = group + (1 if digit is None else digit) * _KANJI_SMALL[char], None
            else:
                total, group, digit = total + (group + (digit or 0) or 1) * _KANJI_LARGE[char], 0, None
        value = total + group + (digit or 0)
    if decimals and all(char in _KANJI_DIGITS for char in decimals):
        return float(f"{value}." + "".join(str(_KANJI_DIGITS[char]) for char in decimals)) * scale
    return float(value) * scale
