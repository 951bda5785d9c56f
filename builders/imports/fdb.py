"""A folder of Full-Duplex-Bench v1 or v1.5 to rows."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ... import AudioError, DuplexkitError, ReleaseError, ScriptError
from ...acoustics.activity import speech_spans
from ...acoustics.level import from_pcm16, span_level_dbov
from ...scenarios.text_file import parse_json, read_text, shown
from ..export.check_fdb import names_in, task_roots
from ..export.fdb_tasks import Task, task_of_folder
from ..export.fdb_transcripts import joined
from .row import Pcm, estimated_words, event, read_sound, row, turn, word

_LANGUAGES = ("en", "ja", "zh", "de", "fr", "es", "ko", "it", "pt", "th")
_NEAR_S = 0.05
"""Words of the event may start this much before its time: recognisers do."""


def read_fdb(folder: Path, language: str) -> Iterator[dict[str, Any]]:
    """Yield a row per sample folder; the language is that of a folder called like one, else `language`.

    What a task's files do not say stays null; the model's own files are not read.

    Raises
    ------
    DuplexkitError
        If there is no task; says what was looked for.
    ReleaseError
        If there is a task that nobody knows.
    ScriptError
        If labels cannot be read; names the file.
    AudioError
        If a sound is missing or not mono.
    """
    roots = task_roots(folder)
    if not roots:
        raise DuplexkitError(
            f"{folder}: no task of Full-Duplex-Bench below it; looked for folders such as v1.5/user_interruption, "
            f"with numbered samples that hold an input.wav each"
        )
    for root in roots:
        samples = sorted(
            (path for path in root.iterdir() if (path / "input.wav").is_file()),
            key=lambda path: (len(path.name), path.name),
        )
        files = {name for sample in samples for name in names_in(sample)}
        task = task_of_folder(root.name, root.parent.name, files)
        if task is None:
            raise ReleaseError(f"{root}: no task of Full-Duplex-Bench is called {root.name}")
        spoken = next((part for part in reversed(root.parts) if part in _LANGUAGES), language)
        for sample in samples:
            yield _row(sample, task, spoken)


def _row(sample: Path, task: Task, language: str) -> dict[str, Any]:
    (heard,), rate_hz = read_sound(sample / "input.wav", n_channels=1)
    tracks = {"input": heard}
    more: dict[str, Any] = {}
    if task.has_clean:
        (clean,), clean_hz = read_sound(sample / "clean_input.wav", n_channels=1)
        if clean_hz != rate_hz or clean.size != heard.size:
            raise AudioError(
                f"{sample / 'clean_input.wav'}: {clean.size} samples at {clean_hz} Hz; wanted those of input.wav, "
                f"{heard.size} at {rate_hz} Hz"
            )
        tracks["clean_input"] = clean
        turns, events, more = _overlap(sample, task, language, heard, clean, rate_hz)
    elif task.name == "user_interruption":
        turns, events = _interruption(sample, heard, rate_hz)
    else:
        turns, events = _monologue(sample, task, language)
        if task.name == "backchannel":
            more = _distribution(sample)
    return row(
        scenario=task.scenario,
        language=language,
        split="test",
        source=f"fdb-{task.version}",
        name=f"{sample.parent.name}-{sample.name}",
        tracks=tracks,
        rate_hz=rate_hz,
        turns=turns,
        events=events,
        **more,
    )


def _json(path: Path) -> Any:
    return parse_json(read_text(path), str(path))


def _object(path: Path) -> dict[str, Any]:
    content = _json(path)
    if not isinstance(content, dict):
        raise ScriptError(f"{path}: {shown(content)}; wanted an object")
    return content


def _words(path: Path) -> list[dict[str, Any]]:
    """Return the words of a transcript: a list, one per speaker, or a recogniser's chunks."""
    content = _json(path)
    if isinstance(content, dict):
        content = content.get("chunks")
    try:
        if isinstance(content, list) and content and "item" in content[0]:
            content = content[0]["item"]
        listed = [
            word(w["text"].strip(), float(w["timestamp"][0]), float(w["timestamp"][1])) for w in content
        ]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise ScriptError(
            f'{path}: no words with times: {shown(content)}; wanted {{"text", "timestamp": [start, end]}} each; '
            "duplexkit export --check says more"
        ) from None
    return sorted(listed, key=lambda w: (w["onset_s"], w["offset_s"]))


def _span(path: Path, item: Any, key: str) -> tuple[float, float]:
    try:
        start_s, end_s = (float(t) for t in item[key])
        if not (isfinite(start_s) and isfinite(end_s) and start_s <= end_s):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ScriptError(
            f"{path}: no {key}: {shown(item)}; wanted [start, end] in seconds under that key"
        ) from None
    return start_s, end_s


