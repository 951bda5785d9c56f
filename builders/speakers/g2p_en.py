"""English text to phoneme groups, by the reading rules of hibari's G2P."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ... import SpeechError
from ...scenarios.markup import Reading
from .en_tokens import PUNCTUATION, EnglishToken, english_rules, english_tokens, without_accents
from .phonemes import MARKS, PhonemeGroup, with_breaks

if TYPE_CHECKING:
    from hibari.g2p import G2P

INTERJECTIONS = {
    "mm-hmm": "mhˈʌm",
    "mm-hm": "mhˈʌm",
    "mhm": "mhˈʌm",
    "hmm": "hˈʌm",
    "hm": "hˈʌm",
    "uh-huh": "ʌhˈʌ",
}
"""Sounds that the lexicon spells without a vowel, so that the network does not say them well."""

OTHER_SIGNS = frozenset("“”‘’«»–—…°¢£€¥₹₩½¼¾²³")
_HESITATION = ",.;:!?…—–"
_PUNCT_TAGS = {",": ",", ".": ".", "!": ".", "?": ".", ":": ":", ";": ":", "…": ":", "—": ":", "–": ":"}
_LOOSE_MARK = re.compile(r"\s+(?=[,.;:!?])")
_QUOTES = frozenset('"“”«»')
_OPENING = frozenset("\"'([“«—")
_INTERJECTION = re.compile(
    rf"(?<![\w'-])(?:{'|'.join(sorted(INTERJECTIONS, key=len, reverse=True))})(?![\w'-])", re.IGNORECASE
)


def groups_en(
    text: str, *, british: bool = False, readings: Sequence[Reading] = (), breaks: Sequence[int] = ()
) -> list[PhonemeGroup]:
    """Return one group for each word as a reader sees it.

    Numbers, units and dates that are read as several words stay one group, and so do several written
    words that are read in another order ("$5 million").

    Raises
    ------
    SpeechError
        For a character that English cannot speak, a word without phonemes, or a break inside a word.
    """
    text = text.replace("’", "'").replace("‘", "'")
    for char in text:
        if not (char.isascii() and (char.isprintable() or char.isspace())) and not (
            char in OTHER_SIGNS or (char.isalpha() and without_accents(char).isascii())
        ):
            raise SpeechError(f"{char!r} in {text!r} is no character that can be spoken in English")
    spoken = _with_interjections(text, readings)
    marked, origin = _without_loose_marks(*with_breaks(text, breaks, ",", _HESITATION))
    new_index = {old: new for new, old in enumerate(origin)}  # a comma put in stands before it
    pieces = english_tokens(marked, spoken, new_index, english_rules(british))
    groups = _groups(_phonemized(pieces, english_rules(british)), marked)
    return _located(groups, text, origin)


def _with_interjections(text: str, readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings and those of the interjections that have none, in order."""
    found = [
        Reading(start=m.start(), stop=m.end(), spoken=INTERJECTIONS[m.group().lower()], is_phonemes=True)
        for m in _INTERJECTION.finditer(text)
        if all(m.end() <= r.start or r.stop <= m.start() for r in readings)
    ]
    return sorted([*readings, *found], key=lambda reading: reading.start)


def _without_loose_marks(marked: str, origin: Sequence[int]) -> tuple[str, list[int]]:
    """Return the text with its marks right behind the words, as hibari has them, and the kept origins."""
    kept = [True] * (len(marked) + 1)
    for match in _LOOSE_MARK.finditer(marked):
        kept[match.start() : match.end()] = [False] * (match.end() - match.start())
    text = "".join(char for char, keep in zip(marked, kept, strict=False) if keep)
    return text, [place for place, keep in zip(origin, kept, strict=True) if keep]


