"""Where an imported folder comes from: what its user states, and what the folder says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..export.origins import ATTRIBUTION, EXPORT, parts_in
from ..json_file import Form, read_json, read_text

UNKNOWN = "unknown"
"""The licence of what nobody stated: no such dataset can be published."""

_LEVELS_UP = 4
"""So far above a task's or data set's folder the top of an export lies, at most."""

_CURE = "export the dataset again, or take the file away"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Under which licence the data is, where it comes from ("" = nobody said), and what it says of itself.

    `attribution` is the text of its ``ATTRIBUTION.txt``; `parts` are those that an export of ours lists, each
    with kind, name, licence and attribution.
    """

    licence: str = UNKNOWN
    source: str = ""
    attribution: str = ""
    parts: tuple[dict[str, Any], ...] = ()


def origin_of(folder: Path, *, licence: str = "", source: str = "") -> Origin:
    """Return the origin of a folder to import.

    Parameters
    ----------
    folder
        The folder; of an export of ours it may be any task or data set in it.
    licence, source
        What the user states; left out: what ``export.json`` says of the dataset, where there is one.

    Raises
    ------
    ReleaseError
        If ``export.json`` or ``ATTRIBUTION.txt`` is there and damaged.
    """
    top = next((at for at in _upwards(folder) if (at / EXPORT).exists()), folder)
    attribution = read_text(top / ATTRIBUTION, cure=_CURE) if (top / ATTRIBUTION).exists() else ""
    parts: tuple[dict[str, Any], ...] = ()
    if (top / EXPORT).exists():
        form: Form = {"dataset": {"name": str, "version": str, "licence": str}, "parts": [{"*": object}]}
        content = read_json(top / EXPORT, form, cure=_CURE)
        # who made an engine is told by its name alone
        parts = tuple(
            {**part, "attribution": part["attribution"] or part["name"]}
            for part in parts_in(content, top / EXPORT)
        )
        said = content["dataset"]
        licence, source = licence or said["licence"], source or f"{said['name']} {said['version']}"
    return Origin(licence=licence or UNKNOWN, source=source, attribution=attribution, parts=parts)


def _upwards(folder: Path) -> tuple[Path, ...]:
    place = folder.resolve()
    return (folder, *list(place.parents)[:_LEVELS_UP])
