"""Samples in processes of this machine."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar, cast

from ... import EngineError
from ..stopping import held_back, leave_it_to_the_parent, raise_if_asked

Item = TypeVar("Item")
Result = TypeVar("Result")

_Lines = dict["Connection[Any, Any]", BaseProcess]
"""The parent's end of each worker's pipe, and the worker."""

_LEAVE_S = 5.0
"""How long a worker that has nothing left to do may take to leave."""


def run_local(
    task: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    """Yield the results as they come.

    Each process has a pipe of its own and at most one item, so that one that ends, however it ends, blocks no
    other. If the parent is stopped or fails, the processes are ended at once; if it is gone, they leave.

    Raises
    ------
    EngineError
        If a process was ended from outside.
    """
    if workers <= 1 or len(items) <= 1:
        for item in items:
            raise_if_asked()
            yield task(item)
        return
    with _crew(task, min(workers, len(items))) as lines:
        left = iter(items)
        busy = [line for line in lines if _hand_out(line, left)]
        while busy:
            raise_if_asked()
            for line in cast("list[Connection[Any, Any]]", wait(busy)):
                result, error = _answer(line)
                if error is not None:
                    raise error
                if not _hand_out(line, left):
                    busy.remove(line)
                yield result


@contextmanager
def _crew(task: Callable[[Any], Any], n: int) -> Iterator[_Lines]:
    """Start the workers; let them leave when all is done, and end them where it is not."""
    context = get_context("spawn")
    lines: _Lines = {}
    is_done = False
    try:
        with held_back():
            for _ in range(n):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs, task), daemon=True)
                process.start()
                theirs.close()
                lines[ours] = process
        yield lines
        is_done = True
    finally:
        with held_back():
            for line, worker in lines.items():
                if not is_done:
                    worker.kill()  # what it writes is whole or not there
                line.close()
            for worker in lines.values():
                worker.join(_LEAVE_S)
                worker.kill()
                worker.join()


def _hand_out(line: Connection[Any, Any], left: Iterator[Any]) -> bool:
    """Send the next item to a worker; return whether there was one."""
    for item in left:
        try:
            line.send(item)
        except OSError:
            raise _ended() from None
        return True
    return False


def _answer(line: Connection[Any, Any]) -> tuple[Any, Exception | None]:
    try:
        answer: tuple[Any, Exception | None] = line.recv()
    except (EOFError, OSError):
        raise _ended() from None
    return answer


def _ended() -> EngineError:
    return EngineError(
        "a worker process was ended from outside (out of memory?); run the same command to go on where "
        "it stopped, with fewer --workers"
    )


def _work(line: Connection[Any, Any], task: Callable[[Any], Any]) -> None:
    """Do what comes over the line, one item at a time, until it is closed."""
    leave_it_to_the_parent()
    while True:
        try:
            item = line.recv()
        except (EOFError, OSError):  # all is done, or the parent is gone
            return
        answer: tuple[Any, Exception | None]
        try:
            answer = task(item), None
        except Exception as error:  # it is raised in the parent
            answer = None, _portable(error)
        try:
            line.send(answer)
        except OSError:
            return


def _portable(error: Exception) -> Exception:
    """Return the error, or one with its text where it does not survive the way to the parent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
