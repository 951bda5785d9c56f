"""A plain folder: two-channel recordings, and word files of the same name where there are any."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ... import RecipeError
from ...scenarios.word_file import read_words
from .conversation import ChannelFile, Conversation, Spoken

SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus")
JOIN_S = 0.5
"""Words of one speaker that are closer make one utterance."""


def read_plain(
    folder: Path, *, pattern: str = "**/*", speakers: tuple[str, str] | None = None
) -> Iterator[Conversation]:
    """Yield the conversations of a folder: ``x.wav`` with ``x.txt`` beside it or in a folder ``txt_align``.

    Parameters
    ----------
    folder
    pattern
        Which files below `folder` (a glob); of those, audio files are taken.
    speakers
        Names of the speakers on channels 0 and 1.

    Raises
    ------
    RecipeError
        If there is no recording.
    ScriptError
        If a word file is malformed; names file and line.
    """
    paths = sorted(path for path in folder.glob(pattern) if path.suffix.lower() in SUFFIXES)
    if not paths:
        raise RecipeError(f"{folder}: no recording ({', '.join(SUFFIXES)}) fits the pattern {pattern!r}")
    for path in paths:
        words = _word_file(path)
        yield Conversation(
            id=path.stem,
            corpus="plain",
            speakers=speakers or ("0", "1"),
            channels=(ChannelFile(path=path, channel=0), ChannelFile(path=path, channel=1)),
            spoken=() if words is None else utterances_of_words(words),
        )


def _word_file(path: Path) -> Path | None:
    places = (path.with_suffix(".txt"), path.parent.parent / "txt_align" / f"{path.stem}.txt")
    return next((place for place in places if place.is_file()), None)


def utterances_of_words(path: Path) -> tuple[Spoken, ...]:
    """Return the utterances of a word file: words of one speaker that are at most 0.5 s apart."""
    spoken: list[Spoken] = []
    for channel, words in read_words(path).items():
        start = 0
        for i in range(1, len(words) + 1):
            if i < len(words) and words[i].onset_s - words[i - 1].offset_s <= JOIN_S:
                continue
            group = words[start:i]
            latin = all(word.text.isascii() for word in group)
            spoken.append(
                Spoken(
                    channel=int(channel),
                    onset_s=group[0].onset_s,
                    offset_s=max(word.offset_s for word in group),
                    text=(" " if latin else "").join(word.text for word in group),
                    words=group,
                    where=f"{path} line {max(word.line for word in group)}",
                )
            )
            start = i
    return tuple(sorted(spoken, key=lambda said: (said.onset_s, said.channel)))
