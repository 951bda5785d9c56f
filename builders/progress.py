"""Saying how far a long command is: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .stopping import raise_if_asked

_LINE_EVERY_S = 10.0


class Steps:
    """Progress over a known number of steps; use as a context manager and call `advance`."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._said = self._began = time.monotonic()
        self._at = 0

    def __enter__(self) -> Steps:
        """Start the bar where standard error is a terminal."""
        console = Console(stderr=True)
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=console,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=None)
        return self

    def advance(self, done: int, total: int, note: str = "") -> None:
        """Say that `done` of `total` steps are through; a command that was asked to stop does so here at the latest."""
        raise_if_asked()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total, description=note or self.what)
            return
        now = time.monotonic()
        if done == total or now - self._said >= _LINE_EVERY_S:
            self._said = now
            left_s = (now - self._began) / max(done, 1) * (total - done)
            print(f"{self.what}: {done}/{total}, about {left_s:.0f} s left", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
