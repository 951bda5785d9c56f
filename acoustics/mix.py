"""Add clips up on a timeline."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_signal


class Canvas:
    """A silent timeline of `n_samples` on which `add_at` collects clips; `samples` reads it.

    The one object here that changes: it stands for the whole of a long sample, so that adding a clip costs
    the clip's length and not the timeline's.
    """

    __slots__ = ("_sum",)

    def __init__(self, n_samples: int) -> None:
        if n_samples < 1:
            raise AudioError(f"n_samples is {n_samples}; wanted a timeline of at least one sample")
        self._sum = np.zeros(n_samples, dtype=np.float32)

    @property
    def n_samples(self) -> int:
        """Length of the timeline."""
        return int(self._sum.size)

    @property
    def samples(self) -> NDArray[np.float32]:
        """A copy of what has been added so far, shape (n_samples,)."""
        return self._sum.copy()


def add_at(canvas: Canvas, clip: NDArray[np.float32], *, start: int) -> None:
    """Add a clip, shape (n,), to the canvas from sample `start` on; nothing is scaled, cut or clipped.

    Clips add up in float32 in the order of the calls: the same order gives the same bytes.

    Raises
    ------
    AudioError
        No signal, or a clip that does not fit on the canvas.
    """
    check_signal(clip, name="clip")
    stop = start + clip.size
    if start < 0 or stop > canvas.n_samples:
        raise AudioError(
            f"a clip of {clip.size} samples at {start} leaves the canvas of {canvas.n_samples} samples: "
            "make the canvas longer or cut the clip"
        )
    canvas._sum[start:stop] += clip


def mix(placed: Iterable[tuple[NDArray[np.float32], int]], *, n_samples: int) -> NDArray[np.float32]:
    """Return the sum, shape (n_samples,), of clips at their starts; `to_pcm16` comes after it, once.

    Parameters
    ----------
    placed : iterable of (clip of float32, shape (n,); start, sample index)
    n_samples : int >= 1

    Raises
    ------
    AudioError
        As `add_at`.
    """
    canvas = Canvas(n_samples)
    for clip, start in placed:
        add_at(canvas, clip, start=start)
    return canvas._sum
