"""The utterances of a sample to its values: each measured once, then pooled over the sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .kept import measured
from .measure import Measure, Measured, NotMeasured, Pooling, SpokenClip, Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuality:
    """What was measured on one sample.

    `values` are the sample's, by name; `by_turn` those of each utterance; `notes` what measures remarked, by
    turn (-1: the whole sample) and measure; `n_new` how many measurements were not kept from before.
    """

    values: Mapping[str, float | None]
    by_turn: tuple[Mapping[str, float | None], ...]
    notes: Mapping[tuple[int, str], str]
    n_new: int


_failed_to_load: dict[tuple[str, Tools], str] = {}


def usable(measures: Sequence[Measure], tools: Tools) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """Return the measures that can run here, and for the others why not.

    Weights that have to be fetched are asked for once in a process.
    """
    run, reasons = [], {}
    for measure in measures:
        reason = measure.missing()
        if not reason and measure.load is not None:
            key = (measure.name, tools)
            if key not in _failed_to_load:
                try:
                    measure.load(tools)
                    _failed_to_load[key] = ""
                except NotMeasured as error:
                    _failed_to_load[key] = str(error)
            reason = _failed_to_load[key]
        if reason:
            reasons[measure.name] = reason
        else:
            run.append(measure)
    return tuple(run), reasons


def measure_sample(
    clips: Sequence[SpokenClip],
    measures: Sequence[Measure],
    tools: Tools,
    tracks: Sequence[SpokenClip] = (),
) -> SampleQuality:
    """Return what the measures say of a sample.

    Parameters
    ----------
    clips
        Its utterances in the order of its turns.
    tracks
        What is heard of it as a whole, one clip a track; measures of tracks are left out where there is none.
    """
    by_turn: list[dict[str, float | None]] = [{} for _ in clips]
    values: dict[str, float | None] = {}
    notes: dict[tuple[int, str], str] = {}
    n_new = 0
    for measure in measures:
        if measure.scope == "utterance":
            found = []
            for i, clip in enumerate(clips):
                one, was_kept = measured(measure, [clip], tools)
                n_new += not was_kept
                by_turn[i].update(one.values)
                found.append(one)
                if one.note:
                    notes[i, measure.name] = one.note
            for value in measure.values:
                values[value.name] = pool(found, value.name, value.pooling)
        elif measure.scope in ("sample", "tracks"):
            asked = clips if measure.scope == "sample" else tracks
            if not asked:
                continue
            one, was_kept = measured(measure, asked, tools)
            n_new += not was_kept
            values.update(one.values)
            if one.note:
                notes[-1, measure.name] = one.note
    return SampleQuality(values=values, by_turn=tuple(by_turn), notes=notes, n_new=n_new)


def pool(found: Sequence[Measured], name: str, pooling: Pooling) -> float | None:
    """Return one value for many: their mean, largest, smallest, or mean by weight; None where none was measured."""
    there = [(value, one.weight) for one in found if (value := one.values[name]) is not None]
    if not there:
        return None
    if pooling == "most":
        return max(value for value, _ in there)
    if pooling == "least":
        return min(value for value, _ in there)
    if pooling == "mean":
        return sum(value for value, _ in there) / len(there)
    total = sum(weight for _, weight in there)
    return sum(value * weight for value, weight in there) / total if total else None
