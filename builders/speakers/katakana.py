"""Japanese in katakana as it is spoken, for engines that read kanji as Chinese."""

from __future__ import annotations

from ... import SpeechError

_COMMAS = "、，,（）：；—―"
_STOPS = "。．.…‥"
_QUESTIONS, _SHOUTS = "？?", "！!"
_LONG = "〜～"
_SILENT = "「」『』・　 "
_MARKS = {
    **dict.fromkeys(_COMMAS, "、"),
    **dict.fromkeys(_STOPS, "。"),
    **dict.fromkeys(_QUESTIONS, "？"),
    **dict.fromkeys(_SHOUTS, "！"),
    **dict.fromkeys(_LONG, "ー"),
    **dict.fromkeys(_SILENT, ""),
}


def katakana(text: str) -> str:
    """Return `text` in katakana, particles as they are said (は as ワ), marks kept as 、。？！.

    Parameters
    ----------
    text : str
        Japanese; numbers and dates are read by the front-end.

    Raises
    ------
    SpeechError
        For a character that has no reading.
    """
    import pyopenjtalk

    out = ""
    for node in pyopenjtalk.run_frontend(text):
        surface, said = node["string"], node["pron"].replace("’", "")
        if node["mora_size"]:
            out += said
        elif all(char in _MARKS for char in surface):
            out += "".join(_MARKS[char] for char in surface)
        else:
            raise SpeechError(
                f"{surface!r} in {text!r} has no reading in Japanese: leave it out, or give one, [{surface}|かな]"
            )
    return out
