"""Full-Duplex-Bench's reading rules, on any folder: what its scripts would crash on or silently skip."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ...acoustics.sound_file import SoundFacts
from ...scenarios.fields import is_number
from ..json_file import misfit
from .fdb_tasks import RATE_HZ, TASKS, Task, task_of_folder
from .format import Finding
from .reading import TOLERANCE_S, Report

_IGNORED = (".DS_Store", ".md")
"""Names ending so are skipped by FDB's listings; any other file at a task's root crashes them."""

_MODEL_FILES = ("output.wav", "clean_output.wav", "output.json", "clean_output.json")

_TAGS = {"pause.json": "[PAUSE]", "turn_taking.json": "[TURN-TAKING]"}


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with a folder of tasks, of versions, or of languages; or with one task's folder.

    Raises
    ------
    ReleaseError
        If no sample can be found below the folder.
    """
    roots = task_roots(folder)
    if not roots:
        raise ReleaseError(
            f"{folder}: no task of Full-Duplex-Bench below it (a task's folder holds numbered sample folders)"
        )
    report = Report(folder)
    for root in roots:
        files = {name for sample in _folders(root) for name in names_in(sample)}
        task = task_of_folder(root.name, root.parent.name, files)
        if task is None:
            known = ", ".join(dict.fromkeys(t.name for t in TASKS))
            report.find(
                root, "unknown-task", root.name, f"{known}, with or without a prefix such as synthetic_"
            )
            yield from report.taken()
            continue
        _listing(root, report)
        distribution = _distribution(root, task, report)
        for sample in _folders(root):
            _sample(sample, task, distribution, report)
            yield from report.taken()
        yield from report.taken()


def task_roots(folder: Path) -> list[Path]:
    """Return the task folders at or below `folder`: those with a sample folder, or named like a task."""
    roots = []
    for place, names, _ in os.walk(folder):
        path = Path(place)
        if any((path / name / "input.wav").is_file() for name in names) or (
            names and task_of_folder(path.name, path.parent.name, set()) is not None
        ):
            roots.append(path)
            names.clear()
        names.sort()
    return sorted(roots)


def names_in(folder: Path) -> set[str]:
    """Return the names of what lies in a folder."""
    return {path.name for path in folder.iterdir()}


def _folders(root: Path) -> list[Path]:
    found = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return sorted(found, key=lambda path: (not path.name.isdigit(), len(path.name), path.name))


def _listing(root: Path, report: Report) -> None:
    for path in sorted(root.iterdir()):
        if path.is_dir():
            if not (path.name.isascii() and path.name.isdigit()):
                report.find(path, "no-digit-folder", path.name, "a folder named by digits only, from 0")
        elif not path.name.endswith(_IGNORED):
            report.find(path, "file-at-task-root", path.name, "sample folders only; put it one level up")


def _distribution(root: Path, task: Task, report: Report) -> dict[str, Any] | None:
    """Return the listeners' distribution that belongs to a backchannel task."""
    if task.name != "backchannel":
        return None
    own = root.with_name(f"{root.name}_gt_distribution.json")
    path = own if own.is_file() else root.with_name("icc_gt_distribution.json")
    if not path.is_file():
        report.find(own, "missing-file", "no such file", "the listeners' distribution of this task")
        return None
    content = report.json(path)
    source = root.with_name(f"{root.name}_q_source.json")
    if source.is_file():
        said = report.json(source)
        if said is not None and misfit(said, {"q_source": str}):
            report.find(source, "no-source", str(said)[:60], '{"q_source", "note"}')
    if content is not None and not isinstance(content, dict):
        report.find(path, "no-distribution", type(content).__name__, "an object from folder number to shares")
        return None
    return content


def _sample(sample: Path, task: Task, distribution: dict[str, Any] | None, report: Report) -> None:
    for path in sorted(sample.iterdir()):
        if path.is_dir():
            report.find(
                path, "nested-folder", path.name, "files only: every nested folder is read as a sample"
            )
    heard = _wav(sample / "input.wav", report)
    if task.has_clean:
        clean = _wav(sample / "clean_input.wav", report)
        if heard and clean and heard.n_samples != clean.n_samples:
            report.find(
                sample / "clean_input.wav",
                "other-length",
                f"{clean.n_samples} samples",
                f"{heard.n_samples}, as input.wav",
            )
    clips = {name: _wav(sample / name, report) for name in _stems(sample, task)}
    end_s = heard.length_s if heard else None
    for name in task.json_files:
        content = report.json(sample / name)
        if content is not None:
            _labels(sample / name, content, end_s, report)
            _clip(sample / task.stem, clips.get(task.stem), content, end_s, report)
    for name in _MODEL_FILES:
        if (sample / name).is_file() and name.endswith(".json"):
            content = report.json(sample / name)
            if content is not None:
                _labels(sample / name, content, None, report)
    if distribution is not None:
        shares = distribution.get(sample.name)
        if not isinstance(shares, list) or not shares or not all(is_number(s) and s >= 0 for s in shares):
            report.find(
                sample,
                "no-distribution",
                f"key {sample.name!r}: {'missing' if shares is None else 'no list of shares'}",
                "a list of shares per 200 ms under the folder's number",
            )


