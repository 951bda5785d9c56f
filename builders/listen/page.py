"""A built folder to a rating page: one HTML file with the sound in it, which saves its answers as JSON."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ...scenarios.event_table import KINDS
from ..built import dataset_digest, open_built
from ..flac import seek_script
from ..parquet_file import columns_of, opened
from ..seeds import share

QUESTIONS: dict[str, tuple[str, ...]] = {
    "naturalness": ("1", "2", "3", "4", "5"),
    "event": ("yes", "no", "unsure"),
    "times": ("yes", "no", "unsure"),
}
"""What is asked of each sample, and the answers: how natural the speech is (5: a person's), whether the marked
event is what its name says, and whether the marks stand where it is heard."""

_COLUMNS = ["id", "scenario", "language", "turns", "events", "duration_s", "input", "system"]


def write_page(folder: Path, out: Path, *, n: int, seed: int) -> Path:
    """Write the page with n samples, drawn evenly over scenarios and languages; return it.

    User and system are on the left and right channel, so that a listener can tell them apart.

    Raises
    ------
    ReleaseError
        If the folder is not a built one, or is damaged.
    """
    ids = drawn_ids(folder, n=n, seed=seed)
    rows = rows_with(folder, ids, _COLUMNS)
    data = {
        "dataset": dataset_digest(folder),
        "questions": {name: list(answers) for name, answers in QUESTIONS.items()},
        "items": [_item(row) for row in rows],
    }
    template = (files(__package__) / "page.html").read_text(encoding="utf-8")
    head, tail = template.split("__SOUNDS__")
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        # "</" would end the script element that holds the data
        file.write(head.replace("__DATA__", json.dumps(data, ensure_ascii=False).replace("</", "<\\/")))
        for i, row in enumerate(
            rows
        ):  # an element each: together they may be longer than a browser's strings
            file.write(f'<script type="text/plain" id="sound-{i}">{_sound(row)}</script>\n')
        file.write(tail.replace("__SEEKS__", seek_script()))
    return out


def drawn_ids(folder: Path, *, n: int, seed: int) -> tuple[str, ...]:
    """Return n ids of a folder, one of each configuration in turn, each in an order of its own by the seed."""
    groups: dict[str, list[str]] = {}
    for shard in open_built(folder).shards:
        groups.setdefault(shard.config, []).extend(row["id"] for row in columns_of(shard.path, ["id"]))
    queues = [sorted(ids, key=lambda id_: share(seed, id_, "listen")) for _, ids in sorted(groups.items())]
    turns = [queue[i] for i in range(max(map(len, queues), default=0)) for queue in queues if i < len(queue)]
    return tuple(turns[:n])


def rows_with(folder: Path, ids: Sequence[str], columns: list[str]) -> list[dict[str, Any]]:
    """Return the rows of these ids, in their order."""
    import pyarrow.compute as pc

    found: dict[str, dict[str, Any]] = {}
    for shard in open_built(folder).shards:
        with opened(shard.path) as file:
            for group in range(file.num_row_groups):
                wanted = pc.is_in(file.read_row_group(group, columns=["id"])["id"], value_set=_array(ids))
                if pc.any(wanted).as_py():
                    for row in file.read_row_group(group, columns=columns).filter(wanted).to_pylist():
                        found[row["id"]] = row
    return [found[id_] for id_ in ids if id_ in found]


def _array(ids: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.array(list(ids), pa.string())


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page needs of a row; places for backchannels are not shown to those who are asked for them."""
    return {
        "id": row["id"],
        "scenario": row["scenario"],
        "language": row["language"],
        "duration_s": row["duration_s"],
        "backchannels": row["scenario"] == "backchannel",
        "turns": [
            {key: turn[key] for key in ("role", "onset_s", "offset_s")} | {"text": turn["spoken_text"]}
            for turn in row["turns"]
        ],
        "events": [
            {
                "kind": event["kind"],
                "meaning": KINDS[event["kind"]].meaning,
                "role": event["role"],
                "onset_s": event["onset_s"],
                "offset_s": event["offset_s"],
            }
            for event in row["events"]
            if event["kind"] != "trp"
        ],
    }


def _sound(row: Mapping[str, Any]) -> str:
    """Return the tracks of a row as a ``data:`` address: one channel, or the user left and the system right."""
    import soundfile

    tracks, rate = [], 0
    for name in ("input", "system"):
        if row[name] is not None:
            samples, rate = soundfile.read(io.BytesIO(row[name]["bytes"]), dtype="int16")
            tracks.append(samples)
    buffer = io.BytesIO()
    soundfile.write(buffer, np.stack(tracks, axis=1), rate, format="FLAC", subtype="PCM_16")
    return f"data:audio/flac;base64,{base64.b64encode(buffer.getvalue()).decode()}"
