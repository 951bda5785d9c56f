"""The contract of a speech engine, and the one list of engines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ... import EngineError, RecipeError, SpeechError
from ...scenarios.conversation import Voice
from ...scenarios.fields import unknown
from ...scenarios.markup import Reading
from ...scenarios.reason import reason_of
from ..service import KEY_ENV, holds_key

ENTRY_POINTS = "duplexkit.speakers"
"""The entry-point group by which another package adds an engine: its name, and an `Engine`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRequest:
    """One text to speak, fully decided: the same request gives the same clip.

    `readings` say how parts of `text` are pronounced; before each position in `breaks` (an index into
    `text`) the engine makes the kind of hesitation it can (a comma, a break token), and before each position
    in `sounds` the sound named there (``laugh``, ``breath``), if it can. `seed` is for engines that sample.
    """

    text: str
    language: str
    voice: Voice
    speed: float = 1.0
    seed: int = 0
    readings: tuple[Reading, ...] = ()
    breaks: tuple[int, ...] = ()
    sounds: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipWord:
    """A word of a clip: ``request.text[start_char:stop_char]``, and when it is heard in the clip."""

    text: str
    start_char: int
    stop_char: int
    onset_s: float
    offset_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What an engine gave, untouched: mono samples of shape (n,), any level, silence at the ends.

    `words` is None where the engine knows no times. `word_time_source` names their origin.
    """

    samples: NDArray[np.float32]
    sample_rate_hz: int
    words: tuple[ClipWord, ...] | None
    word_time_source: str


class Speaker(Protocol):
    """An engine. Made once in each process that speaks."""

    engine: str
    version: str
    """Everything that decides the sound besides the request: package, model hash, data format."""
    uses_seed: bool
    takes_speed: bool
    """Whether it can speak faster or slower; an engine that does not say can."""
    licence: str
    """SPDX id of the speech it makes (weights), before the voice's own."""

    def voices(self) -> dict[str, Voice]:
        """Return the voices by id."""
        ...

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return named lists of voice ids, by language: ``voice_sets()["en"]["default"]``."""
        ...

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text.

        Raises
        ------
        SpeechError
            If the engine cannot speak it: language, characters, length.
        """
        ...


def takes_speed(speaker: Speaker) -> bool:
    """Say whether an engine can be asked for another speed."""
    return getattr(speaker, "takes_speed", True)


def varies_by_seed(speaker: Speaker) -> bool:
    """Say whether a seed makes another clip: one that the engine uses, or, as its last way, asks again with.

    An engine that takes neither seed nor speed can only be asked again; what then came is another clip.
    """
    return speaker.uses_seed or not takes_speed(speaker)


Factory = Callable[[Path, Mapping[str, Any]], Speaker]
"""What makes an engine, from the folder it may keep things in and the recipe's table ``[speech.options]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What is known of an engine before it is made.

    `languages` is empty where its voices decide. `pauses` says how a break is asked for, `sounds` which
    other sounds it makes, `times` where word times come from. Licences are SPDX ids; ``user`` means that the
    recipe states it. An engine that may not speak in all processes at once sees to it itself (`slots.slot`).
    """

    name: str
    make: Factory
    install: str
    languages: tuple[str, ...]
    code_licence: str
    weights_licence: str
    pauses: Literal["punctuation", "token", "none"]
    sounds: tuple[str, ...] = ()
    uses_seed: bool
    times: Literal["engine", "aligner"]


def _factory(module: str, attribute: str) -> Factory:
    """Return a factory that imports its module when it is called."""

    def make(cache_dir: Path, options: Mapping[str, Any]) -> Speaker:
        speaker: Speaker = getattr(import_module(f".{module}", __name__), attribute)(cache_dir, options)
        return speaker

    return make


def _kokoro(cache_dir: Path, options: Mapping[str, Any]) -> Speaker:
    if options:
        raise RecipeError(f"speech.options: engine 'kokoro' has no options, got {', '.join(options)}")
    speaker: Speaker = import_module(".kokoro", __name__).Kokoro(cache_dir)
    return speaker


