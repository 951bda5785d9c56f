"""M3-DuplexBench: two-channel audio, events by channel, words in tab-separated rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from ...scenarios.events import IPU_GAP_CS, centiseconds
from ...scenarios.m3_json import m3_line
from ...whole_file import put_bytes
from .files import wav_unless_there
from .format import Options, Outcome, Row, file_id
from .levels import tracks_at
from .m3_labels import CHANNELS, Events, as_intended, by_rule

RATE_HZ = 16_000
"""M3 takes any rate; this one is what its models' front ends take."""

Words = dict[str, list[tuple[int, int, str]]]
"""Per channel: start and end in centiseconds, and the word."""


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write rows as ``data/{language}/task/{dataset}/``: audio, ``{split}.jsonl`` and ``txt_align``."""
    rate_hz = options.rate_hz or RATE_HZ
    with ExitStack() as stack:
        lists: dict[Path, TextIO] = {}
        for row in rows:
            if row["system"] is None or row["m3_events"] is None:
                yield Outcome(id=row["id"], skipped="it has no system side, and M3 needs both")
                continue
            if not all(turn["words"] for turn in row["turns"] if turn["role"] in CHANNELS):
                yield Outcome(id=row["id"], skipped="it has turns without words, and M3 reads what is said")
                continue
            if options.labels == "intended" and any(event["turn"] is None for event in row["events"]):
                yield Outcome(
                    id=row["id"], skipped="it is a recording: nothing in it was planned (--labels m3)"
                )
                continue
            place = folder / "data" / row["language"] / "task" / file_id(options.dataset)
            name = file_id(row["id"])
            events = by_rule(row) if options.labels == "m3" else as_intended(row)

            def channels(row: Row = row) -> list[Any]:
                tracks = tracks_at(row, rate_hz)
                return [tracks[role if role == "system" else "input"] for role in CHANNELS]

            wav_unless_there(place / "audio" / f"{name}.wav", rate_hz, channels)
            words = words_of(row)
            if options.gap_free:
                words = without_gaps(words, events)
            put_bytes(place / "txt_align" / f"{name}.txt", _rows(words).encode())
            path = place / f"{row['split']}.jsonl"
            if path not in lists:
                lists[path] = stack.enter_context(path.open("w", encoding="utf-8"))
            lists[path].write(json.dumps(m3_line(name, events), ensure_ascii=False) + "\n")
            yield Outcome(id=row["id"], place=(place / "audio" / name).relative_to(folder).as_posix())


def words_of(row: Row) -> Words:
    """Return a row's words by channel and start; each lasts at least 0.01 s, M3's own step."""
    words: Words = {channel: [] for channel in CHANNELS.values()}
    for turn in row["turns"]:
        if turn["role"] not in CHANNELS:
            continue
        last = len(turn["words"]) - 1
        for i, word in enumerate(turn["words"]):
            start, end = centiseconds(word["onset_s"]), centiseconds(word["offset_s"])
            if end <= start:  # inside its turn, so that the turn's edges stay
                start, end = (start - 1, start) if i == last and i > 0 else (start, start + 1)
            words[CHANNELS[turn["role"]]].append((start, end, word["text"]))
    return {channel: sorted(listed) for channel, listed in words.items()}


def without_gaps(words: Words, events: Events) -> Words:
    """Return the words with each one lasting until the next, inside a unit of M3 (gaps up to 0.50 s).

    M3 extends a reference answer only while the next word starts where the last one ends. The last word of
    a unit ends with the unit, also where a cut-off stopped the next word.
    """
    closed: Words = {}
    for channel, listed in words.items():
        ends = [e.end_cs for e in events[channel] if e.kind in ("TURN", "BC")]
        closed[channel] = [
            (start, _reach(end, listed[i + 1][0] if i + 1 < len(listed) else None, ends), text)
            for i, (start, end, text) in enumerate(listed)
        ]
    return closed


def _reach(end: int, next_start: int | None, unit_ends: list[int]) -> int:
    """Return until when a word lasts: the next word of its unit, or the unit's end."""
    if next_start is not None and 0 <= next_start - end <= IPU_GAP_CS:
        return next_start
    return min((stop for stop in unit_ends if end <= stop <= end + IPU_GAP_CS), default=end)


def _rows(words: Words) -> str:
    listed = sorted(
        (start, end, channel, text) for channel, said in words.items() for start, end, text in said
    )
    return "".join(
        f"{channel}\t{start / 100:.2f}\t{end / 100:.2f}\t{text}\n" for start, end, channel, text in listed
    )
