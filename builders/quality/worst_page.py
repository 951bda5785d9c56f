"""The worst utterances of a folder by one value, as one HTML file with players."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...acoustics.level import to_pcm16
from . import VALUES
from .clip_source import MeasuredItem, read_clip
from .measure import SpokenClip
from .measure_folder import MeasuredSample

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }}
table {{ border-collapse: collapse; width: 100% }}
td, th {{ text-align: left; vertical-align: top; padding: .5rem; border-bottom: 1px solid #ddd }}
td.n {{ font-variant-numeric: tabular-nums; white-space: nowrap }}
audio {{ width: 17rem }}
small {{ color: #555 }}
</style>
<h1>{title}</h1><p>{meaning}</p>
<table><thead><tr><th>{value}</th><th>sample</th><th>listen</th><th>what was to be said</th></tr></thead><tbody>
{rows}
</tbody></table></html>
"""


def audio_uri(clip: SpokenClip) -> str:
    """Return a clip as a ``data:`` address of a FLAC file, 16 bits.

    Raises
    ------
    AudioError
        If it is louder than full scale.
    """
    from ..flac import to_flac

    file = to_flac(to_pcm16(clip.samples), clip.sample_rate_hz)
    return f"data:audio/flac;base64,{base64.b64encode(file).decode()}"


def worst(samples: Sequence[MeasuredSample], value: str, n: int) -> list[tuple[float, MeasuredSample, int]]:
    """Return the n worst (number, sample, turn) by a value, worst first; turn -1 where it is one of whole samples.

    A value without a better end counts by its distance from the middle one.
    """
    found: list[tuple[float, MeasuredSample, int]] = []
    by_turn = VALUES[value][0].scope == "utterance"
    for sample in samples:
        places: Sequence[tuple[int, Mapping[str, float | None]]] = (
            list(enumerate(sample.by_turn)) if by_turn else [(-1, sample.values)]
        )
        for turn, values in places:
            number = values.get(value)
            if number is not None:
                found.append((number, sample, turn))
    better = VALUES[value][1].better
    middle = float(np.median([number for number, _, _ in found])) if found else 0.0

    def badness(number: float) -> float:
        return {"high": -number, "low": number, "": abs(number - middle)}[better]

    return sorted(found, key=lambda entry: (-badness(entry[0]), entry[1].id, entry[2]))[:n]


def write_worst(
    items: Sequence[MeasuredItem],
    samples: Sequence[MeasuredSample],
    value: str,
    out: Path,
    *,
    n: int = 50,
) -> Path:
    """Write the list of the worst as one page that needs nothing else; return it."""
    by_id = {item.id: item for item in items}
    measure, what = VALUES[value]
    rows = []
    for number, sample, turn in worst(samples, value, n):
        item = by_id[sample.id]
        places = item.tracks if turn < 0 else (item.clips[turn],)
        clips = [read_clip(place, item.language) for place in places]
        note = sample.notes.get(f"{'sample' if turn < 0 else f'turn {turn}'}, {measure.name}", "")
        players = "<br>".join(
            f'<audio controls preload="none" src="{audio_uri(clip)}"></audio>' for clip in clips
        )
        said = "" if turn < 0 else item.clips[turn].text
        where = sample.id if turn < 0 else f"{sample.id}, turn {turn}"
        rows.append(
            f'<tr><td class="n">{number:.3f}</td><td>{html.escape(where)}</td><td>{players}</td>'
            f"<td>{html.escape(said)}<br><small>{html.escape(note)}</small></td></tr>"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    page = _PAGE.format(
        title=html.escape(f"The worst {len(rows)} by {value}"),
        meaning=html.escape(f"{what.meaning} ({what.unit}); {measure.source}"),
        value=html.escape(value),
        rows="\n".join(rows),
    )
    out.write_text(page, encoding="utf-8")
    return out
