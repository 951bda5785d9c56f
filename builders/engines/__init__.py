"""Where the samples of a build are made: the processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from .local import run_local
from .ray import run_ray

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("local", "ray")


def run_on(
    engine: str, task: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    """Yield the task's results as they come, in any order; the results do not depend on where they were made.

    Parameters
    ----------
    engine
        ``local`` or ``ray``.
    task
        A picklable function that leaves what it makes on a disk all workers share.
    workers
        Processes at once (ray: tasks in flight; 0 for what the cluster has cores).
    """
    return run_ray(task, items, workers) if engine == "ray" else run_local(task, items, workers)
