"""The answers of a model on disk, by the hash of what was asked, so that nothing is asked twice."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from ... import DuplexkitError
from ..stopping import going_on
from .dialect import Dialect
from .endpoint import Answer


class AnswerStore:
    """A JSONL file of answers, held by one process at a time. Where nothing was answered, nothing is left.

    A line that was cut off by a crash is left out when reading; each new answer is on disk before it is used.
    Threads may put at the same time.
    """

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        self.path = path
        self._made = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock_path = path.with_suffix(".lock")
        self._lock = FileLock(self._lock_path)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise DuplexkitError(
                f"{path} is in use: another run writes there; wait for it, or choose another --out"
            ) from None
        self._answers = _read(path)
        self._writing = threading.Lock()

    def __enter__(self) -> AnswerStore:
        self._stays = going_on(f"answers are kept in {self.path}")
        self._stays.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stays.__exit__(kind, error, trace)
        with suppress(OSError):  # some systems do not delete what is held
            self._lock_path.unlink(missing_ok=True)
        self._lock.release()
        if not self._answers:
            with suppress(OSError):  # something else is in it
                for folder in self._made:
                    folder.rmdir()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> Answer | None:
        """Return the answer to the question of that hash, if there is one."""
        return self._answers.get(key)

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer."""
        line = json.dumps({"key": key, **asdict(answer)}, ensure_ascii=False) + "\n"
        with self._writing, self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
            self._answers[key] = answer

    def dialect(self) -> Dialect:
        """Return the dialect of the last answer, or what is tried first."""
        return list(self._answers.values())[-1].dialect if self._answers else Dialect()


def _read(path: Path) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    if not path.is_file():
        return answers
    for line in path.read_bytes().split(b"\n"):
        try:
            data: dict[str, Any] = json.loads(line)
            key = data.pop("key")
            answers[key] = Answer(**{**data, "dialect": Dialect(**data["dialect"])})
        except (ValueError, KeyError, TypeError):
            continue  # an empty line, or one that a crash cut off
    return answers
