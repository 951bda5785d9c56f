"""Two built folders, sample by sample: in which columns of the schema, and in which of their fields, rows differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..scenarios.conversation import parent_of
from .built import open_built, rows_in
from .schema import COLUMNS, Type

_NULL = bytes(8)
"""What stands for null among digests, which are as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Digests of a row's columns and of their fields, one after the other, and who plays which role in what styles.

    They are short, since those of all rows of the base are kept.
    """

    columns: bytes
    fields: bytes
    cast: Mapping[str, tuple[str, frozenset[str]]]


def differences(base: Path, out: Path) -> dict[str, Any]:
    """Return how the samples of a variant differ from those of its base.

    `ids` says which samples are compared: those of one id, else those of one scenario, script and take (another
    language). `columns` has for each column of the schema how many of them are the same and how many changed,
    and for a column of several fields in how many each field changed. Audio is compared by its bytes,
    everything else by value. Where both have null, nothing is counted. `voices` counts roles of samples: played
    by the same voice, by another of the same style (`alike` names them), or by somebody else.

    Raises
    ------
    ReleaseError
        If one of the folders holds no finished dataset, or is damaged.
    """
    before = dict(_rows_of(base))
    by_script = {_parallel(id_): id_ for id_ in before}
    columns = {column.name: {"same": 0, "changed": 0} for column in COLUMNS}
    fields = dict.fromkeys(_FIELDS, 0)
    n_by_voice = {"same": 0, "alike": 0, "other": 0}
    alike: list[dict[str, Any]] = []
    n_same, n_parallel, new = 0, 0, []
    for id_, row in _rows_of(out):
        old_id = id_ if id_ in before else by_script.get(_parallel(id_))
        if old_id is None or old_id not in before:
            new.append(id_)
            continue
        n_same, n_parallel = n_same + (old_id == id_), n_parallel + (old_id != id_)
        old = before.pop(old_id)
        for counts, was, now in zip(columns.values(), _each(old.columns), _each(row.columns), strict=True):
            if was != _NULL or now != _NULL:
                counts["same" if was == now else "changed"] += 1
        for field, was, now in zip(_FIELDS, _each(old.fields), _each(row.fields), strict=True):
            fields[field] += was != now
        for found in _compared(id_, old, row):
            n_by_voice[found.pop("kind")] += 1
            alike += [found] if found["shared"] else []
    return {
        "ids": {"same": n_same, "parallel": n_parallel, "new": new, "missing": sorted(before)},
        "columns": {name: {**counts, **_inside(name, fields)} for name, counts in columns.items()},
        "voices": {"roles": n_by_voice, "alike": alike},
    }


def _parallel(id_: str) -> tuple[str, ...]:
    scenario, _, script, take = id_.split("/")
    return scenario, script, take


def _inside(column: str, fields: Mapping[tuple[str, ...], int]) -> dict[str, dict[str, int]]:
    """Return in how many samples each field of a column changed; nothing for a column without fields."""
    own = {".".join(path[1:]): n for path, n in fields.items() if path[0] == column and path[1:]}
    return {"fields": {name: n for name, n in own.items() if n}} if own else {}


def _compared(id_: str, old: _Row, new: _Row) -> Iterator[dict[str, Any]]:
    """Yield how each role of both rows is played now."""
    for role, (now, styles) in new.cast.items():
        if role in old.cast:
            was, styles_before = old.cast[role]
            shared = [] if was == now else sorted(styles & styles_before)
            kind = "same" if was == now else "alike" if shared else "other"
            yield {"kind": kind, "id": id_, "role": role, "was": was, "is": now, "shared": shared}


def _fields_of(type_: Type, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a column's fields; lists add nothing to a path."""
    inside = type_[0] if isinstance(type_, list) else type_
    if isinstance(inside, dict):
        for name, part in inside.items():
            yield from _fields_of(part, (*path, name))
    else:
        yield path


_FIELDS = tuple(path for column in COLUMNS for path in _fields_of(column.type, (column.name,)))
"""Each field of the schema as column, name, name ..."""


def _rows_of(folder: Path) -> Iterator[tuple[str, _Row]]:
    for row in rows_in(open_built(folder).shards):
        for column in COLUMNS:
            if column.type == "audio" and row[column.name] is not None:
                row[column.name] = hashlib.sha256(row[column.name]["bytes"]).hexdigest()
        yield (
            row["id"],
            _Row(
                columns=b"".join(_digest(row.get(column.name)) for column in COLUMNS),
                fields=b"".join(_digest(_field(row, path)) for path in _FIELDS),
                cast={
                    voice["role"]: (
                        voice["voice"],
                        frozenset(parent_of(part["style"]) for part in voice["mix"] or ())
                        or frozenset((voice["voice"],)),
                    )
                    for voice in row["provenance"]["voices"]
                },
            ),
        )


def _field(value: Any, path: tuple[str, ...]) -> Any:
    """Return what a row has at a path: of a list of structs a list, None if no element has anything there."""
    if value is None or not path:
        return value
    if isinstance(value, list):
        values = [_field(part, path) for part in value]
        return values if any(part is not None for part in values) else None
    return _field(value.get(path[0]), path[1:])


def _digest(value: Any) -> bytes:
    if value is None:
        return _NULL
    text = json.dumps(_plain(value), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=len(_NULL)).digest()


def _each(digests: bytes) -> Iterator[bytes]:
    return (digests[at : at + len(_NULL)] for at in range(0, len(digests), len(_NULL)))


def _plain(value: Any) -> Any:
    """Return a value such that equal ones have one text: a field that is null, or not there, is neither."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value + 0.0 if isinstance(value, float) else value  # -0.0 is 0.0