_SHIPPED = (
    Engine(
        name="kokoro",
        make=_kokoro,
        install="pip install duplexkit",
        languages=("en", "ja"),
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        pauses="punctuation",
        uses_seed=False,
        times="engine",
    ),
    Engine(
        name="hibari",
        make=_factory("hibari", "Hibari"),
        install="pip install duplexkit",
        languages=("en",),
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        pauses="punctuation",
        uses_seed=True,
        times="engine",
    ),
    Engine(
        name="chattts",
        make=_factory("chattts", "ChatTts"),
        install="pip install 'duplexkit[chattts]'",
        languages=("en", "zh"),
        code_licence="AGPL-3.0-or-later",
        weights_licence="CC-BY-NC-4.0",
        pauses="token",
        sounds=("laugh",),
        uses_seed=True,
        times="aligner",
    ),
    Engine(
        name="cosyvoice",
        make=_factory("cosyvoice", "CosyVoice"),
        install="a server (duplexkit serve-cosyvoice MODEL_DIR), or upstream's repository and its packages",
        languages=("zh", "en", "ja", "ko", "yue"),
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        pauses="punctuation",
        sounds=("laugh", "breath", "sigh", "cough"),
        uses_seed=True,
        times="aligner",
    ),
    Engine(
        name="openai_speech",
        make=_factory("openai_speech", "OpenAiSpeech"),
        install="pip install duplexkit",
        languages=(),
        code_licence="Apache-2.0",
        weights_licence="user",
        pauses="punctuation",
        uses_seed=False,
        times="aligner",
    ),
    Engine(
        name="recorded",
        make=_factory("recorded", "Recorded"),
        install="pip install duplexkit",
        languages=(),
        code_licence="Apache-2.0",
        weights_licence="user",
        pauses="none",
        uses_seed=True,
        times="aligner",
    ),
)


@cache
def engines() -> dict[str, Engine]:
    """Return all engines by name: ours, then those that other installed packages add.

    Raises
    ------
    EngineError
        If another package adds something else, or a name that is taken.
    """
    found = {engine.name: engine for engine in _SHIPPED}
    for point in entry_points(group=ENTRY_POINTS):
        origin = f"entry point {point.name!r} ({point.value}) in group {ENTRY_POINTS}"
        try:
            engine = point.load()
        except (ImportError, AttributeError) as error:
            raise EngineError(
                f"{origin} cannot be loaded: {reason_of(error)}; mend or remove that package"
            ) from error
        if not isinstance(engine, Engine) or engine.name != point.name:
            raise EngineError(
                f"{origin} gives {engine!r}; wanted a duplexkit.builders.speakers.Engine of that name"
            )
        if engine.name in found:
            raise EngineError(f"{origin}: there is already an engine of that name; remove one of the two")
        found[engine.name] = engine
    return found


def make_speaker(
    engine: str,
    cache_dir: Path,
    options: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> Speaker:
    """Return the engine of that name, ready to speak.

    Parameters
    ----------
    engine : str
    cache_dir : Path
        Where it may keep what it makes once (models, lists of voices).
    options : mapping, optional
        The recipe's ``[speech.options]``; what may stand there is the engine's affair (docs/engines.md).
    folder : Path, optional
        Where relative paths in the options start: the recipe's folder. Paths are the keys that end in
        ``_path`` or ``_dir``, at any depth.

    Raises
    ------
    SpeechError
        If there is no such engine.
    EngineError
        If its packages are missing, its model cannot be loaded, or its server does not answer.
    RecipeError
        If an option is not as the engine wants it, a path is none, or the key of a service stands in one.
    """
    known = engines()
    if engine not in known:
        raise SpeechError(f"speech.engine = {engine!r}: {unknown('engine', engine, tuple(known))}")
    if holds_key(json.dumps(options or {}, default=str, ensure_ascii=False)):
        raise RecipeError(f"speech.options holds the key of {KEY_ENV}: take it out, a recipe is published")
    return known[engine].make(cache_dir, _located(options or {}, folder or Path()))


def _located(table: Mapping[str, Any], folder: Path, within: str = "") -> dict[str, Any]:
    """Return the table with its paths made absolute."""
    located: dict[str, Any] = {}
    for key, value in table.items():
        here = f"{within}{key}"
        if isinstance(value, Mapping):
            value = _located(value, folder, f"{here}.")
        elif key.endswith(("_path", "_dir")) and isinstance(value, str):
            try:
                value = str((folder / Path(value).expanduser()).resolve())
            except (OSError, RuntimeError, ValueError) as error:  # no such user; a loop of links; a byte 0
                raise RecipeError(
                    f"speech.options: {here} = {value!r} is no path: {reason_of(error)}"
                ) from None
        located[key] = value
    return located
