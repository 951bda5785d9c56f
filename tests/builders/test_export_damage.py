"""Every kind of file that an export writes, deleted, emptied or cut in half: the validator names it."""

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.check import check_export
from tests.builders import exported as ex

PAPERS = ("export.json", "ATTRIBUTION.txt")

KINDS: dict[str, tuple[str, ...]] = {
    "fdb": (
        *("**/input.wav", "**/clean_input.wav", "**/context.wav", "**/input.json", "**/clean_input.json"),
        *("**/interrupt.wav", "**/backchannel.wav", "**/current_turn.wav", "**/background.wav"),
        *("**/metadata.json", "**/turn_taking.json", "**/transcription.json", "**/pause.json"),
        *("**/*_gt_distribution.json", "**/*_q_source.json"),
    ),
    "m3": ("**/audio/*.wav", "**/*.jsonl", "**/txt_align/*.txt"),
    "moshi": ("**/data_stereo/*.wav", "**/data_stereo/*.json", "**/data.jsonl"),
    "lhotse": ("audio/*.wav", "recordings-*.jsonl.gz", "supervisions-*.jsonl.gz"),
    "nemo": ("user/*.wav", "agent/*.wav", "cuts-*.jsonl.gz"),
    "webdataset": ("*.tar",),
    "rttm": ("audio/*.wav", "*.rttm", "*.ctm"),
    "textgrid": ("*/*.wav", "*/*.TextGrid"),
    "audacity": ("*/*.wav", "*/*.turns.txt", "*/*.words.txt", "*/*.events.txt"),
}
"""The files of each format, as patterns, beside `PAPERS`."""


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "cut in half": cut,
}

FILES = [(to, kind) for to, kinds in KINDS.items() for kind in kinds]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives a copy of an export; each test puts back what it takes."""

    @cache
    def copied(to: str) -> Path:
        return Path(shutil.copytree(ex.exported(to), tmp_path_factory.mktemp(to) / "out"))

    return copied


@pytest.fixture(params=DAMAGES)
def damaged(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], None]]:
    """Return a function that damages a file, which is whole again after the test."""
    whole: dict[Path, bytes] = {}

    def damage(path: Path) -> None:
        whole[path] = path.read_bytes()
        DAMAGES[request.param](path)

    yield damage
    for path, content in whole.items():
        path.write_bytes(content)


def last_of(folder: Path, kind: str) -> Path:
    return sorted(folder.glob(kind))[-1]


@pytest.mark.parametrize("to", KINDS)
def test_no_kind_is_forgotten(exported: Callable[[str], Path], to: str) -> None:
    folder = exported(to)
    known = {path for kind in KINDS[to] for path in folder.glob(kind)} | {folder / name for name in PAPERS}
    assert {path for path in folder.rglob("*") if path.is_file()} == known
    written = json.loads((folder / "export.json").read_text("utf-8"))["files"]
    assert {folder / name for name in (*written, *PAPERS)} == known


@pytest.mark.parametrize(("to", "kind"), [*FILES, *((to, name) for to in KINDS for name in PAPERS)])
def test_a_damaged_file_is_named(
    exported: Callable[[str], Path], damaged: Callable[[Path], None], to: str, kind: str
) -> None:
    path = last_of(exported(to), kind)
    damaged(path)
    findings = list(check_export(exported(to), FORMATS[to]))
    named = path.relative_to(exported(to)).as_posix()
    assert named in {finding.file for finding in findings}, findings
    assert len({str(finding) for finding in findings}) == len(findings)


@pytest.mark.parametrize("how", ["emptied", "cut in half"])
@pytest.mark.parametrize(("to", "kind"), FILES)
def test_a_damaged_file_of_somebody_else_is_named(
    exported: Callable[[str], Path], tmp_path: Path, to: str, kind: str, how: str
) -> None:
    """Without export.json the format's own rules have to see it."""
    folder = exported(to)
    path = last_of(folder, kind)
    papers = {folder / name: (folder / name).read_bytes() for name in PAPERS}
    content = path.read_bytes()
    try:
        for paper in papers:
            paper.unlink()
        DAMAGES[how](path)
        findings = list(check_export(folder, FORMATS[to]))
    finally:
        path.write_bytes(content)
        for paper, text in papers.items():
            paper.write_bytes(text)
    assert path.relative_to(folder).as_posix() in {finding.file for finding in findings}, findings


def test_a_folder_of_another_format_is_refused(exported: Callable[[str], Path]) -> None:
    with pytest.raises(ReleaseError, match=r"exported to m3; give --to m3"):
        list(check_export(exported("m3"), FORMATS["moshi"]))


def test_an_attribution_that_was_changed_is_found(exported: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported("rttm"), tmp_path / "copy"))
    path = folder / "ATTRIBUTION.txt"
    path.write_text(path.read_text("utf-8").replace("CC0-1.0", "MIT"), encoding="utf-8")
    assert [(f.file, f.rule) for f in check_export(folder, FORMATS["rttm"])] == [
        ("ATTRIBUTION.txt", "other-text")
    ]
