"""Samples on a Ray cluster; its nodes must share the disk of the output folder and of the speech cache."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from ... import EngineError
from ...scenarios.reason import reason_of
from ..stopping import listen_again, raise_if_asked

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_ray(
    task: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result, None, None]:
    """Yield the results as they come, from the cluster of ``RAY_ADDRESS`` or one started on this machine.

    Errors of a task arrive as what they were. A node that dies has its samples made again elsewhere.

    Raises
    ------
    EngineError
        If Ray is not installed, or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise EngineError("--engine ray: Ray is not installed; pip install 'duplexkit[ray]'") from None
    ours = not ray.is_initialized()
    try:
        if ours:
            ray.init(logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False)
            listen_again()
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EngineError(f"--engine ray: the cluster cannot be reached: {reason_of(error)}") from None
    try:
        remote = ray.remote(num_cpus=1, max_retries=3)(_make)
        held = ray.put(task)
        limit = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        left = iter(items)
        running: list[Any] = []
        while True:
            raise_if_asked()
            for item in left:
                running.append(remote.remote(held, item))
                if len(running) >= limit:
                    break
            if not running:
                return
            done, running = ray.wait(running, num_returns=1)
            for reference in done:
                try:
                    yield ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
    finally:
        if ours:
            ray.shutdown()


def _make(task: Callable[[Item], Result], item: Item) -> Result:
    return task(item)
