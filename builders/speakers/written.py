"""The text as an engine gets it that takes letters: readings put in, breaks as commas, sounds as tokens."""

from __future__ import annotations

from collections.abc import Mapping

from ... import SpeechError
from . import SpeechRequest

_HESITATION = frozenset(",.;:!?…—–、，。．？！；：")


def written(
    request: SpeechRequest,
    *,
    comma: str,
    sounds: Mapping[str, str],
    long_comma: str | None = None,
) -> str:
    """Return the text to send.

    Parameters
    ----------
    request : SpeechRequest
        Readings in phonemes are left out: letters stand for themselves.
    comma : str
        What is put at a break where no punctuation stands.
    sounds : mapping of str to str
        Token of each sound the engine makes; other sounds are left out. A token at the end of the text is
        put before its last word, since engines falter there.
    long_comma : str, optional
        What is put at a break after punctuation; nothing if not given.

    Raises
    ------
    SpeechError
        For a break or sound inside a word of letters, or outside the text.
    """
    _check_places(request)
    said = {r.start: r for r in request.readings if not r.is_phonemes}
    marks: dict[int, list[str]] = {}
    text = request.text
    end = len(text.rstrip(" .!?…。！？"))
    for position in request.breaks:
        if 0 < position < end:
            before = text[:position].rstrip()[-1:]
            token = long_comma if before in _HESITATION else comma
            marks.setdefault(position, []).extend([token] if token else [])
    for position, kind in request.sounds:
        if kind in sounds:
            at = position if position < end else _last_word(text[:end])
            marks.setdefault(at, []).append(sounds[kind])
    out, skip_to = "", 0
    for index in range(len(text) + 1):
        if index < skip_to:
            continue
        for token in marks.get(index, ()):
            out = _put(out, token)
        if index in said:
            out += said[index].spoken
            skip_to = said[index].stop
        elif index < len(text):
            out += text[index]
    return out


def _check_places(request: SpeechRequest) -> None:
    text = request.text
    for position in (*request.breaks, *(position for position, _ in request.sounds)):
        if not 0 <= position <= len(text):
            raise SpeechError(f"a mark at {position} is outside {text!r}, which has {len(text)} characters")
        around = text[max(position - 1, 0) : position + 1]
        if len(around) == 2 and around.isascii() and around.isalnum():
            raise SpeechError(f"a mark stands inside a word of {text!r}, before {text[position:][:10]!r}")


def _last_word(text: str) -> int:
    """Return where the last word of `text` starts; in a text without spaces, its last third."""
    space = text.rfind(" ")
    return space + 1 if space >= 0 else len(text) * 2 // 3


def _put(out: str, token: str) -> str:
    """Return `out` with a token: a mark stands at its last word, others between spaces."""
    if token.strip() in _HESITATION or token in _HESITATION:
        stripped = out.rstrip(" ")
        return stripped + token + out[len(stripped) :]
    return out + token