def _monologue(sample: Path, task: Task, language: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    words = _words(sample / "transcription.json")
    if not words:
        raise ReleaseError(f"{sample / 'transcription.json'}: no words; wanted what the user says")
    text = joined([w["text"] for w in words], language)
    onset_s, end_s = words[0]["onset_s"], words[-1]["offset_s"]
    said = turn("user", text, onset_s, end_s, words, "transcription.json")
    starts = {"context_start_s": onset_s, "input_start_s": onset_s}
    if task.name == "backchannel":
        return [said], [event("shift", "system", end_s, end_s, 0, **starts)]
    name = "pause.json" if task.name == "pause_handling" else "turn_taking.json"
    path = sample / name
    labels = _json(path)
    if not isinstance(labels, list):
        raise ScriptError(f'{path}: {shown(labels)}; wanted a list of {{"timestamp": [start, end]}}')
    spans = [_span(path, item, "timestamp") for item in labels]
    return [said], [event(task.kind, task.role, start_s, stop_s, 0, **starts) for start_s, stop_s in spans]


def _distribution(sample: Path) -> dict[str, Any]:
    """Return the listeners' distribution of a sample, where a file beside the task holds it."""
    root = sample.parent
    for path in (
        root.with_name(f"{root.name}_gt_distribution.json"),
        root.with_name("icc_gt_distribution.json"),
    ):
        if path.is_file():
            shares = _object(path).get(sample.name)
            if isinstance(shares, list):
                return {"backchannel_q": shares, "q_source": _q_source(root) or path.name}
    return {}


def _q_source(root: Path) -> str:
    """Return whose the distribution is, where our export left a note of it beside the task ("" = not said)."""
    path = root.with_name(f"{root.name}_q_source.json")
    return str(_object(path).get("q_source", "")) if path.is_file() else ""


def _interruption(
    sample: Path, heard: Pcm, rate_hz: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    path = sample / "interrupt.json"
    content = _json(path)
    item = content[0] if isinstance(content, list) and content else {}
    start_s, end_s = _span(path, item, "timestamp")
    context_s: float | None = None
    if (sample / "context.wav").is_file():
        (context,), context_hz = read_sound(sample / "context.wav", n_channels=1)
        context_s = context.size / context_hz
    began_s, ended_s = _speech(heard, rate_hz, start_s, context_s)
    turns = [
        _estimated("user", item.get("context", ""), began_s, ended_s),
        _estimated("user", item.get("interrupt", ""), start_s, end_s),
    ]
    return turns, _two_events("barge_in", "user", began_s, ended_s, start_s, end_s)


def _overlap(
    sample: Path, task: Task, language: str, heard: Pcm, clean: Pcm, rate_hz: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    kind, role = task.kind, task.role
    path = sample / "metadata.json"
    labels = _json(path)
    start_s, end_s = _span(path, labels, "timestamps")
    turns = []
    if (sample / "clean_input.json").is_file() and (sample / "input.json").is_file():
        before = [w for w in _words(sample / "clean_input.json") if w["onset_s"] < start_s]
        during = [
            w
            for w in _words(sample / "input.json")
            if start_s - _NEAR_S <= w["onset_s"] and w["offset_s"] <= end_s + _NEAR_S
        ]
        for said, words, by in (("context_text", before, "user"), ("current_turn_text", during, role)):
            text = labels.get(said) or joined([w["text"] for w in words], language)
            if words:
                edges = (
                    (words[0]["onset_s"], words[-1]["offset_s"])
                    if said == "context_text"
                    else (start_s, end_s)
                )
                turns.append(turn(by, text, edges[0], edges[1], words, "input.json"))
    if len(turns) != 2:
        began_s, ended_s = _speech(clean, rate_hz, start_s, None)
        turns = [
            _estimated("user", labels.get("context_text", ""), began_s, ended_s),
            _estimated(role, labels.get("current_turn_text", ""), start_s, end_s),
        ]
    differs = np.flatnonzero(heard != clean)
    audible_end_s = (int(differs[-1]) + 1) / rate_hz if differs.size else end_s
    more: dict[str, Any] = {"audible_end_s": audible_end_s}
    if kind == "backchannel":
        token = turns[1]["text"].strip(".。!?！？")
        more |= {
            "token": token,
            "meets_fdb": end_s - start_s < 1.0 and len(token.split()) < 2,
            "meets_m3": end_s - start_s <= 0.8,
        }
    events = _two_events(kind, role, turns[0]["onset_s"], turns[0]["offset_s"], start_s, end_s, **more)
    treatment = {
        "preset": "unknown",
        "target_db": None,
        "measured_db": _relative_db(heard, clean, turns, rate_hz),
        "audible_end_s": audible_end_s,
        "params": "{}",
    }
    return turns, events, {"treatment": treatment}


def _estimated(role: str, text: str, onset_s: float, offset_s: float) -> dict[str, Any]:
    return turn(role, text, onset_s, offset_s, estimated_words(text, onset_s, offset_s), "estimated")


def _two_events(
    kind: str, role: str, began_s: float, ended_s: float, start_s: float, end_s: float, **more: Any
) -> list[dict[str, Any]]:
    starts = {"context_start_s": began_s, "input_start_s": began_s}
    return [
        event("shift", "system", ended_s, ended_s, 0, **starts),
        event(kind, role, start_s, end_s, 1, **starts, **more),
    ]


def _speech(heard: Pcm, rate_hz: int, before_s: float, end_s: float | None) -> tuple[float, float]:
    """Return where the context starts and ends: by the energy detector, the end also by its clip's length."""
    until_s = before_s if end_s is None or end_s > before_s else end_s
    spans = speech_spans(
        from_pcm16(heard[: max(1, round(until_s * rate_hz))]), sample_rate_hz=rate_hz, min_hush_s=0.0
    )
    if not spans:
        return 0.0, until_s
    ended_s = spans[-1][1] / rate_hz
    return spans[0][0] / rate_hz, until_s if end_s is not None and end_s <= before_s else ended_s


def _relative_db(heard: Pcm, clean: Pcm, turns: list[dict[str, Any]], rate_hz: int) -> float | None:
    """Return the event's level against the user's, in dB; None where either is silent."""
    alone = from_pcm16(heard) - from_pcm16(clean)
    spans = [(round(t["onset_s"] * rate_hz), min(round(t["offset_s"] * rate_hz), clean.size)) for t in turns]
    try:
        return span_level_dbov(alone, [spans[1]]) - span_level_dbov(from_pcm16(clean), [spans[0]])
    except AudioError:
        return None
