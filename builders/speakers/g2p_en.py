"""English text to phoneme groups, by the reading rules of hibari's G2P."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import SpeechError
from ...scenarios.markup import Reading
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

PUNCTUATION = frozenset(" \t\n.,;:!?…—–-'\"“”‘’()[]{}«»*_~`/\\")
"""What is left out at the ends of a word's range."""
OTHER_SIGNS = frozenset("“”‘’«»–—…°¢£€¥₹₩½¼¾²³")
_HESITATION = ",.;:!?…—–"
_PUNCT_TAGS = {",": ",", ".": ".", "!": ".", "?": ".", ":": ":", ";": ":", "…": ":", "—": ":", "–": ":"}
_QUOTES = frozenset('"“”«»')
_OPENING = frozenset("\"'([“«—")
_INTERJECTION = re.compile(
    rf"(?<![\w'-])(?:{'|'.join(sorted(INTERJECTIONS, key=len, reverse=True))})(?![\w'-])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A token of the tokenizer: what it reads, and where in the (marked) text it stands."""

    text: str
    start: int
    stop: int
    space: bool
    phonemes: str | None = None


@cache
def g2p(british: bool) -> G2P:
    """Return hibari's lexicon and rules, loaded once in a process."""
    from hibari.g2p import G2P

    return G2P(british=british)


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
            char in OTHER_SIGNS or (char.isalpha() and _plain(char).isascii())
        ):
            raise SpeechError(f"{char!r} in {text!r} is no character that can be spoken in English")
    spoken = _with_interjections(text, readings)
    marked, origin = with_breaks(text, breaks, ",", _HESITATION)
    new_index = {old: new for new, old in enumerate(origin)}  # a comma put in stands before it
    pieces = _pieces(marked, spoken, new_index, g2p(british))
    groups = _groups(_phonemized(pieces, g2p(british)), marked)
    return _located(groups, text, origin)


def _plain(text: str) -> str:
    """Return `text` without accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _with_interjections(text: str, readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings and those of the interjections that have none, in order."""
    found = [
        Reading(start=m.start(), stop=m.end(), spoken=INTERJECTIONS[m.group().lower()], is_phonemes=True)
        for m in _INTERJECTION.finditer(text)
        if all(m.end() <= r.start or r.stop <= m.start() for r in readings)
    ]
    return sorted([*readings, *found], key=lambda reading: reading.start)


def _pieces(marked: str, readings: Sequence[Reading], new_index: dict[int, int], rules: G2P) -> list[_Piece]:
    """Return the tokens of the text; a reading's tokens stand at the place of what is shown."""
    pieces: list[_Piece] = []
    last = 0
    for reading in readings:
        start, stop = new_index[reading.start], new_index[reading.stop - 1] + 1
        if start < last:
            raise SpeechError(f"readings overlap at {marked[start:stop]!r} in {marked!r}")
        pieces += _segment(marked, last, start, rules)
        space = marked[stop : stop + 1].isspace()
        if reading.is_phonemes:
            pieces.append(
                _Piece(text=marked[start:stop], start=start, stop=stop, space=space, phonemes=reading.spoken)
            )
        else:
            said = _segment(reading.spoken, 0, len(reading.spoken), rules)
            for k, piece in enumerate(said):
                last_one = k == len(said) - 1
                pieces.append(
                    _Piece(text=piece.text, start=start, stop=stop, space=space if last_one else piece.space)
                )
        last = stop
    return pieces + _segment(marked, last, len(marked), rules)


def _segment(marked: str, start: int, stop: int, rules: G2P) -> list[_Piece]:
    """Return the tokens of ``marked[start:stop]`` after its numbers and abbreviations are written out."""
    from hibari.g2p.normalize import normalize

    chunks = [
        (m.group(), start + m.start(), start + m.end()) for m in re.finditer(r"\S+", marked[start:stop])
    ]
    pieces: list[_Piece] = []
    for said, chunk_start, chunk_stop in _aligned(chunks, normalize(marked[start:stop]).split()):
        exact = said == marked[chunk_start:chunk_stop]
        tokens = rules.tokenizer.split(_readable(said, rules))
        exact = (
            exact and "".join(tokens) == _readable(said, rules) and len(_readable(said, rules)) == len(said)
        )
        position = chunk_start
        for k, token in enumerate(tokens):
            pieces.append(
                _Piece(
                    text="…" if re.fullmatch(r"\.\.+", token) else token,
                    start=position if exact else chunk_start,
                    stop=position + len(token) if exact else chunk_stop,
                    space=k == len(tokens) - 1,
                )
            )
            position += len(token)
    if pieces and not marked[stop - 1 : stop].isspace() and not marked[stop : stop + 1].isspace():
        pieces[-1] = replace(pieces[-1], space=False)
    return pieces


