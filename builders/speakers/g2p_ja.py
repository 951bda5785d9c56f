"""Japanese text to phoneme groups: readings by pyopenjtalk-plus, symbols as Kokoro was trained with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ... import SpeechError
from ...scenarios.markup import Reading
from .kana import hiragana, kana_phonemes, kana_symbols, lengthened
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
_KANA = re.compile(r"[ぁ-ゖァ-ヺー]*")
_DIGIT_RUN = re.compile(r"[0-9０-９][0-9０-９,，.．]*")
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

    nodes: list[_Node] = []
    part = text[start:stop]
    if not part.strip():
        return []
    for entry in pyopenjtalk.g2p_mapping(part, iu_pronunciation="YuuBase"):
        first, last = (start + k for k in entry["char_span"])
        surface = entry["surface"]
        if entry["mora_count"] or surface == "〇":
            kana = (
                hiragana(entry["pron"].replace("’", "").replace("'", "")) if entry["mora_count"] else "ぜろ"
            )
            node = _Node(start=first, stop=last, surface=surface, kana=kana, read=hiragana(entry["read"]))
            if nodes and nodes[-1].kana and (first == last or kana.startswith("ー")):
                nodes[-1] = _sum(nodes[-1], node)  # a 十 that is not written, a vowel made longer
            else:
                nodes.append(node)
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
        reading = _whole(_trimmed(reading, text, {node.stop for node in nodes}), text, nodes)
        under = [n for n in nodes if reading.start <= n.start and n.stop <= reading.stop]
        said = hiragana(reading.spoken)
        kana = "".join(n.kana for n in under)
        if not reading.is_phonemes and "".join(n.read for n in under) != said:
            kana = lengthened(said)
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


def _whole(reading: Reading, text: str, nodes: Sequence[_Node]) -> Reading:
    """Return the reading of whole morphemes, kana beside it included: お手数 of お[手数|てすう].

    Raises
    ------
    SpeechError
        If the rest of a morpheme is not kana: it would be read as something else.
    """
    for node in nodes:
        before = text[node.start : reading.start] if node.start < reading.start < node.stop else ""
        after = text[reading.stop : node.stop] if node.start < reading.stop < node.stop else ""
        if not _KANA.fullmatch(before + after) or (before + after and reading.is_phonemes):
            shown, whole = text[reading.start : reading.stop], text[node.start : node.stop]
            raise SpeechError(
                f"the reading {reading.spoken!r} of {shown!r} in {text!r} ends inside {whole!r}: "
                f"give the reading of all of it, [{whole}|...]"
            )
        reading = replace(
            reading,
            start=reading.start - len(before),
            stop=reading.stop + len(after),
            spoken=before + reading.spoken + after,
        )
    return reading


def _sum(first: _Node, second: _Node) -> _Node:
    return replace(
        first,
        stop=max(first.stop, second.stop),
        surface=first.surface + second.surface,
        kana=first.kana + second.kana,
        read=first.read + second.read,
    )


def _joined(nodes: Sequence[_Node], text: str) -> list[_Node]:
    """Return the nodes, those of one number in digits joined."""
    run_of: dict[int, int] = {}
    for k, match in enumerate(_DIGIT_RUN.finditer(text)):
        run_of.update(dict.fromkeys(range(match.start(), match.end()), k))
    out: list[_Node] = []
    for node in nodes:
        old = out[-1] if out else None
        one_run = old and node.start in run_of and run_of.get(old.stop - 1) == run_of[node.start]
        if old and old.kana and node.kana and one_run:
            out[-1] = _sum(old, node)
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
            said = kana_phonemes("".join(n.kana for n in word), [len(n.kana) for n in word], text)
        else:
            said = [node.phonemes]
        if out and said[0].startswith("ʔ") and not lead and out[-1].tail == " ":
            out[-1] = replace(out[-1], tail="")
        for k, (part, phonemes) in enumerate(zip(word, said, strict=True)):
            if not phonemes and k:  # its kana makes one sound with the kana before it
                out[-1] = replace(out[-1], stop_char=part.stop)
                continue
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


def _word(nodes: Sequence[_Node], place: int) -> Sequence[_Node]:
    """Return the longest run of nodes from `place` that is one word of misaki's list, or the node."""
    _, words = kana_symbols()
    end = place + 1
    while end < len(nodes) and nodes[end].kana and end - place < _MAX_WORD_NODES:
        end += 1
    for stop in range(end, place + 1, -1):
        if "".join(n.surface for n in nodes[place:stop]) in words:
            return nodes[place:stop]
    return nodes[place : place + 1]
