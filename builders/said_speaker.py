"""The engine of an earlier build, from the facts kept there; the real one is made only if something is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from .. import EngineError
from ..scenarios.conversation import Voice
from .said_speech import read_speech, voices_of_build
from .speakers import Clip, Speaker, SpeechRequest


class SaidSpeaker:
    """A speaker that knows the voices of a build and speaks only what that build cannot give.

    Parameters
    ----------
    folder : Path
        The build.
    make : callable
        Makes the engine.
    """

    def __init__(self, folder: Path, make: Callable[[], Speaker]) -> None:
        facts = read_speech(folder)
        self._make = make
        self._real: Speaker | None = None
        self._folder = folder
        self.engine: str = facts["engine"]
        self.version: str = facts["version"]
        self.uses_seed: bool = facts["uses_seed"]
        self.takes_speed: bool = facts.get("takes_speed", True)
        self.licence: str = facts["licence"]
        self._sets = {
            language: {name: tuple(ids) for name, ids in named.items()}
            for language, named in facts["sets"].items()
        }
        self._voices = voices_of_build(folder)

    def voices(self) -> dict[str, Voice]:
        """Return the voices of the build's languages by id."""
        return dict(self._voices)

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return their sets by language."""
        return self._sets

    def speak(self, request: SpeechRequest) -> Clip:
        """Return a clip from the engine itself.

        Raises
        ------
        EngineError
            If the engine that is here is not the one that spoke in the build.
        """
        if self._real is None:
            real = self._make()
            if real.version != self.version:
                raise EngineError(
                    f"{self._folder} was spoken by {self.engine} {self.version}; here is {real.version}. "
                    f"{request.text!r} is not among what it said and would sound different: install those "
                    f"versions, or let everything be spoken anew with --engine {self.engine}"
                )
            self._real = real
        known = self._real.voices().get(request.voice.id)
        if known is not None:  # older builds do not say by which lexicon a voice's texts were read
            request = replace(request, voice=replace(request.voice, lexicon=known.lexicon))
        return self._real.speak(request)
