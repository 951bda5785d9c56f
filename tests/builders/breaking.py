"""How tests break an exported folder by hand: JSON and lists edited, sounds of another form."""

import gzip
import json
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Break = Callable[[Path], Any]

Case = tuple[Break, str, str]
"""What breaks the folder, and the file and rule of the one finding that this gives."""


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(change(content), ensure_ascii=False), encoding="utf-8")


def edit_lines(path: Path, change: Callable[[list[Any]], None]) -> None:
    packed = path.suffix == ".gz"
    text = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    change(lines)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())


def put(**fields: Any) -> Callable[[Any], Any]:
    return lambda content: {**content, **fields}


def wav(path: Path, *, rate: int = 16000, channels: int = 1, width: int = 2, n: int | None = None) -> None:
    """Write a file of another form in place of a sound, as long as it."""
    with wave.open(str(path)) as file:
        seconds = file.getnframes() / file.getframerate()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        size = round(seconds * rate) if n is None else n
        file.writeframes(np.zeros(size * channels * width, dtype=np.uint8).tobytes())
