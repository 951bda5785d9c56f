"""How many processes may ask a server at once: slots that they share through a folder of locks."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_S = 0.05


@contextmanager
def slot(cache_dir: Path, server: str, n_slots: int) -> Iterator[None]:
    """Hold one of the `n_slots` of a server while the block runs; wait for it if they are taken.

    A process that dies gives its slot back. Each process starts its search elsewhere, so that none starves.
    """
    from filelock import FileLock, Timeout

    folder = cache_dir / "slots" / hashlib.sha256(server.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    at = os.getpid()
    while True:
        lock = FileLock(folder / f"{at % n_slots}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            at += 1
            if (at - os.getpid()) % n_slots == 0:
                time.sleep(_POLL_S)
            continue
        try:
            yield
        finally:
            lock.release()
        return
