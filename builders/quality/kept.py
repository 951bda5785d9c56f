"""What was measured once is kept beside the speech cache, by clip, measure and version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...whole_file import put_text
from .measure import Measure, Measured, SpokenClip, Tools


def clip_key(clip: SpokenClip) -> str:
    """Return the SHA-256 of all that a measure may look at in a clip."""
    digest = hashlib.sha256(np.ascontiguousarray(clip.samples, dtype=np.float32).tobytes())
    said = (clip.sample_rate_hz, clip.text, clip.language, clip.relation, clip.speaker)
    digest.update(json.dumps(said, ensure_ascii=True).encode())
    return digest.hexdigest()


def kept(cache_dir: Path, kind: str, version: str, key: str, make: Callable[[], Any]) -> tuple[Any, bool]:
    """Return what JSON was kept under kind, version and key, or make it and keep it; and whether it was there.

    A damaged entry is made anew. Two processes that make the same write the same.
    """
    named = hashlib.sha256(f"{kind}\x1f{version}\x1f{key}".encode()).hexdigest()
    path = cache_dir / "quality" / kind / named[:2] / f"{named}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))["kept"], True
    except (OSError, ValueError, KeyError, TypeError):
        pass
    value = make()
    put_text(path, json.dumps({"version": version, "kept": value}, ensure_ascii=False))
    return value, False


def measured(measure: Measure, clips: Sequence[SpokenClip], tools: Tools) -> tuple[Measured, bool]:
    """Return what a measure says of its clips, kept or new; and whether it was kept.

    Raises
    ------
    NotMeasured
        If its package or weights are not to be had.
    """
    key = hashlib.sha256("".join(clip_key(clip) for clip in clips).encode()).hexdigest()

    def make() -> dict[str, Any]:
        found = measure.run(tuple(clips), tools)
        return {"values": dict(found.values), "weight": found.weight, "note": found.note}

    value, was_kept = kept(tools.cache_dir, measure.name, measure.version(tools), key, make)
    return Measured(**value), was_kept
