"""The speech cache: every clip an engine ever spoke, by what was asked of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from .. import EngineError
from ..scenarios.reason import reason_of
from ..whole_file import put_bytes
from .speakers import Clip, Speaker, SpeechRequest, varies_by_seed
from .speech_entry import clip_in, entry_bytes

_FORMAT = 1


def request_key(speaker: Speaker, request: SpeechRequest) -> str:
    """Return the SHA-256 of all that decides a clip: text, voice, speed, seed (if it varies), engine, version."""
    asked = asdict(request)
    asked["voice"] = request.voice.sounds_by
    if not varies_by_seed(speaker):
        asked["seed"] = 0
    asked["engine"], asked["version"], asked["format"] = speaker.engine, speaker.version, _FORMAT
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def entry_path(cache_dir: Path, engine: str, key: str) -> Path:
    """Return where the clip of a key lies in a cache."""
    return cache_dir / engine / key[:2] / f"{key}.zip"


def is_whole(path: Path) -> bool:
    """Say whether a file is an undamaged entry, made for the request of which it bears the key."""
    return _read(path) is not None


def get_or_speak(
    cache_dir: Path, speaker: Speaker, request: SpeechRequest, count: Callable[[str], None]
) -> tuple[str, Clip]:
    """Return the key and the clip: from the cache, or spoken and kept.

    Safe when several processes ask for the same clip: one speaks, the others wait. A damaged entry, or one that
    says something else, is spoken anew. `count` is called with ``cached`` or ``spoken``.
    """
    from filelock import FileLock

    key = request_key(speaker, request)
    path = entry_path(cache_dir, speaker.engine, key)
    clip = _kept(path, request)
    if clip is not None:
        count("cached")
        return key, clip
    locks = cache_dir / "locks"
    try:
        locks.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(cache_dir, error) from None
    with FileLock(locks / f"{key[:3]}.lock"):
        clip = _kept(path, request)
        if clip is not None:
            count("cached")
            return key, clip
        clip = speaker.speak(request)
        put_bytes(path, entry_bytes(clip, key))
        count("spoken")
        return key, clip


def unwritable(cache_dir: Path, error: OSError) -> EngineError:
    """Return what is said when a clip cannot be kept."""
    return EngineError(f"--cache: the speech cache {cache_dir} cannot be written: {reason_of(error)}")


def _kept(path: Path, request: SpeechRequest) -> Clip | None:
    """Return the clip of an entry, if its words are those of the request: an old entry bears no key."""
    clip = _read(path)
    if clip is None or clip.words is None:
        return clip
    says = all(word.text == request.text[word.start_char : word.stop_char] for word in clip.words)
    return clip if says else None


def _read(path: Path) -> Clip | None:
    """Return the clip of an entry, or None where there is no whole one."""
    try:
        return clip_in(path.read_bytes(), path.stem)
    except OSError:
        return None