def _readable(chunk: str, rules: G2P) -> str:
    """Return the chunk without accents, unless the lexicon knows it with them."""
    bare = chunk.strip("".join(PUNCTUATION))
    if chunk.isascii() or bare in rules.lexicon.golds or bare in rules.lexicon.silvers:
        return chunk
    return "".join(_plain(char) if char.isalpha() else char for char in chunk)


def _aligned(chunks: list[tuple[str, int, int]], said: list[str]) -> list[tuple[str, int, int]]:
    """Return what is said with the range of the written chunks it came from.

    Where several chunks became several others, those that read the same by themselves are paired from
    both ends, and what is left shares one range.
    """
    from hibari.g2p.normalize import normalize

    written = [chunk for chunk, _, _ in chunks]
    out: list[tuple[str, int, int]] = []
    matcher = difflib.SequenceMatcher(a=written, b=said, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            out += [(said[b0 + k], chunks[a0 + k][1], chunks[a0 + k][2]) for k in range(a1 - a0)]
            continue
        head: list[tuple[str, int, int]] = []
        while a0 < a1 and b0 < b1:
            alone = normalize(written[a0]).split()
            if said[b0 : b0 + len(alone)] != alone:
                break
            head += [(word, chunks[a0][1], chunks[a0][2]) for word in alone]
            a0, b0 = a0 + 1, b0 + len(alone)
        foot: list[tuple[str, int, int]] = []
        while a0 < a1 and b0 < b1:
            alone = normalize(written[a1 - 1]).split()
            if said[max(b0, b1 - len(alone)) : b1] != alone:
                break
            foot = [(word, chunks[a1 - 1][1], chunks[a1 - 1][2]) for word in alone] + foot
            a1, b1 = a1 - 1, b1 - len(alone)
        out += head + _paired(chunks[a0:a1] or (head or out)[-1:], said[b0:b1]) + foot
    return out


def _paired(chunks: Sequence[tuple[str, int, int]], said: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return what is said with ranges of chunks that read differently."""
    if len(chunks) == len(said):
        return [(word, start, stop) for word, (_, start, stop) in zip(said, chunks, strict=True)]
    places = [k for _, start, stop in chunks for k in range(start, stop)]
    if "".join(said) == "".join(chunk for chunk, _, _ in chunks):  # only the spaces differ
        out, position = [], 0
        for word in said:
            out.append((word, places[position], places[position + len(word) - 1] + 1))
            position += len(word)
        return out
    return [(word, chunks[0][1], chunks[-1][2]) for word in said]


def _phonemized(pieces: Sequence[_Piece], rules: G2P) -> list[tuple[Any, int, int]]:
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
    owners = [(char, k) for k, piece in enumerate(pieces) for char in piece.text if not char.isspace()]
    out = []
    place = 0
    for token in rules.phonemize_tokens(tokens):
        owned = []
        for char in token.text:
            while not char.isspace() and place < len(owners):
                place += 1
                if owners[place - 1][0] == char:
                    owned.append(place - 1)
                    break
        first, last = pieces[owners[owned[0]][1]], pieces[owners[owned[-1]][1]]
        start, stop = first.start, last.stop
        # part of a piece that stands in the text as it is: cut the range to the part
        if first.stop - first.start == len(first.text):
            start += owned[0] - next(k for k, (_, p) in enumerate(owners) if p == owners[owned[0]][1])
        if last.stop - last.start == len(last.text):
            stop = last.start + 1 + owned[-1]
            stop -= next(k for k, (_, p) in enumerate(owners) if p == owners[owned[-1]][1])
        out.append((token, start, stop))
    return out


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
            if groups and (glued or start < groups[-1].stop_char) and not lead + before.strip():
                old = groups[-1]
                groups[-1] = replace(
                    old,
                    stop_char=max(old.stop_char, stop),
                    phonemes=old.phonemes + old.tail + core,
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
