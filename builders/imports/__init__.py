"""Other people's folders as rows of our schema; IMPORTS is the one list to extend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .fdb import read_fdb
from .m3 import read_m3

IMPORTS: dict[str, Callable[[Path, str], Iterator[dict[str, Any]]]] = {"fdb": read_fdb, "m3": read_m3}
"""By name: a function from a folder, and the language where names do not say it, to rows."""

SOUNDS: dict[str, str] = {"fdb": "input.wav", "m3": "audio/*.wav"}
"""By name: the pattern of one sound per row, to say how far an import is."""
