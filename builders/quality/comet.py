"""COMETKiwi: how good one language's script is as a translation of the other's, without a reference."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .measure import Measure, Measured, NotMeasured, SpokenClip, Tools, Value


@cache
def _model(name: str) -> Any:
    """Return the model: a checkpoint file, or a Hub id that COMET's own loader fetches.

    Raises
    ------
    NotMeasured
        If it is not to be had.
    """
    try:
        comet = import_module("comet")
        path = name if Path(name).is_file() else comet.download_model(name)
        return comet.load_from_checkpoint(path)
    except (OSError, ImportError, RuntimeError, ValueError, KeyError) as error:
        raise NotMeasured(
            f"comet: the model {name!r} is not to be had ({error}); its licence has to be accepted on the Hub, "
            "or name a checkpoint file"
        ) from None


def _version(tools: Tools) -> str:
    if find_spec("comet") is None:
        return "not installed"
    return f"unbabel-comet {version_of('unbabel-comet')} {tools.comet}"


def _run(clips: tuple[SpokenClip, ...], tools: Tools) -> Measured:
    """Rate the texts of a pair: the clips of the first language, then as many of the second."""
    half = len(clips) // 2
    pairs = [{"src": a.text, "mt": b.text} for a, b in zip(clips[:half], clips[half:], strict=True)]
    scores = _model(tools.comet).predict(pairs, batch_size=8, gpus=0, progress_bar=False)["scores"]
    return Measured(values={"comet_kiwi": float(sum(scores) / len(scores))}, weight=len(pairs))


COMET = Measure(
    name="comet",
    scope="pair",
    values=(
        Value(
            name="comet_kiwi",
            unit="0 to 1",
            meaning="estimated quality of the translation, mean over the turns of a script in two languages",
            better="high",
            pooling="pooled",
        ),
    ),
    source="Rei et al. 2022, CometKiwi",
    cost=1.0,
    version=_version,
    run=_run,
    needs=("comet",),
    load=lambda tools: _model(tools.comet),
    install="pip install unbabel-comet",
)
