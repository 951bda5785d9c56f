"""What exported rows are made of: engines, voices and texts with their licences, and whom to name."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .format import Row

ATTRIBUTION = "ATTRIBUTION.txt"
"""Lies at the top of an export, above every folder that a consumer lists."""

Part = tuple[str, str, str, str]
"""Kind, name, licence, attribution."""


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
        names = ("kind", "name", "licence", "attribution")
        return [
            {**dict(zip(names, part, strict=True)), "samples": n} for part, n in sorted(self._counts.items())
        ]

    def text(self, dataset: str, version: str, licence: str) -> str:
        """Return what people are to read: the dataset, its licence, and whom each part wants named."""
        lines = [f"{dataset} {version}, licence {licence or 'not stated'}; exported by duplexkit.", ""]
        lines += ["It is made of the following parts; keep this file with the data.", ""]
        for (kind, name, of_part, attribution), n in sorted(self._counts.items()):
            named = f"; {attribution}" if attribution and attribution != name else ""
            lines.append(f"- {kind} {name} ({of_part or 'no licence stated'}){named}: {n} samples")
        return "\n".join(lines) + "\n"


def parts_of(row: Row) -> set[Part]:
    """Return the parts of a row: its engine, its voices and its text.

    Examples
    --------
    >>> made = {"engine": "kokoro", "engine_licence": "Apache-2.0", "voices": []}
    >>> text = {"source": "own-bank", "licence": "CC-BY-4.0"}
    >>> sorted(parts_of({"provenance": made, "script": text}))
    [('engine', 'kokoro', 'Apache-2.0', ''), ('text', 'own-bank', 'CC-BY-4.0', 'own-bank')]
    """
    made, script = row["provenance"], row["script"]
    return {
        ("engine", made["engine"], made["engine_licence"] or "", ""),
        ("text", script["source"], script["licence"] or "", script["source"]),
        *(
            ("voice", voice["voice"], voice["licence"] or "", voice["attribution"] or "")
            for voice in made["voices"]
        ),
    }
