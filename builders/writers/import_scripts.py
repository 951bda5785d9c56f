"""Rows that users have (CSV, JSON lines, a dataset) to scripts of a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import ScriptError
from ...scenarios import SCENARIOS
from ...scenarios.bank import parse_script
from ...scenarios.conversation import Script
from ...scenarios.fields import unknown
from ...scenarios.lint.forms import FORMS
from ...scenarios.reason import reason_of
from ...scenarios.text_file import numbered_rows, parse_rows, read_text

_OWN = ("domain", "register", "addressee", "why", "tags", "source", "licence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How rows become scripts: `columns` says under which column each field is found (default: its own name).

    `fixed` gives fields that no column holds.
    """

    scenario: str
    language: str
    columns: Mapping[str, str]
    fixed: Mapping[str, str]


def fields_of(scenario: str) -> tuple[str, ...]:
    """Return the fields that a row of a scenario may fill: its turns by part, their keys, and its own.

    Examples
    --------
    >>> fields_of("user_interruption")[:3]
    ('context', 'event', 'intent')
    """
    if scenario not in FORMS:
        raise ScriptError(f"{scenario!r}: {unknown('scenario', scenario, tuple(SCENARIOS))}")
    form = FORMS[scenario]
    keys = [key for turn in form.turns for key in turn.keys]
    return (*[turn.part for turn in form.turns], *keys, *_OWN)


def read_rows(source: str, split: str = "train") -> list[dict[str, Any]]:
    """Return the rows of a .csv, .tsv, .jsonl or .json file, or of a dataset that ``datasets`` can load.

    Parameters
    ----------
    source : str
        A file, or ``hf:NAME`` (``hf:NAME:CONFIG``) for a dataset on the hub or in a folder.
    split : str
        Of a dataset.

    Raises
    ------
    ScriptError
        If there is no such thing, or it cannot be read.
    """
    if source.startswith("hf:"):
        return _dataset_rows(source.removeprefix("hf:"), split)
    path = Path(source)
    if not path.is_file():
        raise ScriptError(
            f"{source}: no such file; wanted .csv, .tsv, .jsonl, .json, or hf:NAME for a dataset"
        )
    if path.suffix in (".csv", ".tsv"):
        delimiter = "\t" if path.suffix == ".tsv" else ","
        return [row for _, row in numbered_rows(path, delimiter=delimiter)]
    if path.suffix not in (".jsonl", ".json"):
        raise ScriptError(f"{source}: {path.suffix or 'no ending'}; wanted .csv, .tsv, .jsonl or .json")
    rows = parse_rows(read_text(path), source)
    if not all(isinstance(row, dict) for row in rows):
        raise ScriptError(f"{source}: wanted JSON objects, one for each script")
    return rows


def _dataset_rows(name: str, split: str) -> list[dict[str, Any]]:
    name, _, config = name.partition(":")
    if not name:
        raise ScriptError("hf: no name; wanted hf:NAME, or hf:NAME:CONFIG")
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    try:
        rows = load_dataset(name, config or None, split=split)
    except (DatasetsError, ValueError, OSError) as error:
        raise ScriptError(f"hf:{name}: {reason_of(error)}") from None
    return [dict(row) for row in rows]


def scripts_of(rows: Iterable[Mapping[str, Any]], rules: Rules, where: str) -> tuple[Script, ...]:
    """Return a script for each row; the linter judges them afterwards.

    Raises
    ------
    ScriptError
        If a needed field has no column and no fixed value, or a row is no script; names the row.
    """
    known = fields_of(rules.scenario)
    if rules.scenario == "mt_qa":
        raise ScriptError(
            "mt_qa is no table of rows: use duplexkit scripts rewrite for dialogues, "
            "or copy lines in the bank's format"
        )
    for key in (*rules.columns, *rules.fixed):
        if key not in known:
            raise ScriptError(f"{key!r}: {unknown('field', key, known)}")
    return tuple(_script(row, rules, f"{where} row {number}") for number, row in enumerate(rows, 1))


def _script(row: Mapping[str, Any], rules: Rules, where: str) -> Script:
    form = FORMS[rules.scenario]

    def value(field: str) -> str:
        column = rules.columns.get(field, field)
        found = row.get(column)
        if found in (None, "") and field in rules.fixed:
            return rules.fixed[field]
        if field in rules.columns and column not in row:
            raise ScriptError(f"{where}: no column {column!r}; there are {', '.join(map(str, row))}")
        return "" if found is None else str(found).strip()

    turns = []
    for turn in form.turns:
        text = value(turn.part)
        if not text:
            raise ScriptError(
                f"{where}: no text for {turn.part!r}; name its column with --map {turn.part}=COLUMN"
            )
        keys = {key: value(key) for key in turn.keys}
        turns.append({"role": turn.role.value, "text": text, **{k: v for k, v in keys.items() if v}})
    data: dict[str, Any] = {"id": "new", "turns": turns}  # the bank numbers them
    for key in ("domain", "register", "addressee", "why", "source", "licence"):
        if value(key) or key in ("domain", "register", "source", "licence"):
            data[key] = value(key)
    tags = value("tags")
    if tags:
        data["tags"] = [tag.strip() for tag in tags.strip("[]").replace("'", "").split(",") if tag.strip()]
    return parse_script(
        json.dumps(data, ensure_ascii=False), scenario=rules.scenario, language=rules.language, where=where
    )
