"""MagicData's layout: lines ``[start,end]<TAB>speaker<TAB>gender,…<TAB>text``, and one or two recordings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ... import RecipeError, ScriptError
from ...acoustics.sound_file import sound_facts
from ...scenarios.text_file import numbered_lines, read_text
from .audio_file import read_channels
from .conversation import ChannelFile, Conversation, Spoken, channel_of_speakers

PER_SPEAKER = r"(?P<conversation>.+)_(?P<speaker>[^_]+)"
"""How a file of one speaker is named; a stem that does not fit, or is alone, holds the whole conversation."""

NOBODY = ("0", "")
"""Speaker names of lines that hold noise."""

_LINE = re.compile(
    r"\[\s*(?P<start>[^,\]]*),(?P<end>[^\]]*)\]\s+(?P<speaker>\S+)\s+(?P<about>\S+)\s*(?P<text>.*)"
)
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>|\{[^}]*\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    speaker: str
    onset_s: float
    offset_s: float
    text: str
    where: str


def read_magicdata(
    folder: Path,
    *,
    pattern: str = "**/*.txt",
    per_speaker: str = PER_SPEAKER,
    speakers: tuple[str, str] | None = None,
) -> Iterator[Conversation]:
    """Yield the conversations of a folder of transcripts and recordings of the same names.

    A conversation is one transcript with a two-channel recording, or two transcripts with a mono recording
    each. Recordings lie beside the transcripts, or in ``WAV/`` beside ``TXT/``. Tags such as ``[LAUGHTER]``
    are no text; what holds nothing else is no speech.

    Parameters
    ----------
    folder
    pattern
        Which files below `folder` are transcripts (a glob).
    per_speaker
        How the files of one speaker are named, a pattern with the groups ``conversation`` and ``speaker``.
    speakers
        Names of the speakers on channels 0 and 1, for two-channel recordings.

    Raises
    ------
    RecipeError
        If there is no transcript, or the patterns are wrong.
    ScriptError, AudioError
        If a file is not as it should be; names file and line.
    """
    try:
        name = re.compile(per_speaker)
    except re.error as error:
        raise RecipeError(f"per_speaker = {per_speaker!r}: no regular expression ({error})") from None
    if set(name.groupindex) != {"conversation", "speaker"}:
        raise RecipeError(f"per_speaker = {per_speaker!r}: wanted the groups 'conversation' and 'speaker'")
    paths = [path for path in sorted(folder.glob(pattern)) if _is_transcript(path)]
    if not paths:
        raise RecipeError(f"{folder}: no transcript with lines '[start,end]<TAB>speaker…' fits {pattern!r}")
    groups: dict[str, list[Path]] = {}
    for path in paths:
        match = name.fullmatch(path.stem)
        groups.setdefault(match.group("conversation") if match else path.stem, []).append(path)
    for conversation, members in groups.items():
        if len(members) == 2 and all(_is_mono(_recording(path)) for path in members):
            yield _two_files(conversation, members)
        else:
            for path in members:
                yield _one_file(path, speakers)


def _is_transcript(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.readline().lstrip().startswith("[")
    except UnicodeDecodeError:
        return False


def _is_mono(path: Path) -> bool:
    return sound_facts(path).n_channels == 1


def _lines(path: Path) -> list[_Line]:
    lines = []
    for number, line in numbered_lines(read_text(path, encoding="utf-8-sig")):
        where = f"{path} line {number}"
        match = _LINE.fullmatch(line.strip())
        if not match:
            raise ScriptError(
                f"{where}: {line!r}; wanted '[start,end]<TAB>speaker<TAB>gender,…<TAB>text', times in seconds"
            )
        try:
            onset_s, offset_s = float(match["start"]), float(match["end"])
        except ValueError:
            raise ScriptError(
                f"{where}: [{match['start']},{match['end']}]; wanted two times in seconds"
            ) from None
        if not 0 <= onset_s < offset_s:
            raise ScriptError(f"{where}: [{onset_s:g},{offset_s:g}]: the end is not after the start")
        text = " ".join(_TAG.sub(" ", match["text"]).split())
        if text and match["speaker"] not in NOBODY:
            lines.append(
                _Line(speaker=match["speaker"], onset_s=onset_s, offset_s=offset_s, text=text, where=where)
            )
    if not lines:
        raise ScriptError(f"{path} line 1: nothing is spoken in it; wanted at least one line with text")
    return lines


def _recording(path: Path) -> Path:
    folders = [path.parent, path.parent.parent / "WAV", path.parent.parent / "wav", path.parent.parent]
    for folder in folders:
        for suffix in (".wav", ".flac"):
            if (folder / f"{path.stem}{suffix}").is_file():
                return folder / f"{path.stem}{suffix}"
    raise ScriptError(f"{path}: no recording {path.stem}.wav beside it or in WAV/")


def _two_files(conversation: str, paths: list[Path]) -> Conversation:
    spoken, names = [], []
    for channel, path in enumerate(paths):
        lines = _lines(path)
        speakers = {line.speaker for line in lines}
        if len(speakers) != 1:
            raise ScriptError(
                f"{path}: {len(speakers)} speakers ({', '.join(sorted(speakers))}) in the file of one speaker"
            )
        names.append(speakers.pop())
        spoken += [_spoken(line, channel) for line in lines]
    first, second = (ChannelFile(path=_recording(path), channel=0) for path in paths)
    return _conversation(conversation, (names[0], names[1]), (first, second), spoken)


def _one_file(path: Path, speakers: tuple[str, str] | None) -> Conversation:
    lines, audio = _lines(path), _recording(path)
    if speakers is None:
        spans: dict[str, list[tuple[float, float]]] = {}
        for line in lines:
            spans.setdefault(line.speaker, []).append((line.onset_s, line.offset_s))
        channels, sample_rate_hz = read_channels(audio)
        if channels.shape[0] != 2:
            raise ScriptError(
                f"{path}: its recording {audio.name} has {channels.shape[0]} channel(s); wanted two, one "
                f"speaker in each, or one transcript and recording per speaker (named {PER_SPEAKER})"
            )
        by_channel = channel_of_speakers(channels, sample_rate_hz, spans, where=str(path))
    else:
        by_channel = {speakers[0]: 0, speakers[1]: 1}
    for line in lines:
        if line.speaker not in by_channel:
            raise ScriptError(f"{line.where}: speaker {line.speaker!r}; known: {', '.join(by_channel)}")
    names = sorted(by_channel, key=lambda name: by_channel[name])
    return _conversation(
        path.stem,
        (names[0], names[1]),
        (ChannelFile(path=audio, channel=0), ChannelFile(path=audio, channel=1)),
        [_spoken(line, by_channel[line.speaker]) for line in lines],
    )


def _spoken(line: _Line, channel: int) -> Spoken:
    return Spoken(
        channel=channel, onset_s=line.onset_s, offset_s=line.offset_s, text=line.text, where=line.where
    )


def _conversation(
    name: str, speakers: tuple[str, str], channels: tuple[ChannelFile, ChannelFile], spoken: list[Spoken]
) -> Conversation:
    return Conversation(
        id=name,
        corpus="MagicData",
        speakers=speakers,
        channels=channels,
        spoken=tuple(sorted(spoken, key=lambda said: (said.onset_s, said.channel))),
    )
