"""Word files: rows of channel, start, end and word, separated by tabs, in any order (M3's ``txt_align``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from .. import ScriptError
from .events import Times, centiseconds
from .text_file import numbered_lines, read_text

CHANNELS = ("0", "1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedWord:
    """A word with its times in seconds. `line` is where it stands in its file."""

    text: str
    onset_s: float
    offset_s: float
    line: int = 0


def read_words(path: Path) -> dict[str, tuple[TimedWord, ...]]:
    """Return the words of each of the two channels "0" and "1", by onset.

    Raises
    ------
    ScriptError
        If the file cannot be read, a row is malformed, or a channel has no words; names file and line.
    """
    text = read_text(path)
    words: dict[str, list[TimedWord]] = {channel: [] for channel in CHANNELS}
    for number, line in numbered_lines(text):
        channel, word = _row(line, f"{path} line {number}", number)
        words[channel].append(word)
    for channel, listed in words.items():
        if not listed:
            raise ScriptError(
                f"{path}: channel {channel} has no words; M3's labels need both sides of a dialogue, "
                f"as rows with channel 0 and channel 1"
            )
    return {
        channel: tuple(sorted(listed, key=lambda word: (word.onset_s, word.offset_s)))
        for channel, listed in words.items()
    }


def _row(line: str, where: str, number: int) -> tuple[str, TimedWord]:
    fields = line.split("\t")
    if len(fields) != 4:
        raise ScriptError(
            f"{where}: {len(fields)} field{'s' * (len(fields) != 1)} in {line!r}; wanted four, separated by "
            f"tabs: channel, start, end, word"
        )
    channel, start, end, text = (field.strip() for field in fields)
    if channel not in CHANNELS:
        raise ScriptError(f"{where}: channel {channel!r}; wanted 0 or 1")
    onset_s, offset_s = _time(start, "start", where), _time(end, "end", where)
    if offset_s <= onset_s:
        raise ScriptError(f"{where}: end {end} is not after start {start}")
    if not text:
        raise ScriptError(f"{where}: the word is empty")
    return channel, TimedWord(text=text, onset_s=onset_s, offset_s=offset_s, line=number)


def _time(value: str, name: str, where: str) -> float:
    try:
        time_s = float(value)
    except ValueError:
        raise ScriptError(f"{where}: {name} = {value!r}; wanted a time in seconds, as 3.45") from None
    if not math.isfinite(time_s) or time_s < 0:
        raise ScriptError(f"{where}: {name} = {value}; wanted a time of 0 s or more")
    return time_s


def word_times(words: dict[str, tuple[TimedWord, ...]]) -> dict[str, list[Times]]:
    """Return the words' times in centiseconds, for `events.label`."""
    return {
        channel: [(centiseconds(word.onset_s), centiseconds(word.offset_s)) for word in listed]
        for channel, listed in words.items()
    }
