"""The voices of an engine as a table, as JSON, and to be heard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from .. import RecipeError
from ..acoustics.riff import is_wav
from ..scenarios.conversation import Voice
from ..scenarios.fields import unknown
from ..scenarios.reason import reason_of
from ..whole_file import put_bytes
from .speakers import Engine, Speaker, SpeechRequest
from .speakers.wav import wav_bytes

SENTENCES = {
    "en": "Could you tell me when the next train to the coast leaves?",
    "ja": "次の電車は何時に出るか、教えていただけますか。",
    "zh": "请问,下一班火车几点开?",
    "es": "¿Me puede decir a qué hora sale el próximo tren?",
}
"""What a voice says to be heard, by language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which voices: those that match all that is not empty."""

    language: str = ""
    gender: str = ""
    accent: str = ""
    voice_set: str = ""
    least_dnsmos: float | None = None


def chosen(speaker: Speaker, wanted: Wanted) -> list[Voice]:
    """Return the voices that match, in the engine's order.

    Raises
    ------
    RecipeError
        If none does; names what there is.
    """
    voices = list(speaker.voices().values())
    sets = speaker.voice_sets()
    if wanted.voice_set:
        names = {name for named in sets.values() for name in named}
        if wanted.voice_set not in names:
            raise RecipeError(
                f"--set {wanted.voice_set}: {unknown('voice set', wanted.voice_set, tuple(names))}"
            )
    _known("language", wanted.language, {language for voice in voices for language in voice.languages})
    _known("gender", wanted.gender, {voice.gender for voice in voices})
    _known("accent", wanted.accent, {voice.accent for voice in voices})
    found = [
        voice
        for voice in voices
        if (not wanted.language or wanted.language in voice.languages)
        and (not wanted.gender or wanted.gender == voice.gender)
        and (not wanted.accent or wanted.accent == voice.accent)
        and (not wanted.voice_set or _in_set(voice, wanted, sets))
        and (wanted.least_dnsmos is None or (voice.dnsmos or 0.0) >= wanted.least_dnsmos)
    ]
    if not found:
        raise RecipeError(
            f"engine {speaker.engine!r} has no such voice among its {len(voices)}; ask for less"
        )
    return found


def _known(what: str, value: str, known: Iterable[str]) -> None:
    if value and value not in set(known):
        raise RecipeError(f"--{what} {value}: {unknown(what, value, tuple(known))}")


def _in_set(voice: Voice, wanted: Wanted, sets: dict[str, dict[str, tuple[str, ...]]]) -> bool:
    languages = [wanted.language] if wanted.language else list(sets)
    return any(voice.id in sets.get(language, {}).get(wanted.voice_set, ()) for language in languages)


def sets_of(voice: Voice, speaker: Speaker) -> list[str]:
    """Return the sets a voice is in, as ``language:set``."""
    return [
        f"{language}:{name}"
        for language, named in speaker.voice_sets().items()
        for name, ids in named.items()
        if voice.id in ids
    ]


def as_json(voices: Sequence[Voice], speaker: Speaker) -> list[dict[str, Any]]:
    """Return one object for each voice."""
    return [
        {
            **asdict(voice),
            "mix": [{"style": style, "weight": weight} for style, weight in voice.mix],
            "speech_licence": speaker.licence,
            "sets": sets_of(voice, speaker),
        }
        for voice in voices
    ]


def as_table(voices: Sequence[Voice], speaker: Speaker) -> Table:
    """Return the voices for reading."""
    table = Table(title=f"{len(voices)} voices of {speaker.engine}")
    for column in ("voice", "languages", "gender", "age", "accent", "DNSMOS", "licence", "sets"):
        table.add_column(column)
    for voice in voices:
        table.add_row(
            voice.id,
            ", ".join(voice.languages),
            voice.gender,
            voice.age,
            voice.accent,
            "not measured" if voice.dnsmos is None else f"{voice.dnsmos:.2f}",
            voice.licence,
            ", ".join(sets_of(voice, speaker)),
        )
    return table


def engine_lines(engine: Engine) -> list[str]:
    """Return what is known of an engine, for reading."""
    sounds = f", other sounds: {', '.join(engine.sounds)}" if engine.sounds else ""
    times = {"engine": "its own", "aligner": "an aligner's (docs/engines.md)"}[engine.times]
    pauses = {
        "punctuation": "asked for by punctuation",
        "token": "asked for by a token",
        "none": "as recorded",
    }[engine.pauses]
    own = {"user": "as the recipe states"}
    return [
        f"{engine.name}: languages {', '.join(engine.languages) or 'those of its voices'}; {engine.install}",
        f"licences: code {own.get(engine.code_licence, engine.code_licence)}, "
        f"speech {own.get(engine.weights_licence, engine.weights_licence)}",
        f"pauses: {pauses}{sounds}; word times: {times}; "
        f"{'draws by a seed' if engine.uses_seed else 'takes no seed'}",
    ]


def play(
    voice: Voice, speaker: Speaker, path: Path, *, language: str, text: str, overwrite: bool = False
) -> str:
    """Write a WAV file in which the voice says the text, or its language's sentence; return what it says.

    Raises
    ------
    RecipeError
        If there is no sentence for the language, or the file is none to write: before anything is spoken.
    SpeechError
        If the voice cannot say it.
    """
    refuse_unplayable(path, overwrite=overwrite)
    language = language or voice.languages[0]
    said = text or SENTENCES.get(language.split("-")[0], "")
    if not said:
        raise RecipeError(f"--play: there is no sentence in {language!r} here; give one with --text")
    clip = speaker.speak(SpeechRequest(text=said, language=language, voice=voice))
    try:
        put_bytes(path, wav_bytes(clip.samples, sample_rate_hz=clip.sample_rate_hz))
    except OSError as error:
        raise RecipeError(f"--play {path}: cannot be written: {reason_of(error)}") from None
    return said


def refuse_unplayable(path: Path, *, overwrite: bool = False) -> None:
    """Refuse a name that is no WAV file's, or that is taken; even with `overwrite` by what is no WAV file.

    Raises
    ------
    RecipeError
        If so, or if its folder is not there.
    """
    if path.suffix.lower() != ".wav":
        raise RecipeError(f"--play {path}: wanted the name of a WAV file to write, such as voice.wav")
    if not path.parent.is_dir():
        raise RecipeError(f"--play {path}: cannot be written: there is no folder {path.parent}")
    if not (path.exists() or path.is_symlink()):
        return
    if not overwrite:
        raise RecipeError(f"--play {path}: it exists; give another name, or --overwrite")
    if not _holds_wav(path):
        raise RecipeError(f"--play {path}: it exists and is no WAV file, so it is left; give another name")


def _holds_wav(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return is_wav(file)
    except OSError:
        return False
