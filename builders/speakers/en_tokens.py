"""The tokens of an English text, its numbers written out, and where in the text each of them stands."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from ... import SpeechError
from ...scenarios.markup import Reading

if TYPE_CHECKING:
    from hibari.g2p import G2P

PUNCTUATION = frozenset(" \t\n.,;:!?…—–-'\"“”‘’()[]{}«»*_~`/\\")
"""What is left out at the ends of a word's range."""

Chunk = tuple[str, int, int]
"""What is written or said between spaces, and its range in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnglishToken:
    """A token of the tokenizer: what it reads, and where in the (marked) text it stands."""

    text: str
    start: int
    stop: int
    space: bool
    phonemes: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether it stands in the text as it is, character by character."""
        return self.stop - self.start == len(self.text)


@cache
def english_rules(british: bool) -> G2P:
    """Return hibari's lexicon and rules, loaded once in a process."""
    from hibari.g2p import G2P

    return G2P(british=british)


def without_accents(text: str) -> str:
    """Return `text` without accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def english_tokens(
    marked: str, readings: Sequence[Reading], new_index: dict[int, int], rules: G2P
) -> list[EnglishToken]:
    """Return the tokens of the text; a reading's tokens stand at the place of what is shown."""
    pieces: list[EnglishToken] = []
    last = 0
    for reading in readings:
        start, stop = new_index[reading.start], new_index[reading.stop - 1] + 1
        if start < last:
            raise SpeechError(f"readings overlap at {marked[start:stop]!r} in {marked!r}")
        pieces += _segment(marked, last, start, rules)
        space = marked[stop : stop + 1].isspace()
        if reading.is_phonemes:
            pieces.append(
                EnglishToken(
                    text=marked[start:stop], start=start, stop=stop, space=space, phonemes=reading.spoken
                )
            )
        else:
            said = _segment(reading.spoken, 0, len(reading.spoken), rules)
            for k, piece in enumerate(said):
                last_one = k == len(said) - 1
                pieces.append(
                    EnglishToken(
                        text=piece.text, start=start, stop=stop, space=space if last_one else piece.space
                    )
                )
        last = stop
    return pieces + _segment(marked, last, len(marked), rules)


def _segment(marked: str, start: int, stop: int, rules: G2P) -> list[EnglishToken]:
    """Return the tokens of ``marked[start:stop]`` after its numbers and abbreviations are written out."""
    from hibari.g2p.normalize import normalize

    chunks = [
        (m.group(), start + m.start(), start + m.end()) for m in re.finditer(r"\S+", marked[start:stop])
    ]
    pieces: list[EnglishToken] = []
    for said, chunk_start, chunk_stop in _aligned(chunks, normalize(marked[start:stop]).split()):
        exact = said == marked[chunk_start:chunk_stop]
        tokens = rules.tokenizer.split(_readable(said, rules))
        exact = (
            exact and "".join(tokens) == _readable(said, rules) and len(_readable(said, rules)) == len(said)
        )
        position = chunk_start
        for k, token in enumerate(tokens):
            pieces.append(
                EnglishToken(
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
    return "".join(without_accents(char) if char.isalpha() else char for char in chunk)


def _aligned(chunks: list[Chunk], said: list[str]) -> list[Chunk]:
    """Return what is said with the range of the written chunks it came from.

    Where several chunks became several others, those that read the same by themselves are paired from
    both ends, and what is left shares one range.
    """
    from hibari.g2p.normalize import normalize

    written = [chunk for chunk, _, _ in chunks]
    out: list[Chunk] = []
    matcher = difflib.SequenceMatcher(a=written, b=said, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            out += [(said[b0 + k], chunks[a0 + k][1], chunks[a0 + k][2]) for k in range(a1 - a0)]
            continue
        head: list[Chunk] = []
        while a0 < a1 and b0 < b1:
            alone = normalize(written[a0]).split()
            if said[b0 : b0 + len(alone)] != alone:
                break
            head += [(word, chunks[a0][1], chunks[a0][2]) for word in alone]
            a0, b0 = a0 + 1, b0 + len(alone)
        foot: list[Chunk] = []
        while a0 < a1 and b0 < b1:
            alone = normalize(written[a1 - 1]).split()
            if said[max(b0, b1 - len(alone)) : b1] != alone:
                break
            foot = [(word, chunks[a1 - 1][1], chunks[a1 - 1][2]) for word in alone] + foot
            a1, b1 = a1 - 1, b1 - len(alone)
        near = (head or out)[-1:] or (foot or chunks[a0:])[:1]  # for what is said more than is written
        out += head + _paired(chunks[a0:a1] or near, said[b0:b1]) + foot
    return out


def _paired(chunks: Sequence[Chunk], said: Sequence[str]) -> list[Chunk]:
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
