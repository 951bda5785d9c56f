"""Ctrl-C and SIGTERM to one exception, which says how to go on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""What asks a command to stop: the user's Ctrl-C, and what shells, schedulers and machines send."""


class Stopped(BaseException):
    """A command was asked to stop. No `Exception`, so that nothing takes it for a fault of its own."""

    def __init__(self, number: int, what_stays: str) -> None:
        super().__init__(
            f"stopped; {what_stays}; the same command goes on from there"
            if what_stays
            else "stopped; nothing unfinished stands under a final name; run the same command again"
        )
        self.exit_code = 128 + number


@dataclass(slots=True, kw_only=True)
class _Asked:
    """What this process was asked, and what of the running command stays when it stops (the last one speaks).

    `stays` is what stayed at the first signal: a second one may come on the way out.
    """

    number: int = 0
    stays: str = ""
    is_listening: bool = False
    is_said: bool = False
    what_stays: list[str] = field(default_factory=list)


_asked = _Asked()


@contextmanager
def stop_signals() -> Iterator[None]:
    """Within it the first signal raises `Stopped`, and a second one ends the process at once.

    Whatever is on disk is whole at any moment, so that ending at once loses no more than the sample at hand.
    A signal that the caller's shell ignores stays ignored. Outside of the main thread it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Any] = {
        number: signal.getsignal(number)
        for number in SIGNALS
        if signal.getsignal(number) not in (signal.SIG_IGN, _stop)
    }
    was_listening, _asked.is_listening = _asked.is_listening, True
    for number in before:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        _asked.is_listening = was_listening
        if not _asked.number:  # else a second signal still ends what hangs on the way out
            for number, handler in before.items():
                signal.signal(number, handler)


def listen_again() -> None:
    """Take the signals back from a library that took them, where a command listens to them."""
    if _asked.is_listening and threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)


def say(stopped: Stopped) -> int:
    """Print what a stopped command has to say, once; return its exit code."""
    if not _asked.is_said:
        _asked.is_said = True
        print(f"duplexkit: {stopped}", file=sys.stderr, flush=True)
    return stopped.exit_code


@contextmanager
def going_on(what_stays: str) -> Iterator[None]:
    """Within it a stopped command says what stays of it, from which the same command goes on."""
    _asked.what_stays.append(what_stays)
    try:
        yield
    finally:
        _asked.what_stays.pop()


def raise_if_asked() -> None:
    """Raise `Stopped` again where a callback swallowed the first; long loops ask at every step."""
    if _asked.number and threading.current_thread() is threading.main_thread():
        raise _stopped()


@contextmanager
def held_back() -> Iterator[None]:
    """Hold signals back until the end of the block; processes that start in it never see them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_it_to_the_parent() -> None:
    """Let a worker process do nothing at a signal, and end when the process that started it is gone."""
    for number in SIGNALS:
        signal.signal(number, _nothing)  # not ignored: what the worker starts would inherit that
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _nothing(number: int, frame: FrameType | None) -> None:
    """Leave a signal to the parent, which gets it too, or sends what it has to."""


def _leave_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])  # the end of a pipe: it says so however the parent ended
        os._exit(1)


def _stopped() -> Stopped:
    return Stopped(_asked.number, _asked.stays)


def _stop(number: int, frame: FrameType | None) -> None:
    if not _asked.number:
        _asked.number = number
        _asked.stays = _asked.what_stays[-1] if _asked.what_stays else ""
        raise _stopped()
    if not _asked.is_said:
        _asked.is_said = True
        shown = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # a progress bar may have hidden the cursor
        os.write(2, f"{shown}duplexkit: {_stopped()}\n".encode())
    os._exit(128 + _asked.number)
