"""What exported rows are made of: engines, voices, texts and noise with their licences, and whom to name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ..json_file import Form, misfit
from ..noise_origin import noise_origin
from .format import Row

EXPORT = "export.json"
"""Lies at the top of an export and says what is in it."""

ATTRIBUTION = "ATTRIBUTION.txt"
"""Lies beside it, above every folder that a consumer lists: for people."""

Part = tuple[str, str, str, str]
"""Kind, name, licence, attribution."""

_NAMES = ("kind", "name", "licence", "attribution")
_PART: Form = dict.fromkeys(_NAMES, str)


class Origins:
    """Counts in how many exported rows each part is; a row counts once its format has written it."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[Part]] = {}
        self._counts: Counter[Part] = Counter()

    def see(self, row: Row) -> None:
        """Hold a row's parts until it is known whether the format takes it."""
        self._waiting[row["id"]] = parts_of(row)

    def keep(self, row_id: str) -> None:
        """Count the parts of a row that was written."""
        self._counts.update(self._waiting.pop(row_id))

    def forget(self, row_id: str) -> None:
        """Drop the parts of a row that was left out."""
        del self._waiting[row_id]

    def parts(self) -> list[dict[str, Any]]:
        """Return the parts as export.json lists them."""
        return [
            {**dict(zip(_NAMES, part, strict=True)), "samples": n} for part, n in sorted(self._counts.items())
        ]


def parts_of(row: Row) -> set[Part]:
    """Return the parts of a row: its engine, its voices, its text and its recorded noise.

    Examples
    --------
    >>> made = {"engine": "kokoro", "engine_licence": "Apache-2.0", "voices": [], "room": "{}"}
    >>> text = {"source": "own-bank", "licence": "CC-BY-4.0"}
    >>> sorted(parts_of({"provenance": made, "script": text}))
    [('engine', 'kokoro', 'Apache-2.0', ''), ('text', 'own-bank', 'CC-BY-4.0', 'own-bank')]
    """
    made, script = row["provenance"], row["script"]
    noise = noise_origin(row)
    return {
        ("engine", made["engine"], made["engine_licence"] or "", ""),
        ("text", script["source"], script["licence"] or "", script["source"]),
        *(
            ("voice", voice["voice"], voice["licence"] or "", voice["attribution"] or "")
            for voice in made["voices"]
        ),
        *([] if noise is None else [("noise", noise.folder, noise.licence, noise.source)]),
    }


def attribution_text(content: Mapping[str, Any]) -> str:
    """Return ``ATTRIBUTION.txt`` of an export: its dataset, its licence, and whom each part wants named.

    Parameters
    ----------
    content
        What ``export.json`` holds: the text says the same to people.
    """
    dataset, imported = content["dataset"], content.get("imported")
    lines = [
        f"{dataset['name']} {dataset['version']}, licence {dataset['licence'] or 'not stated'}; exported by duplexkit.",
        "",
        "It is made of the following parts; keep this file with the data.",
        "",
    ]
    lines += [f"- {_line(part)}: {part['samples']} samples" for part in content["parts"]]
    if imported:
        said = f" from {imported['source']}" if imported["source"] else ""
        lines += ["", f"The dataset was imported{said}, licence {imported['licence']}."]
        lines += [f"- {_line(part)}" for part in imported["parts"]]
        if imported["attribution"]:
            lines += ["", "What was imported says of itself:", "", *imported["attribution"].splitlines()]
    return "\n".join(lines) + "\n"


def _line(part: Mapping[str, Any]) -> str:
    named = part["attribution"]
    whom = f"; {named}" if named and named != part["name"] else ""
    return f"{part['kind']} {part['name']} ({part['licence'] or 'no licence stated'}){whom}"


def parts_in(content: Mapping[str, Any], path: Path) -> tuple[dict[str, Any], ...]:
    """Return the parts that ``export.json`` lists, its own and those it was imported with, each once.

    Raises
    ------
    ReleaseError
        If one is no part; names `path`.
    """
    imported: Sequence[Any] = (content.get("imported") or {}).get("parts", ())
    listed = [*content["parts"], *imported]
    wrong = misfit(listed, [_PART], "parts")
    if wrong:
        raise ReleaseError(f"{path}: {wrong}; export the dataset again")
    once = dict.fromkeys(tuple(part[name] for name in _NAMES) for part in listed)
    return tuple(dict(zip(_NAMES, part, strict=True)) for part in once)
