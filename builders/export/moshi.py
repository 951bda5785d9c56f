"""moshi-finetune: stereo 24 kHz with Moshi's side first, aligned words beside, one list per split."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from .files import put_json, wav_unless_there
from .format import Options, Outcome, Row, file_id
from .levels import tracks_at

RATE_HZ = 24_000

MAIN = "SPEAKER_MAIN"
"""The speaker whose words are learnt; words of others would be dropped."""

CHANNELS = ("system", "input")
"""Channel 0 is the model, channel 1 the user."""


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write rows with a system side as ``{language}/{split}/``: ``data.jsonl`` and ``data_stereo/``.

    A directory given as source takes every file below it whose name ends in jsonl, so each split has a
    directory of its own. Paths in a list are relative to the list.
    """
    with ExitStack() as stack:
        lists: dict[Path, TextIO] = {}
        for row in rows:
            if row["system"] is None:
                yield Outcome(id=row["id"], skipped="it has no reference of the system's side to learn from")
                continue
            place = folder / row["language"] / row["split"]
            wav = place / "data_stereo" / f"{file_id(row['id'])}.wav"

            def channels(row: Row = row) -> list[Any]:
                tracks = tracks_at(row, RATE_HZ)
                return [tracks[name] for name in CHANNELS]

            wav_unless_there(wav, RATE_HZ, channels)
            put_json(wav.with_suffix(".json"), {"alignments": alignments(row)})
            path = place / "data.jsonl"
            if path not in lists:
                lists[path] = stack.enter_context(path.open("w", encoding="utf-8"))
            line = {"path": wav.relative_to(place).as_posix(), "duration": row["duration_s"]}
            lists[path].write(json.dumps(line, ensure_ascii=False) + "\n")
            yield Outcome(id=row["id"], place=wav.relative_to(folder).as_posix())


def alignments(row: Row) -> list[list[Any]]:
    """Return the system's words as ``[word, [start, end], speaker]``, sorted by start, in seconds."""
    words = [word for turn in row["turns"] if turn["role"] == "system" for word in turn["words"]]
    return [
        [word["text"], [round(word["onset_s"], 6), round(word["offset_s"], 6)], MAIN]
        for word in sorted(words, key=lambda word: (word["onset_s"], word["offset_s"]))
        if word["offset_s"] > word["onset_s"]
    ]
