"""UTMOSv2: the naturalness that listeners would give, as a trained network predicts it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...acoustics.resample import resample
from .fetched import FAULTS, reason_of, weights_of
from .kept import clip_key
from .measure import Measure, Measured, NotMeasured, SpokenClip, Tools, Value, alone

_RATE_HZ = 16_000


@cache
def _network() -> Any:
    """Return the network, its weights by its package's own downloads, loaded once in a process.

    It runs on one thread: processes measure side by side.

    Raises
    ------
    NotMeasured
        If the package does not run here, or the weights are not to be had.
    """
    try:
        torch, package = import_module("torch"), import_module("utmosv2")
    except (ImportError, OSError, RuntimeError) as error:
        raise NotMeasured(
            f"UTMOSv2 does not run here ({reason_of(error)}); wanted torchaudio and torchvision of the "
            "same build as torch, all for the CPU or all for CUDA (docs/quality.md)"
        ) from None
    try:
        with redirect_stdout(sys.stderr):
            network = package.create_model(pretrained=True, device="cpu")
    except (*FAULTS, TypeError) as error:
        raise NotMeasured(
            f"the weights of UTMOSv2 are not to be had ({reason_of(error)}); measure where its package can download "
            "all three: facebook/wav2vec2-base and timm/tf_efficientnetv2_s.in21k_ft_in1k from the Hub, and its own "
            "(into ~/.cache/utmosv2)"
        ) from None
    torch.set_num_threads(1)
    return network


@cache
def _weights() -> str:
    return weights_of(_network())


def _version(tools: Tools) -> str:
    return f"utmosv2 {import_module('utmosv2').__version__} fold 0, weights {_weights()}"


@contextmanager
def _cuts_of(clip: SpokenClip) -> Iterator[None]:
    """Let the package, which cuts pieces at random places from numpy's global state, cut those of this clip."""
    before = np.random.get_state()  # noqa: NPY002 - the package takes no generator
    np.random.seed(int(clip_key(clip)[:8], 16))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    """Predict once, silences left in as in the paper; nothing of silence alone."""
    if not clip.samples.any():
        return Measured(values={"utmosv2": None})
    dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
    network = _network()
    with _cuts_of(clip), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for CUDA's help and says that there is none
        ratings = network.predict(
            data=dense[None], device="cpu", num_workers=0, remove_silent_section=False, verbose=False
        )
    return Measured(values={"utmosv2": float(ratings[0])})


UTMOSV2 = Measure(
    name="utmosv2",
    scope="utterance",
    values=(Value(name="utmosv2", unit="MOS, 1 to 5", meaning="predicted naturalness", better="high"),),
    source="Baba et al. 2024, UTMOSv2",
    cost=1.5,
    version=_version,
    run=alone(_run),
    needs=("torch", "utmosv2"),
    load=lambda tools: _network(),
    install="pip install git+https://github.com/sarulab-speech/UTMOSv2.git (it is not on PyPI)",
)
