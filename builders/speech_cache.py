"""The speech cache: every clip an engine ever spoke, by what was asked of it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .. import EngineError
from ..whole_file import beside
from .speakers import Clip, ClipWord, Speaker, SpeechRequest, varies_by_seed

_FORMAT = 1


def request_key(speaker: Speaker, request: SpeechRequest) -> str:
    """Return the SHA-256 of all that decides a clip: text, voice, speed, seed (if it varies), engine, version."""
    asked = asdict(request)
    asked["voice"] = {"id": request.voice.id, "mix": request.voice.mix}
    if not varies_by_seed(speaker):
        asked["seed"] = 0
    asked["engine"], asked["version"], asked["format"] = speaker.engine, speaker.version, _FORMAT
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def entry_path(cache_dir: Path, engine: str, key: str) -> Path:
    """Return where the clip of a key lies in a cache."""
    return cache_dir / engine / key[:2] / f"{key}.zip"


def is_whole(path: Path) -> bool:
    """Say whether a file is an undamaged entry."""
    return _read(path) is not None


def get_or_speak(
    cache_dir: Path, speaker: Speaker, request: SpeechRequest, count: Callable[[str], None]
) -> tuple[str, Clip]:
    """Return the key and the clip: from the cache, or spoken and kept.

    Safe when several processes ask for the same clip: one speaks, the others wait. A damaged entry is spoken
    anew. `count` is called with ``cached`` or ``spoken``.
    """
    from filelock import FileLock

    key = request_key(speaker, request)
    path = entry_path(cache_dir, speaker.engine, key)
    clip = _read(path)
    if clip is not None:
        count("cached")
        return key, clip
    locks = cache_dir / "locks"
    try:
        locks.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(
            f"--cache: the speech cache {cache_dir} cannot be written: {error.strerror}"
        ) from None
    with FileLock(locks / f"{key[:3]}.lock"):
        clip = _read(path)
        if clip is not None:
            count("cached")
            return key, clip
        clip = speaker.speak(request)
        _write(path, clip)
        count("spoken")
        return key, clip


def _write(path: Path, clip: Clip) -> None:
    samples = io.BytesIO()
    np.save(samples, clip.samples, allow_pickle=False)
    meta = {
        "sample_rate_hz": clip.sample_rate_hz,
        "word_time_source": clip.word_time_source,
        "words": None if clip.words is None else [asdict(word) for word in clip.words],
        "sha256": hashlib.sha256(samples.getvalue()).hexdigest(),
    }
    with beside(path) as part, zipfile.ZipFile(part, "w") as archive:
        archive.writestr("samples.npy", samples.getvalue())
        archive.writestr("meta.json", json.dumps(meta))


def _read(path: Path) -> Clip | None:
    """Return the clip of an entry, or None where there is no whole one."""
    try:
        with zipfile.ZipFile(path) as archive:
            data = archive.read("samples.npy")
            meta: dict[str, Any] = json.loads(archive.read("meta.json"))
        if hashlib.sha256(data).hexdigest() != meta["sha256"]:
            return None
        words = meta["words"]
        return Clip(
            samples=np.load(io.BytesIO(data), allow_pickle=False),
            sample_rate_hz=meta["sample_rate_hz"],
            words=None if words is None else tuple(ClipWord(**word) for word in words),
            word_time_source=meta["word_time_source"],
        )
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
