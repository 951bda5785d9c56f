"""DNSMOS: how a trained network rates a clip, by ITU-T P.835 (speech, background, overall) and P.808."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...acoustics.resample import resample
from .measure import Measure, Measured, SpokenClip, Tools, Value, alone
from .silences import speech_of

RATE_HZ = 16_000
SHORTEST_S = 1.0
"""Shorter clips say little: the network hears 9 s, made by repeating the clip."""


def dnsmos_ratings(samples: NDArray[np.float32], *, sample_rate_hz: int) -> dict[str, float]:
    """Return the four ratings (1 to 5) of a signal: ovrl, sig, bak (P.835) and p808.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,), at most 1.0
        Any length; below 9.01 s it is repeated, above it windows are averaged (as the published code does).
    sample_rate_hz : int

    References
    ----------
    C. Reddy et al. (2022), DNSMOS P.835, ICASSP; C. Reddy et al. (2021), DNSMOS, ICASSP.
    """
    dense = resample(samples, from_rate_hz=sample_rate_hz, to_rate_hz=RATE_HZ)
    peak = float(np.max(np.abs(dense), initial=0.0))
    if peak > 1.0:  # the filter may overshoot full scale, which the network's code refuses
        dense = (dense / np.float32(peak)).astype(np.float32)
    found = _network()(dense, RATE_HZ, False)
    return {name: float(found[f"{name}_mos"]) for name in ("ovrl", "sig", "bak", "p808")}


@cache
def _network() -> Any:
    """Return the networks of the wheel, loaded once in a process, on one thread."""
    import onnxruntime

    package = import_module("speechmos.dnsmos")
    folder = Path(str(package.__file__)).parent / "dnsmos_models"
    networks = package.DNSMOS(str(folder / "sig_bak_ovr.onnx"), str(folder / "model_v8.onnx"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    for name, file in (("onnx_sess", "sig_bak_ovr.onnx"), ("p808_onnx_sess", "model_v8.onnx")):
        session = onnxruntime.InferenceSession(
            str(folder / file), options, providers=["CPUExecutionProvider"]
        )
        setattr(networks, name, session)
    return networks


def _version(tools: Tools) -> str:
    if find_spec("speechmos") is None:
        return "not installed"
    return f"speechmos {version_of('speechmos')} (sig_bak_ovr, model_v8)"


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    names = ("ovrl", "sig", "bak", "p808")
    if clip.length_s < SHORTEST_S or not speech_of(clip):
        return Measured(values={f"dnsmos_{name}": None for name in names})
    ratings = dnsmos_ratings(clip.samples, sample_rate_hz=clip.sample_rate_hz)
    return Measured(values={f"dnsmos_{name}": ratings[name] for name in names})


DNSMOS = Measure(
    name="dnsmos",
    scope="utterance",
    values=tuple(
        Value(name=f"dnsmos_{name}", unit="MOS, 1 to 5", meaning=meaning, better="high")
        for name, meaning in (
            ("ovrl", "P.835 overall, of dry clips of 1 s and more as placed"),
            ("sig", "P.835 speech"),
            ("bak", "P.835 background"),
            ("p808", "P.808"),
        )
    ),
    source="DNSMOS P.835 (Reddy et al. 2022) and P.808 (Reddy et al. 2021)",
    cost=0.2,
    version=_version,
    run=alone(_run),
    needs=("speechmos", "librosa"),
)


def _tracks(clips: tuple[SpokenClip, ...], tools: Tools) -> Measured:
    """Rate all tracks of a sample as one sound."""
    first = clips[0]
    mixed = np.stack([clip.samples for clip in clips]).sum(axis=0).astype(np.float32)
    peak = float(np.max(np.abs(mixed), initial=0.0))
    if peak > 1.0:
        mixed = (mixed / np.float32(peak)).astype(np.float32)
    ratings = dnsmos_ratings(mixed, sample_rate_hz=first.sample_rate_hz)
    return Measured(values={"dialogue_dnsmos_ovrl": ratings["ovrl"], "dialogue_dnsmos_p808": ratings["p808"]})


DIALOGUE_DNSMOS = Measure(
    name="dialogue_dnsmos",
    scope="tracks",
    values=(
        Value(
            name="dialogue_dnsmos_ovrl",
            unit="MOS, 1 to 5",
            meaning="P.835 overall, of the whole sample with its silences, all tracks added up",
            better="high",
        ),
        Value(name="dialogue_dnsmos_p808", unit="MOS, 1 to 5", meaning="P.808 of the same", better="high"),
    ),
    source="as dnsmos; a mean over windows of 9 s every second",
    cost=0.2,
    version=_version,
    run=_tracks,
    needs=("speechmos", "librosa"),
)
