"""An exported folder to findings: by its format's rules, and of an export of ours by what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ..json_file import Form, misfit
from .format import Finding, Format
from .origins import ATTRIBUTION, EXPORT, attribution_text
from .reading import Report

_TEXTS = (".json", ".jsonl", ".txt", ".rttm", ".ctm", ".TextGrid")
"""Names of text files end so; we end each with a line's end."""

_PART: Form = {**dict.fromkeys(("kind", "name", "licence", "attribution"), str), "samples?": int}
_FORM: Form = {
    "format": str,
    "dataset": {"name": str, "version": str, "licence": str},
    "parts": [{**_PART, "samples": int}],
    "imported?": {"licence": str, "source": str, "attribution": str, "parts": [_PART]},
    "samples": {"*": str},
    "files?": [str],
}


def check_export(folder: Path, format_: Format) -> Iterator[Finding]:
    """Yield what is wrong with a folder of a format.

    A folder with ``export.json`` must hold every file that it names, whole; any other is looked at by the
    format's own rules alone.

    Raises
    ------
    ReleaseError
        If there is nothing of the format in the folder, or it was exported to another one.
    """
    known = list(_papers(folder, format_))
    yield from known
    said = {(finding.file, finding.rule) for finding in known}
    try:
        for finding in format_.check(folder):
            if (finding.file, finding.rule) not in said:
                yield finding
    except ReleaseError:
        if not known:  # else what is missing was said already
            raise


def _papers(folder: Path, format_: Format) -> Iterator[Finding]:
    if not any((folder / name).exists() for name in (EXPORT, ATTRIBUTION)):
        return
    report = Report(folder)
    content = report.json(folder / EXPORT, wanted="what is in the export")
    if content is not None:
        wrong = misfit(content, _FORM)
        if wrong:
            report.find(folder / EXPORT, "no-export", wrong, "export.json as it was written")
        elif content["format"] != format_.name:
            raise ReleaseError(
                f"{folder / EXPORT}: exported to {content['format']}; give --to {content['format']} to check it"
            )
        else:
            _files(folder, content, report)
            _attribution(folder / ATTRIBUTION, content, report)
    yield from report.taken()


def _files(folder: Path, content: Mapping[str, Any], report: Report) -> None:
    """Look at every file that was written: it is there, and its text goes on to the end of a line."""
    for name in content.get("files", ()):
        path = folder / name
        if not path.is_file():
            report.find(path, "missing-file", "no such file", f"a file of the export, as {EXPORT} says")
        elif path.stat().st_size == 0:
            report.find(path, "empty-file", "0 bytes", "what the export wrote")
        elif path.suffix in _TEXTS and _last_byte(path) != b"\n":
            report.find(path, "cut-short", "the last line has no end", "a line's end after the last line")


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read()


def _attribution(path: Path, content: Mapping[str, Any], report: Report) -> None:
    text = report.text(path, wanted="whom the parts of the dataset want named")
    if text is not None and text != attribution_text(content):
        report.find(path, "other-text", f"{len(text)} characters", f"what {EXPORT} lists, part for part")
