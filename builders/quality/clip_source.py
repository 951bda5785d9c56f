"""A folder to what can be measured in it: samples of a built dataset, of an imported set, or audio files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import AudioError, ReleaseError
from ...acoustics.sound_file import read_sound, sound_facts
from ..built import MANIFEST, open_built
from ..json_file import misfit, read_json, read_text
from ..parquet_file import opened
from .measure import SpokenClip

AUDIO = (".wav", ".flac", ".ogg", ".mp3")
_MODEL_SIDE = ("output", "clean_output")
_HEARD = ("input", "clean_input")
_LABELS = {
    "metadata.json": ("context_text", "current_turn_text", "timestamps"),
    "interrupt.json": ("context", "interrupt", "timestamp"),
}
"""Full-Duplex-Bench's files of what is said in `_HEARD`: keys of the context, of the turn, and of its span."""
_ROUNDED_S = 0.02
"""How far a labelled end may lie behind the file's: labels are rounded."""
_CURE = "duplexkit export --check says more"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPlace:
    """Where a clip lies: a file (its channel and span), a stem by its hash, or a cell of a Parquet row.

    `lost_stem`: the row names a stem that is not there, so the turn is cut from the track, as it is heard.
    """

    path: str
    stem: str = ""
    column: str = ""
    row: int = 0
    channel: int = 0
    start_s: float = 0.0
    stop_s: float | None = None
    text: str = ""
    speaker: str = ""
    relation: str = ""
    lost_stem: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredItem:
    """One sample of a folder: its utterances and its tracks, not yet read."""

    id: str
    config: str
    split: str
    language: str
    clips: tuple[ClipPlace, ...]
    tracks: tuple[ClipPlace, ...]


def items_of(folder: Path, language: str = "") -> list[MeasuredItem]:
    """Return the samples of a folder, in the order of their names.

    A built folder (``manifest.json``) gives each turn as it was placed: from its stems, or cut from the tracks
    where these are missing. Any other folder gives its audio files: with `input.wav` and Full-Duplex-Bench's
    JSON files beside it the texts and spans of these, with M3's two channels each channel by itself, else the
    whole file with the text of a ``.txt`` of the same name.

    Raises
    ------
    ReleaseError
        If there is nothing to measure, or the language is needed and not given.
    """
    if (folder / MANIFEST).exists():
        items = list(_built(folder))
    else:
        paths = sorted(p for p in folder.rglob("*") if _is_measured(p))
        items = [_file(folder, path, language or _language_of(path, folder)) for path in paths]
    if not items:
        raise ReleaseError(
            f"{folder}: nothing to measure; wanted a built folder, or audio ({', '.join(AUDIO)})"
        )
    return items


def _is_measured(path: Path) -> bool:
    """Return whether a file is audio of a user: no model's answer, no hidden file, no part of a sample beside it."""
    if path.suffix.lower() not in AUDIO or path.name.startswith(".") or path.stem in _MODEL_SIDE:
        return False
    is_part = path.stem in ("context", "interrupt") and path.with_name("interrupt.json").is_file()
    return not (is_part and path.with_name("input.wav").is_file())


def _built(folder: Path) -> Iterator[MeasuredItem]:
    columns = ["id", "split", "language", "duration_s", "turns", "provenance"]
    for shard in open_built(folder).shards:
        path = shard.path
        with opened(path) as file:
            rows = file.read(columns=columns).to_pylist()
            paths = file.read(columns=["input.path", "system.path"])
        silent = {name: paths[name].is_null().to_pylist() for name in ("input", "system")}
        for index, row in enumerate(rows):
            tracks = tuple(name for name in silent if not silent[name][index])
            made = row["provenance"]["turns"] or [None] * len(row["turns"])  # recordings have no stems
            yield MeasuredItem(
                id=row["id"],
                config=shard.config,
                split=row["split"],
                language=row["language"],
                clips=tuple(
                    _turn(folder, path, index, turn, stem)
                    for turn, stem in zip(row["turns"], made, strict=True)
                    if _track_of(turn) in tracks
                ),
                tracks=tuple(
                    ClipPlace(path=str(path), column=track, row=index, relation=track) for track in tracks
                ),
            )


def _track_of(turn: Mapping[str, Any]) -> str:
    return "system" if turn["role"] == "system" else "input"


def _turn(
    folder: Path, shard: Path, index: int, turn: Mapping[str, Any], made: Mapping[str, Any] | None
) -> ClipPlace:
    stem = "" if made is None else made["stem"]
    has_stem = bool(stem) and (folder / "stems" / stem[:2] / f"{stem}.flac").is_file()
    return ClipPlace(
        path=str(folder if has_stem else shard),
        stem=stem if has_stem else "",
        column="" if has_stem else _track_of(turn),
        row=index,
        start_s=0.0 if has_stem else turn["onset_s"],
        stop_s=None if has_stem else turn["offset_s"],
        text=(turn["reading"] or turn["text"]) if has_stem else turn["spoken_text"],
        speaker=turn["speaker"],
        relation=turn["role"],
        lost_stem=bool(stem) and not has_stem,
    )


