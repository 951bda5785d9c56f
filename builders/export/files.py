"""Files of an export: each is written beside and renamed, so that one that exists is whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...whole_file import beside, put_bytes


def json_bytes(content: Any) -> bytes:
    """Return JSON as every file of an export has it: letters as they are, a line's end at the end."""
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


def put_json(path: Path, content: Any) -> None:
    """Write JSON."""
    put_bytes(path, json_bytes(content))


def put_wav(path: Path, channels: Sequence[NDArray[np.int16]], rate_hz: int) -> None:
    """Write a WAV file of 16-bit PCM; each channel has shape (n,), all the same n."""
    import soundfile

    with beside(path) as part:
        soundfile.write(part, np.stack(channels, axis=1), rate_hz, format="WAV", subtype="PCM_16")


def wav_unless_there(path: Path, rate_hz: int, channels: Callable[[], Sequence[NDArray[np.int16]]]) -> None:
    """Write a WAV file unless an earlier run did; only then `channels` is called."""
    if not path.exists():
        put_wav(path, channels(), rate_hz)
