"""Files of dialogues to M3's events: two-channel recordings, M3's JSON lines, word files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .. import AudioError, RecipeError
from ..scenarios.events import M3Event, label
from ..scenarios.m3_json import read_m3_lines
from ..scenarios.word_file import read_words, word_times
from .activity_events import activity_times
from .corpora.audio_file import read_two_channels

AUDIO_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus")

Events = dict[str, tuple[M3Event, ...]]


def dialogues(paths: list[Path]) -> Iterator[tuple[str, Events]]:
    """Yield id and events of every dialogue in the files.

    ``.jsonl`` files hold M3's events, ``.txt`` and ``.tsv`` files words; recordings are labelled from activity.

    Raises
    ------
    RecipeError
        For a file of another kind.
    ScriptError, AudioError
        For a file that does not hold what its kind asks for; names file and line.
    """
    for path in paths:
        suffix = path.suffix.lower()
        if suffix == ".jsonl":
            yield from read_m3_lines(path).items()
        elif suffix in (".txt", ".tsv"):
            yield path.stem, label(word_times(read_words(path)))
        elif suffix in AUDIO_SUFFIXES:
            yield path.stem, audio_events(path)
        else:
            raise RecipeError(
                f"{path}: unknown kind of file; wanted a two-channel recording ({', '.join(AUDIO_SUFFIXES)}), "
                f"words (.txt, .tsv) or M3's events (.jsonl)"
            )


def audio_events(path: Path) -> Events:
    """Return the events of a two-channel recording, by who is heard when."""
    channels, sample_rate_hz = read_two_channels(path)
    try:
        return label(activity_times(channels, sample_rate_hz=sample_rate_hz))
    except AudioError as error:
        raise AudioError(f"{path}: {error}") from None
