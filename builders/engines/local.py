"""Samples in processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from ... import EngineError

Item = TypeVar("Item")
Result = TypeVar("Result")

_IN_FLIGHT = 4
"""Tasks handed out per process: enough to keep all busy, few enough to hold no long list."""


def run_local(task: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """Yield the results as they come.

    Raises
    ------
    EngineError
        If a process was ended from outside.
    """
    if workers <= 1 or len(items) <= 1:
        for item in items:
            yield task(item)
        return
    pool = ProcessPoolExecutor(min(workers, len(items)), mp_context=get_context("spawn"))
    left = iter(items)
    running: set[Future[Result]] = set()
    try:
        while True:
            for item in left:
                running.add(pool.submit(task, item))
                if len(running) >= _IN_FLIGHT * workers:
                    break
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool:
        raise EngineError(
            "a worker process was ended from outside (out of memory?); run the same command to go on where "
            "it stopped, with fewer --workers"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
