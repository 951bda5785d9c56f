"""An excerpt of a recorded conversation to a row of the dataset's schema."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .. import __version__
from ..scenarios.conversation import Event, Role
from ..scenarios.event_table import expected, scoring_window
from ..scenarios.events import M3Event, centiseconds, label
from .corpora.conversation import Conversation, Spoken
from .corpora.excerpt import RATE_HZ, Cut, Excerpt
from .corpora.speech import SpanS
from .flac import to_flac
from .recorded_events import chat_events, task_events
from .rows import m3_rows
from .schema import COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What holds for all rows of a corpus."""

    language: str
    licence: str
    attribution: str
    recipe_digest: str
    has_audio: bool


def recorded_row(
    excerpt: Excerpt,
    conversation: Conversation,
    speech: tuple[tuple[SpanS, ...], tuple[SpanS, ...]],
    sound: Cut,
    about: About,
) -> dict[str, Any]:
    """Return the row of an excerpt: M3's labels of what is said in it, and events by the same rule.

    Where the licence forbids audio (`has_audio` false), the row holds ids, offsets and labels; the corpus'
    owner finds the sound by them.
    """
    rate = RATE_HZ
    row_id = f"{excerpt.scenario}/{about.language}/{excerpt.id}/0"
    stop_s = excerpt.end_s + excerpt.appended_s
    inside = {
        _role(excerpt, c): _inside(
            speech[c], excerpt.start_s, excerpt.end_s if c == excerpt.user_channel else stop_s
        )
        for c in _channels(excerpt)
    }
    m3 = label(
        {
            role.value: [(centiseconds(a), centiseconds(b)) for a, b in listed]
            for role, listed in inside.items()
        }
    )
    events = task_events(excerpt, m3) if excerpt.scenario != "chat" else chat_events(m3)
    name = row_id.replace("/", "-")

    def audio(pcm: Any, suffix: str) -> dict[str, Any] | None:
        if pcm is None or not about.has_audio:
            return None
        return {"bytes": to_flac(pcm, rate), "path": f"{name}{suffix}.flac"}

    row: dict[str, Any] = dict.fromkeys(column.name for column in COLUMNS)
    row.update(
        id=row_id,
        scenario=excerpt.scenario,
        language=about.language,
        split="test",
        preset="recorded",
        fdb_relation="own" if excerpt.scenario == "chat" else "same-rule",
        input=audio(sound.user, ""),
        system=audio(sound.system, "-system"),
        duration_s=sound.user.size / rate,
        sample_rate_hz=rate,
        turns=_turns(excerpt, conversation, m3),
        events=[event_row(event, sound.user.size) for event in events],
        m3_events=m3_rows(m3) if excerpt.has_system else None,
        checks=dict.fromkeys(parts_of("checks")),
        script={
            "id": conversation.id,
            "source": f"{conversation.corpus} {conversation.id} {excerpt.start_s:.3f}-{excerpt.end_s:.3f} s",
            "licence": about.licence,
            "domain": "conversation",
            "register": "spontaneous",
            "addressee": None,
            "pause_kind": None,
            "tags": [],
        },
        provenance=_provenance(excerpt, conversation, sound, about),
    )
    return row


def parts_of(column: str) -> tuple[str, ...]:
    """Return the names of the parts of a struct column, or of a list of structs."""
    type_ = next(c.type for c in COLUMNS if c.name == column)
    struct = type_[0] if isinstance(type_, list) else type_
    assert isinstance(struct, dict)
    return tuple(struct)


def _channels(excerpt: Excerpt) -> tuple[int, ...]:
    return (excerpt.user_channel, 1 - excerpt.user_channel) if excerpt.has_system else (excerpt.user_channel,)


def _role(excerpt: Excerpt, channel: int) -> Role:
    return Role.USER if channel == excerpt.user_channel else Role.SYSTEM


def _inside(spans: tuple[SpanS, ...], start_s: float, stop_s: float) -> list[SpanS]:
    """Return the spans that start in [start_s, stop_s), from start_s on; one that goes on beyond is cut."""
    return [(a - start_s, min(b, stop_s) - start_s) for a, b in spans if start_s <= a < stop_s]


