"""What a folder of other ChatTTS weights says of itself: settings that differ, and its files' hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from ... import RecipeError
from ...scenarios.reason import reason_of
from .options import WHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What a folder of other weights says of itself: ChatTTS's settings that differ, and the files' SHA-256."""

    config: Mapping[str, Any]
    sha256: Mapping[str, str] | None


def read_own(folder: Path) -> Own:
    """Return what ``duplexkit.json`` in a folder of other weights says; nothing for the published ones."""
    path = folder / "duplexkit.json"
    if not folder.is_dir():
        raise RecipeError(f"{WHERE}.model_dir: there is no folder {folder}")
    if not path.is_file():
        return Own(config={}, sha256=None)
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        own = Own(config=said.get("config", {}), sha256=said["sha256"])
    except (OSError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise RecipeError(
            f"{path}: wanted an object with 'sha256' and perhaps 'config' ({reason_of(error)})"
        ) from error
    if not isinstance(own.config, Mapping) or not isinstance(own.sha256, Mapping):
        raise RecipeError(f"{path}: wanted an object as 'sha256', and as 'config' if it is there")
    return own


def settings_of(config: Any, changes: Mapping[str, Any]) -> Any:
    """Return a copy of ChatTTS's settings, all its own objects, with some values changed."""
    known = {field.name for field in fields(config)}
    lost = set(changes) - known
    if lost:
        raise RecipeError(f"duplexkit.json, config: ChatTTS has no setting {sorted(lost)[0]!r}")
    values = {}
    for name in known:
        value = getattr(config, name)
        change = changes.get(name, {} if is_dataclass(value) else value)
        if not _same_kind(change, value):
            raise RecipeError(
                f"duplexkit.json, config: {name} = {change!r}; wanted one like ChatTTS's {value!r}"
            )
        if is_dataclass(value):
            value = settings_of(value, change)
        else:
            value = tuple(change) if isinstance(value, tuple) else change
        values[name] = value
    return type(config)(**values)


def _same_kind(change: Any, value: Any) -> bool:
    """Return whether a setting may take the place of another: a table, a list, or one that JSON writes alike."""
    if is_dataclass(value):
        return isinstance(change, Mapping)
    if isinstance(value, tuple):
        return isinstance(change, list | tuple)
    return value is None or isinstance(change, int | float if isinstance(value, float) else type(value))
