"""Text as ChatTTS keeps it: letters, Chinese characters, commas, full stops, and its own tokens."""

from __future__ import annotations

import re
import unicodedata

from ... import SpeechError
from . import SpeechRequest
from .options import speaks
from .written import written

SOUNDS = {"laugh": " [laugh] "}
BREAK, LONG_BREAK = " [uv_break] ", " [lbreak] "
SPOKEN_TOKENS = frozenset({"uv", "uvbreak", "lbreak", "laugh", "break"})
"""What is heard where ChatTTS reads a token out instead of obeying it."""

_TOKEN = re.compile(r"(\[\w+\])")
_WHOLE = tuple(
    (re.compile(rf"\b{short}\b", re.IGNORECASE), long)
    for short, long in (
        (r"won't (I|you|he|she|it|we|they)", r"will \1 not"),
        ("won't", "will not"),
        (r"can't (I|you|he|she|it|we|they)", r"can \1 not"),
        ("can't", "can not"),
        ("shan't", "shall not"),
        ("ain't", "is not"),
        ("y'all", "you all"),
    )
)
_TITLES = tuple(
    (re.compile(rf"\b{short}\."), long)
    for short, long in (
        ("Mr", "Mister"),
        ("Mrs", "Missus"),
        ("Ms", "Miss"),
        ("Dr", "Doctor"),
        ("Prof", "Professor"),
    )
)
_ENDINGS = (
    (re.compile(r"\b([a-z]+)n't (I|you|he|she|it|we|they)\b", re.IGNORECASE), r"\1 \2 not"),
    (re.compile(r"\b([a-z]+)n't\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"'re\b", re.IGNORECASE), " are"),
    (re.compile(r"'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"'m\b", re.IGNORECASE), " am"),
    (re.compile(r"'d(?= better\b)", re.IGNORECASE), " had"),
    (re.compile(r"'d\b", re.IGNORECASE), " would"),
)
_NUMBER = re.compile(r"(\d+(?:,\d{3})*)(\.\d+)?(st|nd|rd|th)?")
_MARKS_EN = str.maketrans(
    {
        "?": ".",
        "!": ".",
        "…": ".",
        ";": ",",
        ":": ",",
        "—": ",",
        "–": ",",
        "(": ",",
        ")": ",",
        "-": " ",
        "/": " ",
    }
    | dict.fromkeys("'\"“”‘’«»*_~`", "")
)
_MARKS_ZH = str.maketrans(
    {
        "？": "。",
        "！": "。",
        "…": "。",
        "；": "，",
        "：": "，",
        "—": "，",
        "（": "，",
        "）": "，",
        "?": "。",
        "!": "。",
    }
    | {",": "，", ".": "。", ";": "，", ":": "，"}
    | dict.fromkeys("“”‘’《》「」『』·'\"", "")
)
_KEPT_EN = re.compile(r"[A-Za-z,. ]")
_KEPT_ZH = re.compile(r"[\u4e00-\u9fffA-Za-z，。、 ]")


def chattts_text(request: SpeechRequest) -> str:
    """Return what is given to ChatTTS: tokens from the request's breaks and sounds, the rest as it keeps it.

    Raises
    ------
    SpeechError
        For another language than English or Chinese, a digit in Chinese, or a character that would be lost.

    Notes
    -----
    ChatTTS drops what it does not know without a word, so "it's 3" would be heard as "its". Numbers are
    written out and short forms made long; "'s" only loses its apostrophe, which sounds the same.
    """
    if speaks(("en",), request.language):
        plain = _english
    elif speaks(("zh",), request.language):
        plain = _chinese
    else:
        raise SpeechError(f"ChatTTS speaks en and zh, not {request.language!r} ({request.text!r})")
    marked = written(request, comma=BREAK, long_comma=LONG_BREAK, sounds=SOUNDS)
    pieces = _TOKEN.split(marked)
    said = [piece if k % 2 else plain(piece, request.text) for k, piece in enumerate(pieces)]
    text = re.sub(r" +", " ", " ".join(said)).strip()
    text = re.sub(r" ([,.，。、])", r"\1", text)
    if not re.search(r"[^\W_]", _TOKEN.sub("", text)):
        raise SpeechError(f"there is no word in {request.text!r}")
    return text


def _english(piece: str, text: str) -> str:
    from hibari.g2p.normalize import normalize

    piece = piece.replace("’", "'")
    for pattern, long in (*_WHOLE, *_TITLES, *_ENDINGS):
        piece = pattern.sub(long, piece)
    piece = (
        _NUMBER.sub(_number_words, normalize(piece))
        .replace("&", " and ")
        .replace("%", " percent")
        .translate(_MARKS_EN)
    )
    decomposed = unicodedata.normalize("NFKD", piece)
    piece = "".join(char for char in decomposed if not unicodedata.combining(char))
    _check(piece, _KEPT_EN, text)
    return _tidy(piece, ",", ".")


def _number_words(match: re.Match[str]) -> str:
    """Return a number in words; four digits without a comma are a year, as English reads them."""
    from hibari.g2p import numbers

    whole, fraction, ending = match.group(1).replace(",", ""), match.group(2), match.group(3)
    if fraction:
        return str(numbers.decimal(whole + fraction)) + (ending or "")
    if ending:
        return str(numbers.ordinal(int(whole)))
    if len(match.group(1)) == 4:
        return str(numbers.year(int(whole)))
    return str(numbers.cardinal(int(whole)))


def _chinese(piece: str, text: str) -> str:
    digit = re.search(r"\d", piece)
    if digit:
        raise SpeechError(
            f"{digit.group()!r} in {text!r}: ChatTTS drops digits; write numbers in characters, as they are read"
        )
    piece = piece.translate(_MARKS_ZH)
    _check(piece, _KEPT_ZH, text)
    return _tidy(piece, "，", "。")


def _check(piece: str, kept: re.Pattern[str], text: str) -> None:
    lost = next((char for char in piece if not kept.match(char) and not char.isspace()), None)
    if lost is not None:
        raise SpeechError(f"ChatTTS would leave {lost!r} of {text!r} out: write it in words")


def _tidy(piece: str, comma: str, stop: str) -> str:
    """Return the piece with one mark where several stand together, the stronger one."""
    both = re.escape(comma + stop)
    piece = re.sub(rf"[{both}\s]*{re.escape(stop)}[{both}\s]*", f"{stop} ", piece)
    return re.sub(rf"(?:{re.escape(comma)}\s*)+", f"{comma} ", piece)
