"""Full-Duplex-Bench v1 and v1.5: numbered sample folders, 16 kHz mono, as its evaluation scripts read them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..place import to_samples
from .fdb_tasks import RATE_HZ, Task, task_of_row
from .fdb_transcripts import chunks_of, ground_truth, inside, recognised
from .files import put_json, put_wav
from .format import Options, Outcome, Row
from .levels import event_sound, tracks_at

Pcm = NDArray[np.int16]
Files = dict[str, Any]
"""Name to content: arrays become WAV files, anything else JSON."""


NOT_HUMAN = "not human timing: the places were marked by an author; scores are not comparable"


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write rows as ``{language}/{v1_0,v1_5}/{task}/{n}/``, n from 0 in each task.

    A sample's folder gets its name when it is whole. The file of a backchannel task's distribution lies
    beside the task: under a task's root FDB's scripts stumble over anything that is no sample.
    """
    counts: Counter[Path] = Counter()
    distributions: dict[Path, dict[str, list[float]]] = {}
    sources: dict[Path, str] = {}
    for row in rows:
        task, name = task_of_row(row, author_q=options.author_q)
        if task is None:
            yield Outcome(id=row["id"], skipped=name)
            continue
        root = folder / row["language"] / task.version / name
        number = counts[root]
        counts[root] += 1
        if task.name == "backchannel":
            shares = [round(float(share), 6) for share in row["backchannel_q"] or ()]
            distributions.setdefault(root, {})[str(number)] = shares
            if str(row["q_source"]).startswith("author"):
                sources[root] = row["q_source"]
        target = root / str(number)
        if not target.is_dir():
            _put(target, _sample(row, task, options))
        yield Outcome(id=row["id"], place=target.relative_to(folder).as_posix())
    for root, shares_by_id in distributions.items():
        put_json(root.with_name(f"{root.name}_gt_distribution.json"), shares_by_id)
    for root, source in sources.items():
        put_json(root.with_name(f"{root.name}_q_source.json"), {"q_source": source, "note": NOT_HUMAN})


def _put(target: Path, files: Files) -> None:
    beside = target.with_name(f".{target.name}.tmp")
    if beside.is_dir():
        shutil.rmtree(beside)
    beside.mkdir(parents=True)
    for name, content in files.items():
        if isinstance(content, np.ndarray):
            put_wav(beside / name, [content], RATE_HZ)
        else:
            put_json(beside / name, content)
    beside.rename(target)


def _sample(row: Row, task: Task, options: Options) -> Files:
    """Return the files of one sample."""
    tracks = tracks_at(row, RATE_HZ)
    make: dict[str, Callable[[Row, Mapping[str, Pcm]], Files]] = {
        "pause_handling": _pause,
        "turn_taking": _turn_taking,
        "backchannel": _monologue,
        "user_interruption": _interruption,
    }
    files = _overlap(row, tracks, task, options) if task.version == "v1_5" else make[task.name](row, tracks)
    return {"input.wav": tracks["input"], **files}


def _span(event: Mapping[str, Any], end_s: float) -> list[float]:
    return [inside(event["onset_s"], end_s), inside(event["offset_s"], end_s)]


def _end_s(tracks: Mapping[str, Pcm]) -> float:
    return float(tracks["input"].size) / RATE_HZ


def _pause(row: Row, tracks: Mapping[str, Pcm]) -> Files:
    end_s = _end_s(tracks)
    pauses = [event for event in row["events"] if event["kind"] == "pause"]
    return {
        "pause.json": [{"text": "[PAUSE]", "timestamp": _span(pause, end_s)} for pause in pauses],
        "transcription.json": chunks_of(row["turns"], end_s=end_s),
    }


def _turn_taking(row: Row, tracks: Mapping[str, Pcm]) -> Files:
    end_s = _end_s(tracks)
    shift = next(event for event in row["events"] if event["kind"] == "shift")
    return {
        "turn_taking.json": [{"text": "[TURN-TAKING]", "timestamp": _span(shift, end_s)}],
        "transcription.json": chunks_of(row["turns"], end_s=end_s),
    }


def _monologue(row: Row, tracks: Mapping[str, Pcm]) -> Files:
    items = chunks_of(row["turns"], end_s=_end_s(tracks))
    return {"transcription.json": [{"speaker": 0, "item": items}]}


def _turns(row: Row) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """Return the event, the context's turn and the event's turn."""
    event = row["events"][-1]
    context = next(turn for i, turn in enumerate(row["turns"]) if i != event["turn"])
    return event, context, row["turns"][event["turn"]]


def _interruption(row: Row, tracks: Mapping[str, Pcm]) -> Files:
    """Return v1's files: context, 7 s, interrupt and 15 s one after the other make the input again."""
    event, context, said = _turns(row)
    start, stop = (to_samples(event[edge], RATE_HZ) for edge in ("onset_s", "offset_s"))
    return {
        "context.wav": tracks.get("clean_input", tracks["input"])[: to_samples(context["offset_s"], RATE_HZ)],
        "interrupt.wav": tracks["input"][start:stop],
        "interrupt.json": [
            {
                "context": context["text"],
                "interrupt": said["text"],
                "timestamp": _span(event, _end_s(tracks)),
            }
        ],
    }


def _overlap(row: Row, tracks: Mapping[str, Pcm], task: Task, options: Options) -> Files:
    """Return v1.5's files."""
    event, context, said = _turns(row)
    alone, (first, last) = event_sound(tracks)
    start = min(to_samples(event["onset_s"], RATE_HZ), first)
    stop = max(to_samples(event["offset_s"], RATE_HZ), last)
    end_s = _end_s(tracks)
    return {
        "clean_input.wav": tracks["clean_input"],
        "context.wav": tracks["clean_input"][: to_samples(context["offset_s"], RATE_HZ)],
        task.stem: alone[start:stop],
        "metadata.json": {
            "context_text": context["text"],
            "current_turn_text": said["text"],
            "timestamps": _span(event, end_s),
        },
        "input.json": _words(row, row["turns"], tracks["input"], options),
        "clean_input.json": _words(row, [context], tracks["clean_input"], options),
    }


def _words(row: Row, turns: list[Mapping[str, Any]], heard: Pcm, options: Options) -> dict[str, Any]:
    if options.transcripts == "ground_truth":
        return ground_truth(turns, row["language"], end_s=heard.size / RATE_HZ)
    return recognised(heard, row["language"], options.transcripts.removeprefix("asr:"))
