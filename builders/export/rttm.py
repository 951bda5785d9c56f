"""RTTM and CTM: who spoke when, and which word when, one file each per split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from .format import Options, Outcome, Row, file_id
from .recording import CHANNEL_OF_ROLE, put_recording


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write ``{split}.rttm``, ``{split}.ctm`` and ``audio/{id}.wav``; channels count from 1, the user first."""
    with ExitStack() as stack:
        files: dict[Path, TextIO] = {}

        def add(path: Path, line: str) -> None:
            if path not in files:
                files[path] = stack.enter_context(path.open("w", encoding="utf-8"))
            files[path].write(line + "\n")

        for row in rows:
            name = file_id(row["id"])
            put_recording(folder / "audio" / f"{name}.wav", row, options)
            for turn in row["turns"]:
                channel = CHANNEL_OF_ROLE[turn["role"]] + 1
                add(
                    folder / f"{row['split']}.rttm",
                    f"SPEAKER {name} {channel} {_span(turn['onset_s'], turn['offset_s'])} "
                    f"<NA> <NA> {turn['role']}:{turn['speaker']} <NA> <NA>",
                )
            for channel, onset_s, offset_s, text in _words(row):
                span = _span(onset_s, offset_s)
                add(folder / f"{row['split']}.ctm", f"{name} {channel} {span} {text} 1.0")
            yield Outcome(id=row["id"], place=f"audio/{name}.wav")


def _span(onset_s: float, offset_s: float) -> str:
    """Return onset and duration to 0.1 ms, so that the sum is the offset to the same step."""
    onset = round(onset_s * 10_000)
    return f"{onset / 10_000:.4f} {(round(offset_s * 10_000) - onset) / 10_000:.4f}"


def _words(row: Row) -> list[tuple[int, float, float, str]]:
    """Return channel, onset, offset and word, by channel and onset as CTM wants; no spaces in a word."""
    return sorted(
        (
            CHANNEL_OF_ROLE[turn["role"]] + 1,
            word["onset_s"],
            word["offset_s"],
            "_".join(word["text"].split()),
        )
        for turn in row["turns"]
        for word in turn["words"]
    )
