"""A data set of M3-DuplexBench to rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import DuplexkitError, ReleaseError, ScriptError
from ...scenarios.events import M3Event, centiseconds
from ...scenarios.m3_json import read_m3_lines
from ...scenarios.word_file import TimedWord, read_words
from ..export.check_m3 import data_sets
from ..export.fdb_transcripts import joined
from .row import event, read_sound, row, turn, word

ROLES = {"0": "system", "1": "user"}

Events = dict[str, tuple[M3Event, ...]]


def read_m3(folder: Path, language: str) -> Iterator[dict[str, Any]]:
    """Yield a row per dialogue of the data sets below a folder (``data/{language}/{task,chat}/{name}``).

    Every TURN and BC with words becomes a turn; SHORTPAUSEs stay in `m3_events`. What is beside the events
    (intents, reference answers) M3 does not say.

    Raises
    ------
    DuplexkitError
        If there is no data set; says what was looked for.
    ReleaseError
        If events have no words.
    ScriptError
        If a list or a word file cannot be read; names file and line.
    AudioError
        If a sound is missing or has not two channels.
    """
    places = data_sets(folder)
    if not places:
        raise DuplexkitError(
            f"{folder}: no data set of M3-DuplexBench below it; looked for folders with a list such as test.jsonl "
            f"beside a folder audio"
        )
    for place in places:
        domain = place.parent.name
        spoken = place.parent.parent.name if domain in ("task", "chat") else language
        seen: set[str] = set()
        for path in sorted(place.glob("*.jsonl")):  # test.jsonl stands before test_small.jsonl, a part of it
            for name, events in read_m3_lines(path).items():
                if name in seen:
                    continue
                if set(events) != set(ROLES):
                    raise ScriptError(
                        f"{path}: {name}: channels {', '.join(sorted(events)) or 'none'}; wanted "
                        f"{' and '.join(ROLES)}, the system and the user"
                    )
                seen.add(name)
                yield _row(place, name, events, spoken, path.stem, "chat" if domain == "chat" else "mt_qa")


def _row(place: Path, name: str, events: Events, language: str, split: str, scenario: str) -> dict[str, Any]:
    sides, rate_hz = read_sound(place / "audio" / f"{name}.wav", n_channels=2)
    words = read_words(place / "txt_align" / f"{name}.txt")
    turns = sorted(
        (said for channel in ROLES for said in _turns(channel, events[channel], words[channel], language)),
        key=lambda said: (said["onset_s"], said["offset_s"]),
    )
    if not turns:
        raise ReleaseError(f"{place / 'txt_align' / f'{name}.txt'}: no word lies in a TURN or BC of {name}")
    tracks = {"input": sides[1], "system": sides[0]}
    return row(
        scenario=scenario,
        language=language,
        split=split if split in ("train", "validation", "test") else "test",
        source="m3",
        name=f"{place.name}-{name}",
        tracks=tracks,
        rate_hz=rate_hz,
        turns=turns,
        events=_events(events, turns),
        m3_events=[
            {"kind": e.kind, "role": ROLES[channel], "onset_s": e.start_cs / 100, "offset_s": e.end_cs / 100}
            for channel in ROLES
            for e in events[channel]
        ],
    )


def _turns(
    channel: str, events: tuple[M3Event, ...], words: tuple[TimedWord, ...], language: str
) -> Iterator[dict[str, Any]]:
    """Yield a turn for each TURN and BC, with the words that lie in it."""
    for e in events:
        if e.kind not in ("TURN", "BC"):
            continue
        inside = [w for w in words if e.start_cs <= centiseconds(w.onset_s) < e.end_cs]
        said = [
            word(w.text, w.onset_s, min(max(w.offset_s, w.onset_s), e.end_cs / 100)) for w in _apart(inside)
        ]
        if said:
            text = joined([w["text"] for w in said], language)
            yield turn(ROLES[channel], text, e.start_cs / 100, e.end_cs / 100, said, "txt_align")


def _apart(words: list[TimedWord]) -> list[TimedWord]:
    """Return the words with each one's end no later than the next one's start."""
    return [
        w
        if i + 1 == len(words) or words[i + 1].onset_s >= w.offset_s
        else TimedWord(text=w.text, onset_s=w.onset_s, offset_s=words[i + 1].onset_s, line=w.line)
        for i, w in enumerate(words)
    ]


def _events(events: Events, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of the schema that M3's say, by onset."""
    at = {(t["role"], centiseconds(t["onset_s"])): i for i, t in enumerate(turns)}
    starts = {"context_start_s": min(t["onset_s"] for t in turns)}
    listed = []
    for channel, role in ROLES.items():
        for e in events[channel]:
            start_s, end_s = e.start_cs / 100, e.end_cs / 100
            taken = at.get((role, e.start_cs if e.kind in ("BC", "BARGE_IN") else e.end_cs))
            if taken is None:
                continue
            asked_s = max(
                (t["onset_s"] for t in turns if t["role"] == "user" and t["onset_s"] <= start_s),
                default=starts["context_start_s"],
            )
            more: dict[str, Any] = {**starts, "input_start_s": asked_s}
            match e.kind:
                case "TURN_SHIFT":
                    span = sorted((start_s, end_s))
                    fto_s = (e.end_cs - e.start_cs) / 100
                    listed.append(event("shift", role, span[0], span[1], taken, fto_s=fto_s, **more))
                case "TURN_HOLD":
                    listed.append(event("hold", role, start_s, end_s, taken, **more))
                case "BC":
                    token = turns[taken]["text"]
                    meets = {"meets_fdb": end_s - start_s < 1.0 and len(token.split()) < 2, "meets_m3": True}
                    listed.append(
                        event("backchannel", role, start_s, end_s, taken, token=token, **meets, **more)
                    )
                case "BARGE_IN":
                    more |= {"fto_s": (e.start_cs - e.end_cs) / 100, "system_stop_s": end_s}
                    said = turns[taken]
                    listed.append(event("barge_in", role, start_s, said["offset_s"], taken, **more))
    return sorted(listed, key=lambda e: (e["onset_s"], e["offset_s"]))