def _phonemized(pieces: Sequence[EnglishToken], rules: G2P) -> list[tuple[Any, int, int]]:
    """Return hibari's tokens with phonemes, and the range of the text of each."""
    from hibari.g2p.token import Tok

    if not pieces:
        return []
    tokens = []
    spaced = True
    for piece, tag in zip(pieces, rules.tagger([piece.text for piece in pieces]), strict=True):
        if piece.text in _QUOTES or (piece.text == "'" and tag in ("``", "''")):
            tag = "``" if spaced else "''"
        tokens.append(
            Tok(
                piece.text,
                _PUNCT_TAGS.get(piece.text, tag),
                " " if piece.space else "",
                phonemes=piece.phonemes,
                rating=None if piece.phonemes is None else 5,
            )
        )
        spaced = piece.space or piece.text in _OPENING
    return [
        (token, *_range(owned, pieces)) for token, owned in _owned(rules.phonemize_tokens(tokens), pieces)
    ]


def _owned(tokens: Sequence[Any], pieces: Sequence[EnglishToken]) -> list[tuple[Any, list[tuple[int, int]]]]:
    """Return each token with its characters, as (piece, index in the piece): hibari joins and splits pieces."""
    places = iter([(k, i) for k, piece in enumerate(pieces) for i in range(len(piece.text))])
    out = []
    for token in tokens:
        owned = []
        for char in token.text:
            if not char.isspace():
                owned.append(next(p for p in places if pieces[p[0]].text[p[1]] == char))
        out.append((token, owned))
    return out


def _range(owned: Sequence[tuple[int, int]], pieces: Sequence[EnglishToken]) -> tuple[int, int]:
    """Return the range of the text of these characters; all of a piece that reads otherwise than written."""
    (first, first_index), (last, last_index) = owned[0], owned[-1]
    start, stop = pieces[first].start, pieces[last].stop
    if pieces[first].is_exact:
        start += first_index
    if pieces[last].is_exact:
        stop = pieces[last].start + last_index + 1
    return start, stop


def _groups(tokens: Sequence[tuple[Any, int, int]], marked: str) -> list[PhonemeGroup]:
    """Return the tokens joined to words wherever no space and no mark stands between them."""
    groups: list[PhonemeGroup] = []
    lead, pending_start, glued = "", None, False
    for token, start, stop in tokens:
        said = (token.phonemes or "").strip()
        core = said.strip("".join(MARKS) + " ")
        before, _, after = said.partition(core) if core else ("", "", said)
        if not core:
            if said in ("“", "(") or (said and not groups):
                lead += said
            elif said:
                groups[-1] = replace(groups[-1], tail=groups[-1].tail + said)
            elif pending_start is None and not token.whitespace and not token.text.isalnum():
                pending_start = start  # a silent sign such as "$", said with the number after it
            glued = glued and not said and not token.whitespace
        else:
            start = start if pending_start is None else pending_start
            pending_start = None
            if groups and ((glued and not lead + before) or start < groups[-1].stop_char):
                old = groups[-1]
                groups[-1] = replace(
                    old,
                    stop_char=max(old.stop_char, stop),
                    phonemes=old.phonemes + old.tail + lead + before + core,
                    tail=after.strip(),
                )
            else:
                groups.append(
                    PhonemeGroup(
                        start_char=start,
                        stop_char=stop,
                        lead=lead + before,
                        phonemes=core,
                        tail=after.strip(),
                    )
                )
            lead, glued = "", not after.strip()
        if token.whitespace:
            glued = False
            if groups and not groups[-1].tail.endswith(" "):
                groups[-1] = replace(groups[-1], tail=groups[-1].tail + " ")
    return groups


def _located(groups: Sequence[PhonemeGroup], text: str, origin: Sequence[int]) -> list[PhonemeGroup]:
    """Return the groups at their places in `text`, without the punctuation around each word."""
    out: list[PhonemeGroup] = []
    for group in groups:
        start, stop = origin[group.start_char], origin[group.stop_char - 1] + 1
        while start < stop - 1 and text[start] in PUNCTUATION:
            start += 1
        while start < stop - 1 and text[stop - 1] in PUNCTUATION:
            stop -= 1
        out.append(replace(group, start_char=start, stop_char=stop))
    covered = {k for group in out for k in range(group.start_char, group.stop_char)}
    for k, char in enumerate(text):
        if char.isalnum() and k not in covered:
            raise SpeechError(f"{char!r} at {k} in {text!r} would not be spoken: give a reading for its word")
    return out
