"""The nouns of quality: what is measured on (`SpokenClip`), by what (`Measure`), and what came out (`Measured`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ... import DuplexkitError

Pooling = Literal["mean", "most", "least", "pooled"]
"""How the values of a sample's utterances become the sample's: `pooled` weighs them by `Measured.weight`."""


class NotMeasured(DuplexkitError):
    """A measure cannot be had here: its package or its weights are missing. The message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenClip:
    """One utterance and what it should be.

    `samples` has shape (n,). `text` is what was to be said, as it is spoken (readings in place), empty where
    nobody knows. `relation` says which role it plays in its sample: ``user``, ``system`` or ``other``.
    """

    samples: NDArray[np.float32]
    sample_rate_hz: int
    text: str
    language: str
    speaker: str = ""
    relation: str = ""

    @property
    def length_s(self) -> float:
        """Return the length in seconds."""
        return self.samples.size / self.sample_rate_hz


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What measures may use: where they keep what they found, and which recogniser and translator judges.

    `recogniser` is a folder or a Hub id for faster-whisper; empty for the English one that comes as a package.
    `comet` is a checkpoint file or Hub id of a reference-free COMET model.
    """

    cache_dir: Path
    recogniser: str = ""
    comet: str = "Unbabel/wmt22-cometkiwi-da"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a measure found: values by name (None: not to be said of this clip), their weight, and a remark."""

    values: Mapping[str, float | None]
    weight: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One number that a measure gives. `better` is the end at which good speech lies, if there is one.

    `available_in` says of which languages it can be had, with these tools; None: of all.
    """

    name: str
    unit: str
    meaning: str
    better: Literal["high", "low", ""] = ""
    pooling: Pooling = "mean"
    available_in: Callable[[str, Tools], bool] | None = None

    def is_available(self, language: str, tools: Tools) -> bool:
        """Return whether it can be had of speech in a language."""
        return self.available_in is None or self.available_in(language, tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure: what it gives, where it comes from, what it costs, and the function.

    `scope` is what it looks at: each ``utterance`` by itself, all utterances of a ``sample``, the ``tracks`` of a
    sample as they are heard, or a ``pair`` of samples with one script in two languages. `cost` is in seconds of
    one core per second of speech, as measured. `needs` are modules that the extra brings, `programs` commands of
    another environment. `version` names the model and is part of what a value is kept under. `load` fetches
    weights that no package carries; it raises NotMeasured where they are not to be had.
    """

    name: str
    scope: Literal["utterance", "sample", "tracks", "pair"]
    values: tuple[Value, ...]
    source: str
    cost: float
    version: Callable[[Tools], str]
    run: Callable[[tuple[SpokenClip, ...], Tools], Measured]
    needs: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    install: str = "pip install 'duplexkit[quality]'"
    load: Callable[[Tools], object] | None = None

    def missing(self) -> str:
        """Return why it cannot run here for want of a package or program; nothing if it can."""
        absent = [module for module in self.needs if find_spec(module) is None]
        absent += [program for program in self.programs if shutil.which(program) is None]
        if not absent:
            return ""
        return f"{self.name} needs {', '.join(absent)}: {self.install} (docs/quality.md)"


def alone(
    function: Callable[[SpokenClip, Tools], Measured],
) -> Callable[[tuple[SpokenClip, ...], Tools], Measured]:
    """Return a function on one utterance in the form that all measures have."""

    def run(clips: tuple[SpokenClip, ...], tools: Tools) -> Measured:
        (clip,) = clips
        return function(clip, tools)

    return run
