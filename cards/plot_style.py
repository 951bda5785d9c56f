"""How plots look: readable as thumbnails, colours that colour-blind readers tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROLES = {"user": "#0072b2", "system": "#d55e00", "other": "#009e73"}
KINDS = {
    "pause": "#999999",
    "shift": "#0072b2",
    "hold": "#56b4e9",
    "backchannel": "#009e73",
    "trp": "#66c2a5",
    "barge_in": "#d55e00",
    "cut_off": "#a03c00",
    "side_talk": "#cc79a7",
    "background_speech": "#e69f00",
}
"""After Okabe and Ito, Color Universal Design (2008)."""

_FONTS = ("Noto Sans CJK JP", "Noto Sans JP", "IPAexGothic", "Hiragino Sans", "Yu Gothic")


def new_figure(rows: int = 1, columns: int = 1, *, height_in: float = 4.5, **options: Any) -> tuple[Any, Any]:
    """Return a figure and its axes (2-D), without a window and without global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, height_in), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=11)
    return figure, axes


def font_for(text: str) -> dict[str, Any]:
    """Return the font of a text: one that has Japanese, if it needs one and there is one."""
    from matplotlib import font_manager

    if text.isascii():
        return {}
    known = {font.name for font in font_manager.fontManager.ttflist}
    found = next((name for name in _FONTS if name in known), None)
    return {"family": [found]} if found else {}


def can_draw(text: str) -> bool:
    """Say whether there is a font for a text; boxes in place of letters help nobody."""
    return text.isascii() or bool(font_for(text))


def save(figure: Figure, path: Path) -> None:
    """Write a PNG whose bytes do not depend on when it was made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, format="png", metadata={"Software": None})
