"""Clipping: flat tops at the largest magnitude of a clip, at whatever level it was scaled to afterwards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .measure import Measure, Measured, SpokenClip, Tools, Value, alone

RUN_SAMPLES = 4
"""A top this long at one height, to 0.1 % of the peak, is no wave's own at 24 kHz."""

_SAME = 1e-3


def flat_top_share(samples: NDArray[np.float32]) -> float:
    """Return the share of samples that lie in flat tops: runs of four or more at the peak, to 0.1 % of it.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)

    Notes
    -----
    A clipped clip that was scaled down later still shows it; one that was resampled or filtered need not.

    Examples
    --------
    >>> wave = np.sin(np.arange(480) * 2 * np.pi / 48).astype(np.float32)
    >>> flat_top_share(wave)
    0.0
    >>> round(flat_top_share(np.clip(wave, -0.5, 0.5)), 2)
    0.71
    """
    peak = float(np.max(np.abs(samples), initial=0.0))
    if peak == 0.0:
        return 0.0
    flat = 0
    for side in (samples, -samples):
        at_top = np.concatenate([[False], side >= peak * (1.0 - _SAME), [False]])
        edges = np.flatnonzero(np.diff(at_top.astype(np.int8)))
        lengths = edges[1::2] - edges[::2]
        flat += int(lengths[lengths >= RUN_SAMPLES].sum())
    return flat / samples.size


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    return Measured(values={"clipped_share": flat_top_share(clip.samples)})


CLIPPING = Measure(
    name="clipping",
    scope="utterance",
    values=(
        Value(
            name="clipped_share",
            unit="share of samples",
            meaning="samples in flat tops of four or more at the clip's peak",
            better="low",
            pooling="most",
        ),
    ),
    source="own: runs at the peak, to 0.1 %",
    cost=0.001,
    version=lambda tools: "1",
    run=alone(_run),
)
