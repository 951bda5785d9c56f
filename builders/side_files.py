"""What stands beside the shards of a built folder, read back: rejects, quality, what listeners said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import ReleaseError
from .built import dataset_digest
from .json_file import Form, read_json, read_json_lines

REJECTS, QUALITY, LISTENING = "rejects.jsonl", "quality.json", "listening.json"
VALUES, MEASURES, VOICE_GATE = "quality/values.jsonl", "quality/measures.json", "quality/voice-gate.json"

_MEASURED: Form = {"*": {"source": str, "version": str}}
_BUILD = "build the folder again"
_MEASURE = "take the folder quality away and measure again (duplexkit check FOLDER --measure ...)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFiles:
    """What stands beside the shards, each part empty where nothing says it.

    `values` are what was measured later, by sample; `measures` with what; `voice_gate` how often the limits on
    voices are wrong.
    """

    rejects: Sequence[Mapping[str, Any]] = ()
    quality: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    voice_gate: Mapping[str, Any] = field(default_factory=dict)
    listening: Mapping[str, Any] = field(default_factory=dict)


def read_side_files(folder: Path, *, but: str = "") -> SideFiles:
    """Return all of it, without the file `but`, which somebody is about to replace.

    Raises
    ------
    ReleaseError
        If one is damaged; names it.
    """
    return SideFiles(
        rejects=read_rejects(folder),
        quality=read_quality(folder),
        values=read_values(folder),
        measures=read_measures(folder),
        voice_gate=read_voice_gate(folder),
        listening={} if but == LISTENING else read_listening(folder),
    )


def read_rejects(folder: Path) -> list[dict[str, Any]]:
    """Return the samples that a build rejected, with the reasons of each attempt; none where nothing says so.

    Raises
    ------
    ReleaseError
        If ``rejects.jsonl`` is damaged; names the line.
    """
    path = folder / REJECTS
    form: Form = {"id": str, "attempts": [{"reasons": [str]}], "clips?": [str]}
    rejects = list(read_json_lines(path, form, cure=_BUILD)) if path.exists() else []
    for reject in rejects:
        if not reject["attempts"]:
            raise ReleaseError(f"{path}: {reject['id']} was rejected without an attempt; {_BUILD}")
    return rejects


def read_quality(folder: Path) -> dict[str, Any]:
    """Return ``quality.json``: what was measured while building, its limits, and how splits were selected."""
    form: Form = {
        "measures?": _MEASURED,
        "gates?": {"*": [str]},
        "not_measured?": {"*": str},
        "selection?": ({"selected_by": [str], "left_out": [str]}, None),
    }
    return _object(folder / QUALITY, form, cure=_BUILD)


def read_listening(folder: Path) -> dict[str, Any]:
    """Return ``listening.json``: what listeners said; empty where nobody was asked."""
    ids: Form = {"no_by_most?": [str], "no_by_half?": [str]}
    question: Form = {"counts": {"*": int}, "kappa": (float, None), "mean?": float, **ids}
    form: Form = {"dataset": str, "n_raters": int, "n_items": int, "questions": {"*": question}}
    cure = "take the answers in again: duplexkit listen FOLDER --answers FILE ..., or take the file away"
    facts = _object(folder / LISTENING, form, cure=cure)
    if facts and facts["dataset"] != dataset_digest(folder):
        raise ReleaseError(f"{folder / LISTENING}: the ratings are of another dataset; {cure}")
    return facts


def read_values(folder: Path) -> dict[str, Mapping[str, float | None]]:
    """Return what `duplexkit check FOLDER --measure` left of each sample, by id; nothing where it never ran."""
    return {id_: line["values"] for id_, line in read_value_lines(folder).items()}


def read_value_lines(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of ``quality/values.jsonl`` by sample: values of the sample, `by_turn`, and `notes`."""
    path = folder / VALUES
    numbers: Form = {"*": (float, None)}
    form: Form = {"id": str, "values": numbers, "by_turn?": [numbers], "notes?": {"*": str}}
    return {line["id"]: line for line in read_json_lines(path, form, cure=_MEASURE)} if path.exists() else {}


def read_measures(folder: Path) -> dict[str, Any]:
    """Return with what `duplexkit check FOLDER --measure` measured."""
    return _object(folder / MEASURES, _MEASURED, cure=_MEASURE)


def read_voice_gate(folder: Path) -> dict[str, Any]:
    """Return how often the limits on voices are wrong on this folder's speakers, if that was looked at."""
    counts = ("n_same", "n_other", "n_same_below", "n_same_above", "n_other_below", "n_other_above")
    form: Form = {"same_at_least": float, "other_at_most": float, **dict.fromkeys(counts, int)}
    return _object(folder / VOICE_GATE, form, cure=_MEASURE)


def _object(path: Path, form: Form, *, cure: str) -> dict[str, Any]:
    data: dict[str, Any] = read_json(path, form, cure=cure) if path.exists() else {}
    return data
