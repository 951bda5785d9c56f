"""SQUIM: STOI and PESQ as a trained network estimates them without the clean reference."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from typing import Any

from ...acoustics.resample import resample
from .fetched import FAULTS, reason_of, weights_of
from .measure import Measure, Measured, NotMeasured, SpokenClip, Tools, Value, alone

SHORTEST_S = 0.4
"""STOI compares stretches of 384 ms (Taal et al. 2011): below that there is nothing to estimate."""

_RATE_HZ = 16_000


@cache
def _network() -> Any:
    """Return the network of torchaudio, its weights by torchaudio's own download, loaded once in a process.

    It runs on one thread: processes measure side by side.

    Raises
    ------
    NotMeasured
        If torchaudio does not run here, or the weights are not to be had.
    """
    try:
        torch = import_module("torch")
        bundle = import_module("torchaudio.pipelines").SQUIM_OBJECTIVE
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise NotMeasured(
            f"torchaudio does not run here ({reason_of(error)}); wanted torchaudio 2.1 or newer of the same "
            "build as torch, both for the CPU or both for CUDA (docs/quality.md)"
        ) from None
    try:
        network = bundle.get_model()
    except FAULTS as error:
        raise NotMeasured(
            f"the weights of torchaudio's SQUIM_OBJECTIVE are not to be had ({reason_of(error)}); measure "
            "where they can be downloaded, or put squim_objective_dns2020.pth into hub/torchaudio/models of torch's "
            "folder ($TORCH_HOME, else ~/.cache/torch)"
        ) from None
    torch.set_num_threads(1)
    return network


@cache
def _weights() -> str:
    return weights_of(_network())


def _version(tools: Tools) -> str:
    return f"torchaudio {version_of('torchaudio')} SQUIM_OBJECTIVE, weights {_weights()}"


def _run(clip: SpokenClip, tools: Tools) -> Measured:
    """Estimate both; nothing of silence, whose level the network divides by."""
    if clip.length_s < SHORTEST_S or not clip.samples.any():
        return Measured(values={"squim_stoi": None, "squim_pesq": None})
    torch = import_module("torch")
    dense = resample(clip.samples, from_rate_hz=clip.sample_rate_hz, to_rate_hz=_RATE_HZ)
    with torch.no_grad():
        stoi, pesq, _ = _network()(torch.from_numpy(dense)[None])
    return Measured(values={"squim_stoi": float(stoi[0]), "squim_pesq": float(pesq[0])})


SQUIM = Measure(
    name="squim",
    scope="utterance",
    values=(
        Value(name="squim_stoi", unit="0 to 1", meaning="estimated STOI", better="high"),
        Value(name="squim_pesq", unit="MOS-LQO, 1 to 4.6", meaning="estimated wide-band PESQ", better="high"),
    ),
    source="Kumar et al. 2023, TorchAudio-Squim",
    cost=0.2,
    version=_version,
    run=alone(_run),
    needs=("torch", "torchaudio"),
    load=lambda tools: _network(),
    install="pip install torchaudio, of the same build as torch",
)