def _stems(sample: Path, task: Task) -> list[str]:
    """Return the clips: v1 rebuilds its interruption from them, in v1.5 they may be absent."""
    if task.version == "v1_0":
        return ["context.wav", task.stem] if task.stem else []
    names = ("context.wav", "interrupt.wav", "backchannel.wav", "current_turn.wav", "background.wav")
    return [name for name in names if (sample / name).is_file()]


def _clip(path: Path, clip: SoundFacts | None, labels: Any, end_s: float | None, report: Report) -> None:
    """Look whether the event's own clip is as long as the labels say the event is, at least."""
    item = labels[0] if isinstance(labels, list) and labels else labels
    if clip is None or end_s is None or not isinstance(item, dict):
        return
    span = item.get("timestamps", item.get("timestamp"))
    if isinstance(span, list) and len(span) == 2 and all(is_number(t) for t in span):
        length_s = span[1] - span[0]
        if span[1] <= end_s + TOLERANCE_S and clip.length_s < length_s - TOLERANCE_S:
            report.find(
                path, "other-length", f"{clip.length_s:.3f} s", f"{length_s:.3f} s, as its label says"
            )


def _wav(path: Path, report: Report) -> SoundFacts | None:
    sound = report.sound(path)
    if sound is None:
        return None
    if sound.sample_rate_hz != RATE_HZ:
        report.find(path, "wrong-rate", f"{sound.sample_rate_hz} Hz", f"{RATE_HZ} Hz")
    if sound.n_channels != 1:
        report.find(path, "not-mono", f"{sound.n_channels} channels", "one channel")
    if sound.subtype != "PCM_16":
        report.find(path, "not-pcm16", sound.subtype, "PCM_16")
    if sound.n_samples == 0:
        report.find(path, "no-sound", "0 samples", "sound")
    return sound


def _labels(path: Path, content: Any, end_s: float | None, report: Report) -> None:
    """Look at one JSON file by its name."""
    if path.name in _TAGS:
        _tags(path, content, end_s, report)
    elif path.name == "interrupt.json":
        first = content[0] if isinstance(content, list) and content else None
        if not isinstance(first, dict) or not all(
            isinstance(first.get(k), str) for k in ("context", "interrupt")
        ):
            report.find(path, "no-interrupt", str(content)[:60], '[{"context", "interrupt", "timestamp"}]')
        else:
            report.span(path, "timestamp", first.get("timestamp"), end_s)
    elif path.name == "metadata.json":
        if not isinstance(content, dict):
            report.find(path, "no-metadata", str(content)[:60], "an object")
            return
        for key in ("context_text", "current_turn_text"):
            if not isinstance(content.get(key), str):
                report.find(path, "no-metadata", f"no {key}", "context_text and current_turn_text")
        report.span(path, "timestamps", content.get("timestamps"), end_s)
    elif path.name == "transcription.json":
        _words(path, _items(content), end_s, report)
    else:
        chunks = content.get("chunks") if isinstance(content, dict) else None
        _words(path, chunks, end_s, report)


def _tags(path: Path, content: Any, end_s: float | None, report: Report) -> None:
    if not isinstance(content, list) or not content:
        report.find(path, "no-events", str(content)[:60], f'[{{"text": "{_TAGS[path.name]}", "timestamp"}}]')
        return
    reached_s = 0.0
    for i, item in enumerate(content):
        if not isinstance(item, dict) or item.get("text") != _TAGS[path.name]:
            report.find(path, "no-events", f"item {i}: {str(item)[:60]}", f'"text": "{_TAGS[path.name]}"')
            continue
        if report.span(path, f"item {i}", item.get("timestamp"), end_s):
            if item["timestamp"][0] < reached_s:
                report.find(path, "unordered-times", f"item {i}: {item['timestamp']}", "items by their start")
            reached_s = item["timestamp"][0]


def _items(content: Any) -> Any:
    """Return the words of a transcription: a plain list, or one per speaker."""
    if isinstance(content, dict):
        return content.get("chunks")
    if isinstance(content, list) and content and isinstance(content[0], dict) and "item" in content[0]:
        return content[0]["item"]
    return content


def _words(path: Path, words: Any, end_s: float | None, report: Report) -> None:
    if not isinstance(words, list) or not words:
        if not path.name.endswith("output.json"):  # a silent model's transcript is empty
            report.find(path, "no-words", str(words)[:60], 'a list of {"text", "timestamp"}')
        return
    reached_s = 0.0
    for i, word in enumerate(words):
        if not isinstance(word, dict) or not isinstance(word.get("text"), str):
            report.find(path, "no-words", f"word {i}: {str(word)[:60]}", '{"text", "timestamp"}')
            continue
        if report.span(path, f"word {i}", word.get("timestamp"), end_s):
            if word["timestamp"][0] < reached_s:
                report.find(path, "unordered-times", f"word {i}: {word['timestamp']}", "words by their start")
            reached_s = word["timestamp"][0]
