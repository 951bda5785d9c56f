"""lhotse: RecordingSet and SupervisionSet as JSON lines, words as alignments."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from ...acoustics.resample import resampled_length
from ..place import to_samples
from .format import Options, Outcome, Row, file_id
from .recording import CHANNEL_OF_ROLE, n_channels, put_recording, rate_of

_DIGITS = 8


class Lists:
    """Compressed lists of JSON lines, each opened on its first line."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._files: dict[Path, TextIO] = {}

    def add(self, path: Path, line: Any) -> None:
        """Add a line to the list at `path`."""
        if path not in self._files:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = gzip.open(path, "wt", encoding="utf-8")  # noqa: SIM115 (the stack closes it)
            self._files[path] = self._stack.enter_context(file)
        self._files[path].write(json.dumps(line, ensure_ascii=False) + "\n")


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write ``recordings-{split}.jsonl.gz``, ``supervisions-{split}.jsonl.gz`` and ``audio/{id}.wav``.

    Paths are relative to the folder: load with ``RecordingSet.from_file(...).with_path_prefix(folder)``.
    Channel 0 is the user's side, channel 1 the system's.
    """
    with ExitStack() as stack:
        lists = Lists(stack)
        for row in rows:
            name = file_id(row["id"])
            audio = Path("audio") / f"{name}.wav"
            put_recording(folder / audio, row, options)
            lists.add(
                folder / f"recordings-{row['split']}.jsonl.gz",
                recording(
                    name,
                    audio,
                    rate_hz=rate_of(row, options),
                    n_samples=samples_at(row, rate_of(row, options)),
                    channels=list(range(n_channels(row))),
                ),
            )
            for supervision in supervisions(row, name):
                lists.add(folder / f"supervisions-{row['split']}.jsonl.gz", supervision)
            yield Outcome(id=row["id"], place=audio.as_posix())


def samples_at(row: Row, rate_hz: int) -> int:
    """Return how many samples the row's tracks have at a rate."""
    own_hz = row["sample_rate_hz"]
    return resampled_length(to_samples(row["duration_s"], own_hz), from_rate_hz=own_hz, to_rate_hz=rate_hz)


def recording(name: str, path: Path, *, rate_hz: int, n_samples: int, channels: list[int]) -> dict[str, Any]:
    """Return lhotse's Recording of a file."""
    return {
        "id": name,
        "sources": [{"type": "file", "channels": channels, "source": path.as_posix()}],
        "sampling_rate": rate_hz,
        "num_samples": n_samples,
        "duration": n_samples / rate_hz,
        "channel_ids": channels,
    }


def supervisions(row: Row, name: str) -> Iterator[dict[str, Any]]:
    """Yield lhotse's SupervisionSegment of each turn; events and labels ride in the first one's `custom`."""
    for i, turn in enumerate(row["turns"]):
        yield {
            "id": f"{name}-{i:03d}",
            "recording_id": name,
            "start": round(turn["onset_s"], _DIGITS),
            "duration": round(turn["offset_s"] - turn["onset_s"], _DIGITS),
            "channel": CHANNEL_OF_ROLE[turn["role"]],
            "text": turn["spoken_text"],
            "language": row["language"],
            "speaker": turn["speaker"],
            "custom": {
                "role": turn["role"],
                "intent": turn["intent"],
                **(
                    {"row_id": row["id"], "scenario": row["scenario"], "events": row["events"]}
                    if i == 0
                    else {}
                ),
            },
            "alignment": {"word": [_alignment(word) for word in turn["words"]]},
        }


def _alignment(word: dict[str, Any]) -> list[Any]:
    return [
        word["text"],
        round(word["onset_s"], _DIGITS),
        round(word["offset_s"] - word["onset_s"], _DIGITS),
        None,
    ]
