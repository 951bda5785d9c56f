"""Who could speak in a build, and the scripts of its languages, kept beside its stems for variants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import ReleaseError
from ..scenarios.bank import SHIPPED
from ..scenarios.conversation import Role, Voice
from ..scenarios.recipe import Recipe
from .json_file import Form, read_json
from .said import FOLDER, Said
from .speakers import Speaker, takes_speed

SPEECH, SCRIPTS = f"{FOLDER}/speech.json", f"{FOLDER}/scripts"

_VOICE: Form = {
    **dict.fromkeys(("id", "engine", "gender", "accent", "licence", "attribution"), str),
    "languages": [str],
    "mix": [[object]],
    "age?": str,
    "lexicon?": str,
    "dnsmos?": (float, None),
}
_FACTS: Form = {
    "engine": str,
    "version": str,
    "uses_seed": bool,
    "takes_speed?": bool,
    "licence": str,
    "sets": {"*": {"*": [str]}},
    "voices": [_VOICE],
}


def write_speech(folder: Path, recipe: Recipe, speaker: Speaker, facts: Mapping[str, Any]) -> None:
    """Write who can speak in a build folder, and the scripts of its languages, in the bank's layout."""
    sets = {
        language: named for language, named in speaker.voice_sets().items() if language in recipe.languages
    }
    described = {
        "engine": speaker.engine,
        "version": speaker.version,
        "uses_seed": speaker.uses_seed,
        "takes_speed": takes_speed(speaker),
        "licence": speaker.licence,
        "sets": sets,
        "voices": [
            asdict(voice)
            for voice in speaker.voices().values()
            if set(voice.languages) & set(recipe.languages)
        ],
        **facts,
    }
    (folder / FOLDER).mkdir(exist_ok=True)
    (folder / SPEECH).write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for language in recipe.languages:
        target = folder / SCRIPTS / language
        target.mkdir(parents=True, exist_ok=True)
        for source in sorted((recipe.scripts / language).glob("*.jsonl")):
            (target / source.name).write_bytes(source.read_bytes())


def read_speech(folder: Path) -> dict[str, Any]:
    """Return what `write_speech` wrote: the engine of a build, its voices and their sets.

    Raises
    ------
    ReleaseError
        If the folder does not say it.
    """
    facts: dict[str, Any] = read_json(folder / SPEECH, _FACTS, cure="build the folder again")
    return facts


def voices_of_build(folder: Path) -> dict[str, Voice]:
    """Return who could speak in a build, by id.

    Raises
    ------
    ReleaseError
        If the folder does not say it.
    """
    path = folder / SPEECH
    facts = path.stat() if path.is_file() else None
    return dict(_voices(folder, None if facts is None else (facts.st_mtime_ns, facts.st_size)))


@lru_cache(maxsize=8)
def _voices(folder: Path, state: tuple[int, int] | None) -> dict[str, Voice]:
    """Return the voices; a file that did not change is read once in a process."""
    return {
        voice["id"]: Voice(
            **{
                **voice,
                "languages": tuple(voice["languages"]),
                "mix": tuple((name, weight) for name, weight in voice["mix"]),
            }
        )
        for voice in read_speech(folder)["voices"]
    }


def played_before(folder: Path, said: Said) -> dict[Role, Voice]:
    """Return who played which role in a sample of a build.

    Raises
    ------
    ReleaseError
        If the build does not say who could speak, or another one than these spoke.
    """
    voices = voices_of_build(folder)
    for voice in said.cast.values():
        if voice not in voices:
            raise ReleaseError(
                f"{folder / SPEECH}: voices: {voice!r}, who speaks in {said.id}, is missing; build the folder again"
            )
    return {Role(role): voices[voice] for role, voice in said.cast.items()}


def scripts_of_build(folder: Path, languages: Iterable[str]) -> Path:
    """Return where a variant's scripts lie: in the build where it has them, else in the shipped bank."""
    own = folder / SCRIPTS
    return own if all((own / language).is_dir() for language in languages) else SHIPPED
