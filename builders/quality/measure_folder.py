"""A folder to its values: every sample measured, in any number of processes; nothing is measured twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...scenarios import SCENARIOS
from ...whole_file import put_text
from ..engines import run_on
from . import MEASURES
from .clip_source import MeasuredItem, items_of, read_clip
from .kept import measured
from .measure import Measure, Tools
from .sample_values import measure_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSample:
    """What was measured on one sample of a folder; `by_turn` and `notes` say where."""

    id: str
    config: str
    split: str
    language: str
    values: Mapping[str, float | None]
    by_turn: tuple[Mapping[str, float | None], ...]
    notes: Mapping[str, str]
    n_new: int


def measure_folder(
    folder: Path,
    measures: Sequence[Measure],
    tools: Tools,
    *,
    workers: int,
    language: str = "",
    progress: Callable[[int, int], None],
) -> tuple[MeasuredSample, ...]:
    """Return what the measures say of each sample of a folder, in its order.

    Parameters
    ----------
    measures
        Usable ones (`usable`).
    workers
        Processes; the values do not depend on their number.
    """
    items = items_of(folder, language)
    names = tuple(measure.name for measure in measures if measure.scope != "pair")
    done: dict[str, MeasuredSample] = {}
    with closing(run_on("local", partial(measure_item, names, tools), items, workers)) as samples:
        for sample in samples:
            done[sample.id] = sample
            progress(len(done), len(items))
    pairs = [measure for measure in measures if measure.scope == "pair"]
    for measure in pairs:
        _measure_pairs(items, measure, tools, done)
    return tuple(done[item.id] for item in items)


def measure_item(names: tuple[str, ...], tools: Tools, item: MeasuredItem) -> MeasuredSample:
    """Return what the measures of these names say of one sample."""
    quality = measure_sample(
        [read_clip(place, item.language) for place in item.clips],
        [MEASURES[name] for name in names],
        tools,
        [read_clip(place, item.language) for place in item.tracks]
        if any(MEASURES[name].scope == "tracks" for name in names)
        else (),
    )
    return MeasuredSample(
        id=item.id,
        config=item.config,
        split=item.split,
        language=item.language,
        values=quality.values,
        by_turn=quality.by_turn,
        notes={
            f"{'sample' if turn < 0 else f'turn {turn}'}, {name}": note
            for (turn, name), note in quality.notes.items()
        },
        n_new=quality.n_new,
    )


def _measure_pairs(
    items: Sequence[MeasuredItem], measure: Measure, tools: Tools, done: dict[str, MeasuredSample]
) -> None:
    """Add what a measure of pairs says: of samples whose ids differ in the language only."""
    for first, second in pairs_of(items):
        clips = [read_clip(place, item.language) for item in (first, second) for place in item.clips]
        one, was_kept = measured(measure, clips, tools)
        for item in (first, second):
            old = done[item.id]
            done[item.id] = MeasuredSample(
                id=old.id,
                config=old.config,
                split=old.split,
                language=old.language,
                values={**old.values, **one.values},
                by_turn=old.by_turn,
                notes=old.notes,
                n_new=old.n_new + (not was_kept and item is first),
            )


def pairs_of(items: Sequence[MeasuredItem]) -> Iterator[tuple[MeasuredItem, MeasuredItem]]:
    """Yield the samples that are one script in two languages, turn by turn: of scenarios whose scripts are parallel."""
    found: dict[tuple[str, ...], MeasuredItem] = {}
    for item in items:
        parts = item.id.split("/")
        if len(parts) != 4 or parts[0] not in SCENARIOS or not SCENARIOS[parts[0]].parallel:
            continue
        key = (parts[0], *parts[2:])
        other = found.setdefault(key, item)
        if other.language != item.language and len(other.clips) == len(item.clips):
            yield other, item


def write_values(
    samples: Sequence[MeasuredSample],
    measures: Sequence[Measure],
    tools: Tools,
    out: Path,
    *,
    earlier: Mapping[str, Mapping[str, Any]],
    earlier_measures: Mapping[str, Any],
) -> Path:
    """Write ``values.jsonl``, a line a sample, and ``measures.json``, what measured it; return the first.

    What other measures left there before (`earlier` by id, `earlier_measures` by name) stays.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = out / "values.jsonl"
    lines = [
        json.dumps(
            _with_earlier(asdict(sample), earlier.get(sample.id, {}), measures),
            ensure_ascii=False,
            sort_keys=True,
        )
        for sample in samples
    ]
    put_text(path, "".join(f"{line}\n" for line in lines))
    facts = {m.name: {"version": m.version(tools), "source": m.source} for m in measures}
    put_text(
        out / "measures.json", json.dumps({**earlier_measures, **facts}, indent=1, ensure_ascii=False) + "\n"
    )
    return path


def _with_earlier(
    line: dict[str, Any], earlier: Mapping[str, Any], measures: Sequence[Measure]
) -> dict[str, Any]:
    """Return a sample's line with what other measures said of it before."""
    anew = {value.name for measure in measures for value in measure.values}
    ends = tuple(f", {measure.name}" for measure in measures)

    def others(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name not in anew}

    by_turn = earlier.get("by_turn", ())
    if len(by_turn) != len(line["by_turn"]):  # of another dataset, or by hand
        by_turn = [{} for _ in line["by_turn"]]
    notes = {place: note for place, note in earlier.get("notes", {}).items() if not place.endswith(ends)}
    return {
        **line,
        "values": {**others(earlier.get("values", {})), **line["values"]},
        "by_turn": [{**others(old), **new} for old, new in zip(by_turn, line["by_turn"], strict=True)],
        "notes": {**notes, **line["notes"]},
        "n_new": None,
    }
