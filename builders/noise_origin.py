"""Where recorded noise comes from: the folder's name, its licence and source, kept in each row that has such noise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseOrigin:
    """A folder of recordings: its name, the licence they are under, and whom to name ("" = nobody said)."""

    folder: str
    licence: str
    source: str


def noise_origin(row: Mapping[str, Any]) -> NoiseOrigin | None:
    """Return where a row's recorded noise comes from; None where it has none.

    Examples
    --------
    >>> noise_origin({"provenance": {"room": '{"effects": {"noise": {"colour": "pink"}}}'}}) is None
    True
    """
    record = json.loads(row["provenance"]["room"] or "null") or {}
    noise = record.get("effects", {}).get("noise", {})
    if "origin" in noise:
        return NoiseOrigin(**noise["origin"])
    if noise.get("recording") is not None:  # a dataset from before the origin was kept
        return NoiseOrigin(folder="recordings", licence="", source="")
    return None