def _language_of(path: Path, folder: Path) -> str:
    """Return the language that a folder on the way names, as M3 does (``data/ja/…``)."""
    named = [part for part in path.relative_to(folder.parent).parts if part in ("en", "ja", "zh")]
    if not named:
        raise ReleaseError(f"{path}: nothing says which language it is; give --language, for example en")
    return named[-1]


def _file(folder: Path, path: Path, language: str) -> MeasuredItem:
    name = path.relative_to(folder).as_posix()
    n_channels = sound_facts(path).n_channels
    tracks = tuple(
        ClipPlace(path=str(path), channel=k, relation="user" if k == 0 else "system")
        for k in range(n_channels)
    )
    clips = tuple(_spans(path)) if n_channels == 1 else tracks
    return MeasuredItem(
        id=name,
        config=path.relative_to(folder).parts[0] if "/" in name else folder.name,
        split="all",
        language=language,
        clips=clips,
        tracks=tracks,
    )


def _spans(path: Path) -> Iterator[ClipPlace]:
    """Yield what is said in a file, and when: by Full-Duplex-Bench's JSON, else by a text beside it."""
    is_heard = path.stem in _HEARD
    labels = next(
        (path.with_name(name) for name in _LABELS if is_heard and path.with_name(name).is_file()), None
    )
    if labels is not None:
        yield from _labelled(path, labels)
        return
    words, said = path.with_name("transcription.json"), path.with_suffix(".txt")
    text = ""
    if is_heard and words.is_file():
        text = _text_of(words)
    elif said.is_file():
        text = read_text(said, cure="save it as UTF-8, or take it away").strip()
    yield ClipPlace(path=str(path), text=text, relation="user")


def _labelled(path: Path, labels: Path) -> Iterator[ClipPlace]:
    """Yield the context and the labelled turn of a sample; of its clean version, which lacks the turn, the context."""
    context, turn, key = _LABELS[labels.name]
    entry = read_json(labels, object, cure=_CURE)
    if isinstance(entry, list) and entry:
        entry = entry[0]
    wrong = misfit(entry, {f"{context}?": str, f"{turn}?": str, key: [float]})
    if wrong:
        raise ReleaseError(f"{labels}: {wrong}; {_CURE}")
    length_s, span = sound_facts(path).length_s, entry[key]
    if len(span) != 2 or not 0 <= span[0] < span[1] <= length_s + _ROUNDED_S:
        raise ReleaseError(
            f"{labels}: {key} is {span}; wanted [start, end] in seconds within the {length_s:.2f} s of {path.name}; "
            f"{_CURE}"
        )
    start_s, stop_s = map(float, span)
    if start_s > 0:
        yield ClipPlace(path=str(path), stop_s=start_s, text=entry.get(context, ""), relation="user")
    if path.stem == "input":
        yield ClipPlace(
            path=str(path), start_s=start_s, stop_s=stop_s, text=entry.get(turn, ""), relation="user"
        )


def _text_of(words: Path) -> str:
    """Return the text of a transcript: its words in their order, or those of its only speaker."""
    content = read_json(words, object, cure=_CURE)
    if isinstance(content, list) and content and isinstance(content[0], dict) and "item" in content[0]:
        content = content[0]["item"]
    wrong = misfit(content, [{"text": str}])
    if wrong:
        raise ReleaseError(f"{words}: {wrong}; {_CURE}")
    return " ".join(word["text"].strip() for word in content)


def read_clip(place: ClipPlace, language: str) -> SpokenClip:
    """Return the clip that lies at a place."""
    from ..stems import read_stem

    if place.stem:
        samples, rate = read_stem(Path(place.path), place.stem), _stem_rate(place.path, place.stem)
    elif place.column:
        samples, rate = _cell(place.path, place.row, place.column)
    else:
        samples, rate = _audio(place.path, place.channel)
    start = round(place.start_s * rate)
    stop = samples.size if place.stop_s is None else round(place.stop_s * rate)
    return SpokenClip(
        samples=samples[start:stop],
        sample_rate_hz=rate,
        text=place.text,
        language=language,
        speaker=place.speaker,
        relation=place.relation,
    )


def _stem_rate(folder: str, stem: str) -> int:
    from ..stems import stem_path

    return sound_facts(stem_path(Path(folder), stem)).sample_rate_hz


@lru_cache(maxsize=2)
def _audio(path: str, channel: int) -> tuple[NDArray[np.float32], int]:
    channels, rate = read_sound(Path(path))
    peak = float(np.abs(channels[channel]).max(initial=0.0))
    if peak > 1.0:
        raise AudioError(f"{path}: its loudest sample is {peak:.4g}; wanted 1 at most: scale the file")
    return channels[channel], rate


@lru_cache(maxsize=2)
def _cell(path: str, row: int, column: str) -> tuple[NDArray[np.float32], int]:
    with opened(Path(path)) as file:
        at = row
        for group in range(file.num_row_groups):
            n = file.metadata.row_group(group).num_rows
            if at < n:
                cell = file.read_row_group(group, columns=[column])[column][at].as_py()
                channels, rate = read_sound(cell["bytes"], name=f"{path}, row {row}, {column}")
                return channels[0], rate
            at -= n
    raise ReleaseError(f"{path}: there is no row {row}; build the folder again")
