"""A built folder to a preview page: index.html, one data file and one audio file per sample and track."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import ReleaseError
from ...builders.built import Shard, open_built, rows_in
from ...builders.flac import seek_script
from ...builders.schema import AUDIO_COLUMNS
from ..folder_beside import folder_beside

N_COLUMNS = 1200
"""Columns of a drawn waveform: the largest sample of each stands for all of it."""

FOLDER = "preview"


def write_preview(folder: Path, *, n_samples: int = 200) -> Path:
    """Write ``preview/`` of a built folder and return its index.html.

    Parameters
    ----------
    folder
        A built folder.
    n_samples
        How many samples to show at most: the same number of each configuration, the first ones.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset, or something else than a folder is called ``preview``.
    """
    built = open_built(folder)
    with folder_beside(folder, FOLDER) as beside:
        (beside / "audio").mkdir()
        (beside / "data").mkdir()
        entries = [
            _write_sample(beside, row, f"{number:04d}")
            for number, row in enumerate(_chosen(built.shards, n_samples))
        ]
        if not entries:
            raise ReleaseError(f"{folder}: no samples to show; build the folder first")
        (beside / "index.html").write_text(_page(built.manifest, entries), encoding="utf-8")
    return folder / FOLDER / "index.html"


def _write_sample(beside: Path, row: dict[str, Any], name: str) -> dict[str, Any]:
    """Write the sound and the data of a row, and return its entry in the page's list."""
    sample = _sample(row, name)
    for track in sample["tracks"]:
        (beside / track["file"]).write_bytes(row[track["name"]]["bytes"])
    # a script, because a page from disk may load scripts but not JSON
    text = json.dumps(sample, ensure_ascii=False, separators=(",", ":"))
    (beside / "data" / f"{name}.js").write_text(f"receive({text});\n", encoding="utf-8")
    return {
        "name": name,
        "id": row["id"],
        "scenario": row["scenario"],
        "language": row["language"],
        "split": row["split"],
        "duration_s": row["duration_s"],
        "events": sorted({event["kind"] for event in row["events"]}),
    }


def _chosen(shards: Sequence[Shard], n_samples: int) -> Iterator[dict[str, Any]]:
    """Yield the first rows of each configuration."""
    configs = {shard.config for shard in shards}
    share = max(1, n_samples // max(1, len(configs)))
    left = dict.fromkeys(configs, share)
    for shard in shards:
        if not left[shard.config]:
            continue
        for row in rows_in((shard,)):
            yield row
            left[shard.config] -= 1
            if not left[shard.config]:
                break


def _sample(row: dict[str, Any], name: str) -> dict[str, Any]:
    tracks = [
        {
            "name": track,
            "file": f"audio/{name}-{track}.flac",
            "peaks": peaks(row[track]["bytes"]),
        }
        for track in AUDIO_COLUMNS
        if row[track] is not None
    ]
    treatment = row["treatment"]
    return {
        "name": name,
        "id": row["id"],
        "duration_s": row["duration_s"],
        "tracks": tracks,
        "turns": [
            {key: turn[key] for key in ("role", "speaker", "text", "onset_s", "offset_s", "words")}
            for turn in row["turns"]
        ],
        "events": [
            {key: value for key, value in event.items() if value is not None} for event in row["events"]
        ],
        "parameters": {
            "preset": row["preset"],
            "relation": row["fdb_relation"],
            "split": row["split"],
            "script": row["script"]["id"],
            "voices": {v["role"]: v["voice"] for v in row["provenance"]["voices"]},
            "room": json.loads(row["provenance"]["room"] or "null"),
            "treatment": treatment and {**treatment, "params": json.loads(treatment["params"] or "null")},
            "checks": row["checks"],
        },
    }


def peaks(flac: bytes) -> list[int]:
    """Return the largest magnitude in each of `N_COLUMNS` equal parts of a sound, 0 to 127."""
    import soundfile

    samples: NDArray[np.float32] = soundfile.read(io.BytesIO(flac), dtype="float32", always_2d=True)[0][:, 0]
    edges = np.linspace(0, samples.size, min(N_COLUMNS, samples.size) + 1).astype(int)
    if samples.size == 0:
        return []
    return [round(127 * float(v)) for v in np.minimum(np.maximum.reduceat(np.abs(samples), edges[:-1]), 1)]


def _page(manifest: dict[str, Any], entries: list[dict[str, Any]]) -> str:
    parts = {name: (files(__package__) / name).read_text(encoding="utf-8") for name in _PARTS}
    recipe = manifest["recipe"]
    data = json.dumps(entries, ensure_ascii=False).replace("</", "<\\/")
    page = parts["page.html"]
    for mark, text in (
        ("{{title}}", html.escape(f"{recipe['name']} {recipe['version']}")),
        ("{{style}}", parts["page.css"]),
        ("{{seeks}}", seek_script()),
        ("{{script}}", parts["page.js"]),
        ("{{entries}}", data),
    ):
        page = page.replace(mark, text)
    return page


_PARTS = ("page.html", "page.css", "page.js")
