"""A self-contained HTML page to review excerpts: both waveforms, play, keep or reject with a reason, save."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ..flac import seek_script
from .decisions import REASONS

_WIDTH, _HEIGHT = 900, 60
_MAX_PCM16 = 32768.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """An excerpt to hear: int16 sides of shape (n,); `marks_s` are spans to look at (pauses), `text` what is said."""

    id: str
    sha256: str
    user: NDArray[np.int16]
    system: NDArray[np.int16] | None
    sample_rate_hz: int
    marks_s: tuple[tuple[float, float], ...]
    text: str


def review_page(title: str, items: Iterable[ReviewItem]) -> Iterator[str]:
    """Yield the page piece by piece; sounds are in it as FLAC, so that it needs no other file.

    Decisions are kept in the browser until they are saved as a file, which `read_decisions` reads.
    """
    template = (files(__package__) / "page.html").read_text(encoding="utf-8")
    head, tail = template.split("<!-- items -->")
    options = '<option value="">reason</option>' + "".join(
        f'<option value="{escape(reason, quote=True)}">{n} {escape(reason)}</option>'
        for n, reason in enumerate(REASONS, start=1)
    )
    yield head.replace("{{title}}", escape(title))
    for item in items:
        yield _item(item, options)
    # "</" would end the script element
    tail = tail.replace("{{seeks}}", seek_script())
    yield tail.replace("{{key}}", json.dumps(f"duplexkit-review:{title}").replace("</", "<\\/"))


def _item(item: ReviewItem, options: str) -> str:
    length_s = item.user.size / item.sample_rate_hz
    sides = [("user", item.user)] + ([] if item.system is None else [("system", item.system)])
    waves = "".join(
        f'<div class="side"><span>{name}</span>{_waveform(pcm, item.marks_s, item.sample_rate_hz)}</div>'
        for name, pcm in sides
    )
    return (
        f'<section data-id="{escape(item.id, quote=True)}" data-sha256="{item.sha256}">\n'
        f"<h2>{escape(item.id)}</h2><p>{length_s:.2f} s</p>\n"
        f'<div class="waves">{waves}<i class="cursor"></i></div>\n'
        f'<audio controls preload="none" aria-label="{escape(item.id, quote=True)}" '
        f'src="data:audio/flac;base64,{_flac(item)}"></audio>\n'
        f'<p class="text">{escape(item.text)}</p>\n'
        f'<button type="button" class="keep">keep</button> '
        f'<button type="button" class="reject">reject</button> '
        f'<select class="reason" aria-label="reason to reject">{options}</select> '
        f'<input class="note" aria-label="more about the reason" placeholder="more about the reason"> '
        f'<output class="made"></output>\n'
        f"</section>\n"
    )


def _flac(item: ReviewItem) -> str:
    import soundfile

    sides = [item.user] if item.system is None else [item.user, item.system]
    buffer = io.BytesIO()
    soundfile.write(buffer, np.stack(sides, axis=1), item.sample_rate_hz, format="FLAC", subtype="PCM_16")
    return base64.b64encode(buffer.getvalue()).decode()


def _waveform(pcm: NDArray[np.int16], marks_s: tuple[tuple[float, float], ...], sample_rate_hz: int) -> str:
    """Return an SVG of the peaks, as tall as the loudest of them asks for at least a tenth of full scale."""
    n_columns = min(_WIDTH, pcm.size)
    edges = np.linspace(0, pcm.size, n_columns + 1).astype(int)
    peaks = np.maximum.reduceat(np.abs(pcm.astype(np.int32)), edges[:-1]) / _MAX_PCM16
    heights = peaks / max(float(peaks.max()), 0.1) * (_HEIGHT / 2 - 1)
    path = "".join(f"M{x} {_HEIGHT / 2 - h:.1f}V{_HEIGHT / 2 + h:.1f}" for x, h in enumerate(heights))
    scale = n_columns / (pcm.size / sample_rate_hz)
    marks = "".join(
        f'<rect x="{a * scale:.1f}" width="{(b - a) * scale:.1f}" height="{_HEIGHT}"/>' for a, b in marks_s
    )
    return (
        f'<svg viewBox="0 0 {n_columns} {_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">{marks}'
        f'<path d="{path}"/></svg>'
    )
