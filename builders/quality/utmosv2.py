"""UTMOSv2: the naturalness that listeners would give, as a trained network predicts it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from importlib.util import find_spec
from typing import Any

from ...acoustics.resample import resample
from .measure import Measure, Measured, NotMeasured, SpokenClip, Tools, Value, alone

_RATE_HZ = 16_000


@cache
def _network() -> Any:
    """Return the network, its weights by its package's own download.

    Raises
    ------
    NotMeasured
        If the weights are not to be had.
    """
    try:
        return import_module("utmosv2").create_model(pretrained=True, device="cpu")
    except (OSError, ImportError, RuntimeError, ValueError) as error:
        raise NotMeasured(
            f"utmosv2: its weights are not to be had ({error}); measure where its package can download them"
        ) from None


def _version(tools: Tools) -> str:
    return f"utmosv2 {version_of('utmosv2')}" if find_spec("utmosv2") is not None else "not installed"


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
    rating = _network().predict(data=dense, sr=_RATE_HZ, device="cpu", verbose=False)
    return Measured(values={"utmosv2": float(rating)})


UTMOSV2 = Measure(
    name="utmosv2",
    scope="utterance",
    values=(Value(name="utmosv2", unit="MOS, 1 to 5", meaning="predicted naturalness", better="high"),),
    source="Baba et al. 2024, UTMOSv2",
    cost=5.0,
    version=_version,
    run=alone(_run),
    needs=("utmosv2",),
    load=lambda tools: _network(),
    install="pip install utmosv2",
)
