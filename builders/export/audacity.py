"""Audacity labels: turns, words and events of a sample as three label files beside its sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ...whole_file import put_bytes
from .format import Options, Outcome, Row, file_id
from .recording import put_recording

Label = tuple[float, float, str]


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write ``{split}/{id}.wav`` and ``{id}.turns.txt``, ``{id}.words.txt``, ``{id}.events.txt`` beside it.

    Of labels that a row has none of (words, without a transcript) there is no file.
    """
    for row in rows:
        path = folder / row["split"] / f"{file_id(row['id'])}.wav"
        put_recording(path, row, options)
        for name, labels in labels_of(row).items():
            if labels:
                put_bytes(path.with_suffix(f".{name}.txt"), _lines(labels).encode())
        yield Outcome(id=row["id"], place=path.relative_to(folder).as_posix())


def labels_of(row: Row) -> dict[str, list[Label]]:
    """Return the labels by file: onset and offset in seconds, text."""
    turns = row["turns"]
    return {
        "turns": [(t["onset_s"], t["offset_s"], f"{t['role']}: {t['spoken_text']}") for t in turns],
        "words": [(w["onset_s"], w["offset_s"], w["text"]) for t in turns for w in t["words"]],
        "events": [(e["onset_s"], e["offset_s"], f"{e['kind']} {e['role']}") for e in row["events"]],
    }


def _lines(labels: list[Label]) -> str:
    return "".join(
        f"{onset_s:.6f}\t{offset_s:.6f}\t{' '.join(text.split())}\n"
        for onset_s, offset_s, text in sorted(labels)
    )
