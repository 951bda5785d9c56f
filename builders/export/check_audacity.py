"""Audacity's rules on label files: onset, offset and label by tabs, beside their sound; words inside turns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ... import ReleaseError
from .audacity import Label
from .format import Finding
from .origins import ATTRIBUTION
from .reading import TOLERANCE_S, Report, lines_of


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the label files below a folder.

    Raises
    ------
    ReleaseError
        If there are none.
    """
    files = sorted(path for path in folder.rglob("*.txt") if path != folder / ATTRIBUTION)
    if not files:
        raise ReleaseError(f"{folder}: no label files below it")
    report = Report(folder)
    by_sound: dict[Path, dict[str, Path]] = {}
    for path in files:
        sample, _, kind = path.name.removesuffix(".txt").partition(".")
        by_sound.setdefault(path.with_name(f"{sample}.wav"), {})[kind] = path
    for wav, paths in by_sound.items():
        sound = report.sound(wav)
        end_s = sound.length_s if sound else None
        labels = {kind: _labels(path, end_s, report) for kind, path in paths.items()}
        if labels.get("turns") and labels.get("words"):
            _agreement(paths, labels, report)
        yield from report.taken()


def _labels(path: Path, end_s: float | None, report: Report) -> list[Label]:
    """Return the labels of a file that can be read; the others are findings."""
    text = report.text(path)
    if text is None:
        return []
    if not text.strip():
        report.find(path, "no-labels", "an empty file", "a label a line, or no file")
    labels: list[Label] = []
    for number, line in lines_of(text):
        fields = line.split("\t")
        try:
            span = [float(fields[0]), float(fields[1])]
        except (ValueError, IndexError):
            span = []
        if not span or len(fields) != 3 or not fields[2]:
            report.find(path, "wrong-fields", f"line {number}: {line!r}", "onset, offset and label, by tabs")
        elif report.span(path, f"line {number}", span, end_s):
            labels.append((span[0], span[1], fields[2]))
    return labels


def _agreement(paths: dict[str, Path], labels: dict[str, list[Label]], report: Report) -> None:
    """Look whether each word lies in a turn, and each turn holds a word."""
    for label in labels["words"]:
        if not any(_inside(label, turn) for turn in labels["turns"]):
            report.find(paths["turns"], "word-outside-turns", _said(label), "a turn that holds it")
            break
    for turn in labels["turns"]:
        if not any(_inside(label, turn) for label in labels["words"]):
            report.find(paths["words"], "turn-without-words", _said(turn), "what is said in it")
            break


def _inside(label: Label, turn: Label) -> bool:
    return turn[0] - TOLERANCE_S <= label[0] and label[1] <= turn[1] + TOLERANCE_S


def _said(label: Label) -> str:
    return f"{label[0]:.3f}-{label[1]:.3f} s, {label[2]!r}"
