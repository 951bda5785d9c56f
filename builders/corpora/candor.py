"""CANDOR's layout: a folder per conversation, turns in CSV files, both speakers on one two-channel recording."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from ... import RecipeError, ScriptError
from ...scenarios.text_file import parse_json, read_text, shown
from .audio_file import read_two_channels
from .conversation import ChannelFile, Conversation, Spoken, channel_of_speakers

COLUMNS = {"speaker": "speaker", "start": "start", "stop": "stop", "utterance": "utterance"}
"""Our name of a column -> the file's; a copy with other names gives its own mapping."""

_TOKEN = ("backchannel", "backchannel_speaker", "backchannel_start", "backchannel_stop")
_AUDIO = (".wav", ".flac", ".mp3")


def read_candor(
    folder: Path,
    *,
    transcript: str = "backbiter",
    columns: Mapping[str, str] = COLUMNS,
    speakers: tuple[str, str] | None = None,
) -> Iterator[Conversation]:
    """Yield the conversations of a CANDOR folder, or of one conversation's folder.

    The recording is looked for in ``processed/`` or beside it; the channels are named by
    ``processed/channel_map.json``, by ``metadata.json``, or else found by the sound.

    Parameters
    ----------
    folder
    transcript
        Which ``transcription/transcript_*.csv``: ``backbiter`` (with tokens apart), ``cliffhanger`` or
        ``audiophile``.
    columns
        Names of the columns, where a copy has others.
    speakers
        Names of the speakers on channels 0 and 1.

    Raises
    ------
    RecipeError
        If there is no transcript of that name below the folder.
    ScriptError, AudioError
        If a file is not as it should be; names file and line.
    """
    name = f"transcription/transcript_{transcript}.csv"
    paths = sorted(folder.glob(name)) or sorted(folder.glob(f"*/{name}"))
    if not paths:
        raise RecipeError(f"{folder}: no */{name} here; is this CANDOR's layout? --transcript names another")
    for path in paths:
        home = path.parent.parent
        rows = _rows(path, columns)
        audio = _recording(home)
        by_channel = _channels(home, audio, rows, path, speakers)
        for _, speaker, *_, where in rows:
            if speaker not in by_channel:
                raise ScriptError(
                    f"{where}: speaker {speaker!r} is on no channel; known: {', '.join(by_channel)}"
                )
        ordered = sorted(by_channel, key=lambda name: by_channel[name])
        yield Conversation(
            id=home.name,
            corpus="CANDOR",
            speakers=(ordered[0], ordered[1]),
            channels=(ChannelFile(path=audio, channel=0), ChannelFile(path=audio, channel=1)),
            spoken=tuple(
                sorted(
                    (
                        Spoken(
                            channel=by_channel[speaker],
                            onset_s=onset_s,
                            offset_s=offset_s,
                            text=text,
                            is_token=is_token,
                            where=where,
                        )
                        for is_token, speaker, onset_s, offset_s, text, where in rows
                    ),
                    key=lambda said: (said.onset_s, said.channel),
                )
            ),
        )


_Row = tuple[bool, str, float, float, str, str]


def _rows(path: Path, columns: Mapping[str, str]) -> list[_Row]:
    """Return (is a token, speaker, onset, offset, text, where) of every turn, and of tokens that stand apart."""
    for key in columns:
        if key not in COLUMNS:
            raise RecipeError(f"columns: {key!r} is unknown; known: {', '.join(COLUMNS)}")
    named = {**COLUMNS, **columns}
    with io.StringIO(read_text(path, encoding="utf-8-sig")) as file:
        reader = csv.DictReader(file)
        missing = [name for name in named.values() if name not in (reader.fieldnames or ())]
        if missing:
            raise ScriptError(
                f"{path} line 1: no column {', '.join(missing)}; it has "
                f"{', '.join(reader.fieldnames or ('none',))}. Give the names with --columns"
            )
        rows: list[_Row] = []
        for row in reader:
            where = f"{path} line {reader.line_num}"
            onset_s = _seconds(row[named["start"]], named["start"], where)
            offset_s = _seconds(row[named["stop"]], named["stop"], where)
            if offset_s <= onset_s:
                raise ScriptError(
                    f"{where}: {named['stop']} = {offset_s:g} is not after {named['start']} = {onset_s:g}"
                )
            text = (row[named["utterance"]] or "").strip()
            rows.append((False, (row[named["speaker"]] or "").strip(), onset_s, offset_s, text, where))
            rows += _token(row, where)
    if not rows:
        raise ScriptError(f"{path} line 2: no turns; wanted at least one row")
    return rows


def _token(row: Mapping[str, str | None], where: str) -> list[_Row]:
    if any(not (row.get(name) or "").strip() for name in _TOKEN):
        return []
    onset_s, offset_s = (_seconds(row[name], name, where) for name in _TOKEN[2:])
    if offset_s <= onset_s:
        return []
    return [
        (True, str(row["backchannel_speaker"]).strip(), onset_s, offset_s, str(row["backchannel"]), where)
    ]


def _seconds(value: str | None, name: str, where: str) -> float:
    try:
        seconds = float(value or "")
    except ValueError:
        raise ScriptError(f"{where}: {name} = {value!r}; wanted a time in seconds") from None
    if not 0 <= seconds < float("inf"):
        raise ScriptError(f"{where}: {name} = {value}; wanted a time of 0 s or more")
    return seconds


def _recording(home: Path) -> Path:
    folders = [home / "processed", home]
    found = [p for folder in folders for suffix in _AUDIO for p in sorted(folder.glob(f"*{suffix}"))]
    if not found:
        raise ScriptError(f"{home}: no recording ({', '.join(_AUDIO)}) in it or in processed/")
    own = [path for path in found if path.stem == home.name]
    if len(found) > 1 and not own:
        raise ScriptError(
            f"{home}: {len(found)} recordings ({', '.join(p.name for p in found)}) and none is named "
            f"{home.name}; wanted one with both speakers"
        )
    return (own or found)[0]


def _channels(
    home: Path, audio: Path, rows: list[_Row], path: Path, speakers: tuple[str, str] | None
) -> dict[str, int]:
    if speakers is not None:
        return {speakers[0]: 0, speakers[1]: 1}
    for name in ("processed/channel_map.json", "metadata.json"):
        if (home / name).is_file():
            data = parse_json(read_text(home / name), str(home / name))
            try:
                sides = (
                    data
                    if name.endswith("map.json")
                    else {s["channel"]: s["user_id"] for s in data["speakers"]}
                )
                return {str(sides["L"]): 0, str(sides["R"]): 1}
            except (KeyError, TypeError):
                raise ScriptError(
                    f"{home / name}: does not say who is on channels L and R: {shown(data)}"
                ) from None
    spans: dict[str, list[tuple[float, float]]] = {}
    for is_token, speaker, onset_s, offset_s, _, _ in rows:
        if not is_token:
            spans.setdefault(speaker, []).append((onset_s, offset_s))
    channels, sample_rate_hz = read_two_channels(audio)
    return channel_of_speakers(channels, sample_rate_hz, spans, where=str(path))
