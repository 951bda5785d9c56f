"""Slots of a server: never more at once than there are, also between processes, and none lost."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from duplexkit.builders.speakers.slots import slot

HOLDER = """
import sys, time
from pathlib import Path
from duplexkit.builders.speakers.slots import slot
with slot(Path(sys.argv[1]), "server", 1):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(folder: Path, held_s: float) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), str(held_s)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_waits(tmp_path: Path) -> None:
    process = holder(tmp_path, 0.6)
    began = time.monotonic()
    with slot(tmp_path, "another server", 1):
        assert time.monotonic() - began < 0.3
    with slot(tmp_path, "server", 2):  # the second slot is free
        assert time.monotonic() - began < 0.4
    with slot(tmp_path, "server", 1):
        assert process.poll() is not None or time.monotonic() - began > 0.4
    process.wait()


def test_a_process_that_dies_gives_its_slot_back(tmp_path: Path) -> None:
    process = holder(tmp_path, 60)
    process.kill()
    process.wait()
    began = time.monotonic()
    with slot(tmp_path, "server", 1):
        assert time.monotonic() - began < 1.0


def test_an_error_gives_the_slot_back(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), slot(tmp_path, "server", 1):
        raise ValueError("inside")
    with slot(tmp_path, "server", 1):
        pass
