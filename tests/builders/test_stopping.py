"""A command that is stopped, however it is, says how to go on, leaves no process, and goes on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import tone_recipe_text

ROOT = Path(__file__).parents[2]
I, T, K = signal.SIGINT, signal.SIGTERM, signal.SIGKILL  # noqa: E741

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def members(session: int) -> list[int]:
    """Return the processes of a session that are alive."""
    alive = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, *rest = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(rest[2]) == session and state != "Z":
            alive.append(int(path.parent.name))
    return alive


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., list[str]]:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(tone_recipe_text("smooth_turn_taking", count=24), encoding="utf-8")

    def make(workers: int) -> list[str]:
        build = ["build", str(recipe), "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
        return [sys.executable, str(ROOT / "tests" / "tone_cli.py"), *build, "--workers", str(workers)]

    return make


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(I, signal.SIG_DFL),  # a shell's background jobs ignore it
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / ".dev")])},
    )


def n_rows(folder: Path) -> int:
    return len(list(folder.glob("out.partial/rows/*/*.parquet")))


def wait_for(found: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline_s = time.monotonic() + 120
    while not found():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def stop(
    process: subprocess.Popen[str], send: Callable[[int, int], None], *signals: int, pause_s: float
) -> str:
    """Send signals one after the other; return what was said on standard error after the process has ended."""
    for number in signals:
        if process.poll() is None:
            send(process.pid, number)
        time.sleep(pause_s)
    _, said = process.communicate(timeout=20)
    deadline_s = time.monotonic() + 10
    while members(process.pid) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert members(process.pid) == [], "a worker was left"
    return said


def check_stop(
    command: list[str], folder: Path, signals: tuple[int, ...], *, group: bool, pause_s: float = 0.0
) -> None:
    """Start a build, stop it when samples are there, and look at what it left."""
    there = n_rows(folder)
    process = started(command)
    wait_for(lambda: n_rows(folder) >= there + 2, process)
    said = stop(process, os.killpg if group else os.kill, *signals, pause_s=pause_s)
    assert "Traceback" not in said
    assert not (folder / "out").exists()
    if signals[0] == K:
        assert process.returncode == -K
        return
    assert process.returncode == 128 + signals[0]
    assert said.count("duplexkit: ") == 1
    assert (
        f"duplexkit: stopped; finished samples are in {folder / 'out.partial'}; the same command goes on from there"
        in said
    )


def test_sigterm_to_the_parent_alone_ends_all(command: Callable[..., list[str]], tmp_path: Path) -> None:
    check_stop(command(2), tmp_path, (T,), group=False)


@pytest.mark.slow
def test_a_stopped_build_goes_on(command: Callable[..., list[str]], tmp_path: Path) -> None:
    check_stop(command(2), tmp_path, (T,), group=False)
    done = started(command(2))
    out, said = done.communicate(timeout=120)
    assert done.returncode == 0, said
    assert int(out.split(" samples kept")[0].split()[-1]) >= 2
    assert (tmp_path / "out" / "manifest.json").is_file() and not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_second_ctrl_c_ends_at_once(
    command: Callable[..., list[str]], tmp_path: Path, workers: int
) -> None:
    check_stop(command(workers), tmp_path, (I, I), group=True, pause_s=0.02)


def test_a_second_signal_on_the_way_out_says_what_the_first_would() -> None:
    code = """
import os, signal
from duplexkit.builders.stopping import going_on, stop_signals
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
with stop_signals():
    try:
        with going_on("finished samples are in X"):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        os.kill(os.getpid(), signal.SIGINT)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert (
        done.stderr == "duplexkit: stopped; finished samples are in X; the same command goes on from there\n"
    )


def test_workers_of_a_killed_parent_leave(command: Callable[..., list[str]], tmp_path: Path) -> None:
    check_stop(command(2), tmp_path, (K,), group=False)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_named(command: Callable[..., list[str]], tmp_path: Path) -> None:
    process = started(command(2))
    wait_for(lambda: n_rows(tmp_path) >= 2, process)
    workers = [
        pid for pid in members(process.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    assert len(workers) == 2
    os.kill(workers[0], K)
    said = stop(process, os.kill, pause_s=0)
    assert process.returncode == 1 and "Traceback" not in said
    assert "a worker process was ended from outside" in said


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(3))
def test_every_way_to_stop(command: Callable[..., list[str]], tmp_path: Path, round_: int) -> None:
    for signals, group, pause_s, workers in (
        ((I,), True, 0.0, 2),
        ((I, I), True, 0.3, 2),
        ((I, I, I), True, 0.02 * round_, 2),
        ((T,), False, 0.0, 2),
        ((T,), True, 0.0, 2),
        ((T, I), True, 0.05, 1),
        ((K,), False, 0.0, 2),
    ):
        check_stop(command(workers), tmp_path, signals, group=group, pause_s=pause_s)


@pytest.mark.slow
def test_a_command_can_be_stopped_from_its_first_moment(tmp_path: Path) -> None:
    """While it imports, too: one sentence and no traceback, whenever the signal comes after Python's own start."""
    for delay_s in (0.1, 0.15, 0.2, 0.3, 0.5, 0.8):
        process = started([sys.executable, "-m", "duplexkit.builders", "check", str(tmp_path)])
        time.sleep(delay_s)
        said = stop(process, os.killpg, I, pause_s=0)
        if "no finished dataset" not in said:  # else it had ended before
            assert process.returncode == 130 and "Traceback" not in said
            assert said.startswith("duplexkit: stopped; nothing unfinished stands under a final name")
