"""What a build said, kept beside its stems: every utterance whole, so that a variant need not speak it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import InputError, ReleaseError
from ..acoustics.level import to_pcm16
from ..scenarios.conversation import Cast, Pause, PlannedTurn, Role, Shape, Voice, Word
from ..scenarios.reason import reason_of
from ..whole_file import put_text
from .json_file import Form, parse_line
from .sample import Utterance
from .speakers import Speaker, varies_by_seed
from .stems import read_stem

FOLDER = "stems"
SAID = f"{FOLDER}/said.jsonl"

_CURE = "build the folder again"

_SPAN: Form = {"start": int, "stop": int}
_LINE: Form = {
    "id": str,
    "split": str,
    "tries": [int],
    "cast": {"*": str},
    "clips": [str],
    "turns": [
        {
            "key": str,
            "stem": str,
            "sample_rate_hz": int,
            "text": str,
            "reading": str,
            "word_time_source": str,
            "threshold_dbfs": float,
            "shape": {
                "n_samples": int,
                "onset": int,
                "offset": int,
                "words": [{"text": str, **_SPAN}],
                "pauses": [{**_SPAN, "kind": str, "intended_s": float}],
                "places": [[object]],
            },
            "provenance": {"*": object},
        }
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The finished build that a variant starts from.

    `digest` is that of what it said. `same_ids`: nothing else than its samples is built. `same_speech`: its
    voices speak, and what it said is taken from its stems. `other_voices`: no voice plays the role that it
    played there. `variant_of` is what the manifest of the variant says of it: name, version and recipe digest
    of the build, what was asked, and each key that changed with its old and new value.
    """

    folder: Path
    digest: str
    same_ids: bool
    same_speech: bool
    other_voices: bool
    variant_of: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said in one sample, as a line of ``said.jsonl``.

    `tries` says how often each turn was spoken before, `turns` holds the utterances without their samples,
    each under its key, and `clips` all clips of the cache that were listened to, as ``engine/key``.
    """

    id: str
    split: str
    tries: tuple[int, ...]
    cast: Mapping[str, str]
    turns: tuple[Mapping[str, Any], ...]
    clips: tuple[str, ...]

    @property
    def voices(self) -> Cast:
        """Return who played which role."""
        return Cast(voices={Role(role): voice for role, voice in self.cast.items()})


def utterance_key(
    turn: PlannedTurn, *, language: str, voice: Voice, speaker: Speaker, seed: int, sample_rate_hz: int
) -> str:
    """Return the SHA-256 of all that decides an utterance, except the version of our own code."""
    asked = {
        "text": turn.text,
        "language": language,
        "voice": [*voice.sounds_by.values()],
        "speed": turn.speed,
        "pauses": [[pause.kind, pause.length_s] for pause in turn.pauses],
        "max_hush_s": turn.max_hush_s,
        "length_s": turn.length_s,
        "seed": seed if varies_by_seed(speaker) else None,
        "engine": [speaker.engine, speaker.version],
        "sample_rate_hz": sample_rate_hz,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def to_json(utterance: Utterance, key: str) -> dict[str, Any]:
    """Return an utterance without its samples."""
    return {
        "key": key,
        "stem": utterance.sha256,
        "sample_rate_hz": utterance.sample_rate_hz,
        "text": utterance.text,
        "reading": utterance.reading,
        "word_time_source": utterance.word_time_source,
        "threshold_dbfs": utterance.threshold_dbfs,
        "shape": asdict(utterance.shape),
        "provenance": dict(utterance.provenance),
    }


def from_json(line: Mapping[str, Any], folder: Path) -> Utterance:
    """Return the utterance again, its samples from the stems of `folder`.

    Raises
    ------
    ReleaseError
        If the stem is missing or damaged.
    """
    shape = line["shape"]
    return Utterance(
        pcm=to_pcm16(read_stem(folder, line["stem"])),
        sample_rate_hz=line["sample_rate_hz"],
        shape=Shape(
            n_samples=shape["n_samples"],
            onset=shape["onset"],
            offset=shape["offset"],
            words=tuple(Word(**word) for word in shape["words"]),
            pauses=tuple(Pause(**pause) for pause in shape["pauses"]),
            places=tuple((at, function) for at, function in shape["places"]),
        ),
        text=line["text"],
        reading=line["reading"],
        word_time_source=line["word_time_source"],
        threshold_dbfs=line["threshold_dbfs"],
        sha256=line["stem"],
        provenance=line["provenance"],
    )


def write_said(path: Path, said: Said) -> None:
    """Write the record of one sample to a file of its own, whole or not at all."""
    put_text(path, json.dumps(asdict(said), ensure_ascii=False))


def gather_said(folder: Path, records: Iterable[tuple[Path, str]]) -> None:
    """Write ``said.jsonl`` of a build folder from the records of its samples and the splits they went to."""
    (folder / FOLDER).mkdir(exist_ok=True)
    with (folder / SAID).open("w", encoding="utf-8") as file:
        for path, split in records:
            record = {**json.loads(path.read_text(encoding="utf-8")), "split": split}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def said_of(folder: Path, sample_id: str) -> Said | None:
    """Return what was said in a sample of a build folder; None if it has no such sample."""
    place = _places(folder).get(sample_id)
    if place is None:
        return None
    with (folder / SAID).open("rb") as file:
        file.seek(place)
        return _said(file.readline(), f"{folder / SAID}, {sample_id}")


def ids_of(folder: Path) -> tuple[str, ...]:
    """Return the ids of a build's samples, in order."""
    return tuple(_places(folder))


def all_said(folder: Path) -> Iterator[Said]:
    """Yield what was said, sample by sample.

    Raises
    ------
    ReleaseError
        If the folder does not say it.
    """
    path = folder / SAID
    if not path.exists():
        raise InputError(
            f"{folder}: there is no {SAID}: no finished build of duplexkit, or one whose stems were taken away; "
            f"build it again"
        )
    for number, line in enumerate(_lines(path), 1):
        yield _said(line, f"{path} line {number}")


def _places(folder: Path) -> dict[str, int]:
    """Return where each sample's line starts, in bytes."""
    path = folder / SAID
    facts = path.stat()
    return _index(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=8)
def _index(path: Path, written_ns: int, n_bytes: int) -> dict[str, int]:
    found: dict[str, int] = {}
    at = 0
    for number, line in enumerate(_lines(path), 1):
        found[_said(line, f"{path} line {number}").id] = at
        at += len(line)
    return found


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise ReleaseError(f"{path}: cannot be read ({reason_of(error)}); {_CURE}") from None


def _said(line: bytes, where: str) -> Said:
    data = parse_line(line, _LINE, where=where, cure=_CURE)
    return Said(
        id=data["id"],
        split=data["split"],
        tries=tuple(data["tries"]),
        cast=data["cast"],
        turns=tuple(data["turns"]),
        clips=tuple(data["clips"]),
    )
