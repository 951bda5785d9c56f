"""SQUIM: STOI and PESQ as a trained network estimates them without the clean reference."""

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
    """Return the network of torchaudio, its weights by torchaudio's own download.

    Raises
    ------
    NotMeasured
        If the weights are not to be had.
    """
    try:
        return import_module("torchaudio.pipelines").SQUIM_OBJECTIVE.get_model().eval()
    except (OSError, AttributeError, ImportError, RuntimeError, ValueError) as error:
        raise NotMeasured(
            f"squim: the weights of torchaudio's SQUIM_OBJECTIVE are not to be had ({error}); put "
            "squim_objective_dns2020.pth into torch's hub folder, or measure where it can be downloaded"
        ) from None


def _version(tools: Tools) -> str:
    if find_spec("torchaudio") is None:
        return "not installed"
    return f"torchaudio {version_of('torchaudio')} SQUIM_OBJECTIVE"


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    torch = import_module("torch")
    network = _network()
    dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
    with torch.no_grad():
        stoi, pesq, _ = network(torch.from_numpy(dense)[None])
    return Measured(values={"squim_stoi": float(stoi[0]), "squim_pesq": float(pesq[0])})


SQUIM = Measure(
    name="squim",
    scope="utterance",
    values=(
        Value(name="squim_stoi", unit="0 to 1", meaning="estimated STOI", better="high"),
        Value(name="squim_pesq", unit="MOS-LQO, 1 to 4.6", meaning="estimated wide-band PESQ", better="high"),
    ),
    source="Kumar et al. 2023, TorchAudio-Squim",
    cost=0.5,
    version=_version,
    run=alone(_run),
    needs=("torch", "torchaudio"),
    load=lambda tools: _network(),
    install="pip install torchaudio",
)