def _turns(
    excerpt: Excerpt, conversation: Conversation, m3: dict[str, tuple[M3Event, ...]]
) -> list[dict[str, Any]]:
    """Return what is said: the transcript's utterances, or without one the units that were heard."""
    end_s = excerpt.end_s + excerpt.appended_s
    said = [
        s
        for s in conversation.spoken
        if s.channel in _channels(excerpt) and excerpt.start_s <= s.onset_s < end_s
    ]
    if said:
        heard = [s for s in said if not _is_cut_user(excerpt, s)]
        return [_turn(excerpt, conversation, s) for s in _whole_turns(excerpt, heard)]
    units = sorted(
        (event.start_cs, event.end_cs, role)
        for role, events in m3.items()
        for event in events
        if event.kind in ("TURN", "BC")
    )
    channel = {"user": excerpt.user_channel, "system": 1 - excerpt.user_channel}
    found = [
        Spoken(
            channel=channel[role],
            onset_s=excerpt.start_s + start_cs / 100,
            offset_s=excerpt.start_s + end_cs / 100,
            text="",
        )
        for start_cs, end_cs, role in units
    ]
    return [_turn(excerpt, conversation, s) for s in _whole_turns(excerpt, found)]


def _whole_turns(excerpt: Excerpt, pieces: list[Spoken]) -> list[Spoken]:
    """Return the pieces as turns: what is said in a pause sample is one turn, with its pauses inside it."""
    if excerpt.scenario != "pause_handling" or len(pieces) < 2:
        return pieces
    space = " " if all(piece.text.isascii() for piece in pieces) else ""
    return [
        replace(
            pieces[0],
            offset_s=max(piece.offset_s for piece in pieces),
            text=space.join(piece.text for piece in pieces).strip(),
            words=tuple(word for piece in pieces for word in piece.words),
        )
    ]


def _is_cut_user(excerpt: Excerpt, said: Spoken) -> bool:
    """Return whether the silence that was appended hides what a user says later."""
    return said.channel == excerpt.user_channel and said.onset_s >= excerpt.end_s


def _turn(excerpt: Excerpt, conversation: Conversation, said: Spoken) -> dict[str, Any]:
    turn: dict[str, Any] = dict.fromkeys(parts_of("turns"))
    start_s, stop_s = excerpt.start_s, excerpt.end_s + excerpt.appended_s
    turn.update(
        role=_role(excerpt, said.channel).value,
        speaker=conversation.speakers[said.channel],
        text=said.text,
        onset_s=said.onset_s - start_s,
        offset_s=min(said.offset_s, stop_s) - start_s,
        depends_on=[],
        spoken_text=said.text,
        words=[
            {"text": w.text, "onset_s": w.onset_s - start_s, "offset_s": w.offset_s - start_s}
            for w in said.words
            if w.offset_s <= stop_s
        ],
        word_time_source="corpus" if said.words else "none",
    )
    return turn


def event_row(event: Event, n_samples: int) -> dict[str, Any]:
    """Return an event of a sample of `n_samples` as the column `events` holds it."""
    row: dict[str, Any] = dict.fromkeys(parts_of("events"))
    if_speaking, if_silent = expected(event)
    score_from, score_to = scoring_window(event, RATE_HZ)
    row.update(
        kind=event.kind,
        role=event.role.value,
        onset_s=event.onset / RATE_HZ,
        offset_s=event.offset / RATE_HZ,
        turn=event.turn,
        expected_if_speaking=if_speaking,
        expected_if_silent=if_silent,
        score_from_s=score_from / RATE_HZ,
        score_to_s=min(score_to, n_samples) / RATE_HZ,
        fto_s=event.fto_s,
        system_stop_s=None if event.system_stop is None else event.system_stop / RATE_HZ,
        context_start_s=None if event.context_start is None else event.context_start / RATE_HZ,
        input_start_s=None if event.input_start is None else event.input_start / RATE_HZ,
        q=event.q,
        q_source=event.q_source or None,
    )
    if event.kind == "backchannel":
        row["meets_m3"] = True
    return row


def _provenance(excerpt: Excerpt, conversation: Conversation, sound: Cut, about: About) -> dict[str, Any]:
    made: dict[str, Any] = dict.fromkeys(parts_of("provenance"))
    made.update(
        engine="recording",
        engine_version=conversation.corpus,
        engine_licence=about.licence,
        voices=voices_of(
            ((_role(excerpt, c).value, conversation.speakers[c]) for c in _channels(excerpt)), about
        ),
        turns=[],
        room=json.dumps(
            {
                "preset": "recording",
                "effects": {},
                "gain_db": sound.gain_db,
                "appended_s": excerpt.appended_s,
                "source_start_s": excerpt.start_s,
                "source_end_s": excerpt.end_s,
            },
            sort_keys=True,
        ),
        recipe_digest=about.recipe_digest,
        code_version=__version__,
        attempt=0,
    )
    return made


def voices_of(speakers: Iterable[tuple[str, str]], about: About) -> list[dict[str, Any]]:
    """Return the voices of the column `provenance`, from role and name of each speaker."""
    return [
        {
            "role": role,
            "voice": speaker,
            "mix": [],
            "licence": about.licence,
            "attribution": about.attribution,
        }
        for role, speaker in speakers
    ]
