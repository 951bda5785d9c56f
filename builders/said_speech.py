"""Who could speak in a build, and the scripts of its languages, kept beside its stems for variants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..scenarios.bank import SHIPPED
from ..scenarios.recipe import Recipe
from .json_file import Form, read_json
from .said import FOLDER
from .speakers import Speaker, takes_speed

SPEECH, SCRIPTS = f"{FOLDER}/speech.json", f"{FOLDER}/scripts"

_VOICE: Form = {
    **dict.fromkeys(("id", "engine", "gender", "accent", "licence", "attribution"), str),
    "languages": [str],
    "mix": [[object]],
    "age?": str,
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


def scripts_of_build(folder: Path, languages: Iterable[str]) -> Path:
    """Return where a variant's scripts lie: in the build where it has them, else in the shipped bank."""
    own = folder / SCRIPTS
    return own if all((own / language).is_dir() for language in languages) else SHIPPED
