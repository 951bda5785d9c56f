"""Files of an export as a validator reads them: what cannot be read is a finding, not an exception."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import AudioError
from ...acoustics.sound_file import SoundFacts, sound_facts
from ...scenarios.fields import is_number
from ...scenarios.text_file import numbered_lines
from .format import Finding


class Report:
    """The findings on a folder; files are named relative to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.findings: list[Finding] = []

    def find(self, path: Path, rule: str, found: str, wanted: str) -> None:
        """Add a finding."""
        where = path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else str(path)
        self.findings.append(Finding(file=where, rule=rule, found=found, wanted=wanted))

    def taken(self) -> Iterator[Finding]:
        """Yield the findings so far, and forget them."""
        listed, self.findings = self.findings, []
        yield from listed

    def sound(self, path: Path) -> SoundFacts | None:
        """Return what a sound file is; a missing, unreadable or cut one is a finding."""
        if not path.is_file():
            self.find(path, "missing-file", "no such file", "the sound of the sample")
            return None
        try:
            return sound_facts(path, name="the file")
        except AudioError as error:
            self.find(path, "unreadable-sound", str(error), "a whole sound file")
            return None

    def text(self, path: Path, *, wanted: str = "the labels of the sample") -> str | None:
        """Return a text file's content; None, and a finding, where it is missing or no text."""
        if not path.is_file():
            self.find(path, "missing-file", "no such file", wanted)
            return None
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self.find(path, "unreadable-text", str(error), "UTF-8 text")
            return None

    def json(self, path: Path, *, wanted: str = "the labels of the sample") -> Any:
        """Return a JSON file's content; None, and a finding, where it is missing or no JSON."""
        text = self.text(path, wanted=wanted)
        if text is None:
            return None
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.find(path, "unreadable-json", str(error), "JSON")
            return None
        if content is None:
            self.find(path, "unreadable-json", "null", "JSON with content")
        return content

    def lines(self, path: Path) -> Iterator[tuple[str, Any]]:
        """Yield the objects of a file of JSON lines, plain or compressed, and where each stands.

        A list that cannot be read, or that holds nothing, is a finding.
        """
        try:
            text = (
                gzip.decompress(path.read_bytes()).decode()
                if path.suffix == ".gz"
                else path.read_text(encoding="utf-8")
            )
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            self.find(path, "unreadable-list", str(error), "a list of JSON lines")
            return
        if not text.strip():
            self.find(path, "empty-list", "no line", "a JSON object a line")
        for number, line in numbered_lines(text):
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                self.find(path, "unreadable-json", f"line {number}: {error}", "one JSON object a line")

    def span(self, path: Path, where: str, span: Any, end_s: float | None) -> bool:
        """Return whether `span` is ``[start, end]`` in order and inside the sound; else there is a finding."""
        if not (isinstance(span, list | tuple) and len(span) == 2 and all(is_number(t) for t in span)):
            self.find(path, "no-times", f"{where}: {span!r}", "[start, end] in seconds, both numbers")
            return False
        if span[0] < 0 or span[1] < span[0]:
            self.find(path, "unordered-times", f"{where}: {span}", "0 <= start <= end")
            return False
        if end_s is not None and span[1] > end_s + TOLERANCE_S:
            self.find(path, "past-the-end", f"{where}: {span}", f"at most {end_s:.3f} s, the sound's length")
            return False
        return True


TOLERANCE_S = 0.01
"""An end may lie this much after the last sample: labels are rounded to 10 ms by some consumers."""


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line, blank ones too; a line ends at a line feed only."""
    return enumerate(text.removesuffix("\n").split("\n") if text else (), 1)
