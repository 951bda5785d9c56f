"""Plan to utterances: each turn spoken, trimmed, its pauses set, its words timed, at normal level."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..acoustics.level import NORMAL_LEVEL_DBOV, Span, scale_to_level, span_level_dbov, to_pcm16
from ..scenarios.conversation import Pause, PlannedTurn, Shape, Voice, Word
from ..scenarios.markup import Marked, parse
from .draft import Draft, draft_of, pin_words, set_pauses
from .sample import Utterance
from .speakers import Speaker, SpeechRequest, takes_speed
from .speech_cache import get_or_speak

_FITS = 3
_MOST = 1.7  # times the asked speed, either way: beyond that a voice sounds unnatural


def request_of(turn: PlannedTurn, *, language: str, voice: Voice, seed: int) -> SpeechRequest:
    """Return what the engine is asked first for a turn."""
    marked = parse(turn.text)
    return SpeechRequest(
        text=marked.text,
        language=language,
        voice=voice,
        speed=turn.speed,
        seed=seed,
        readings=marked.readings,
        breaks=tuple(mark.position for mark in marked.places("pause")),
        sounds=tuple((mark.position, mark.value) for mark in marked.places("sound")),
    )


def speak_turn(
    turn: PlannedTurn,
    *,
    language: str,
    voice: Voice,
    speaker: Speaker,
    cache_dir: Path,
    seed: int,
    sample_rate_hz: int,
    count: Callable[[str], None],
    note_clip: Callable[[str], None] | None = None,
) -> Utterance:
    """Return the spoken turn; one that leaves its `length_s` is asked for again, faster or slower.

    From an engine that takes no speed it is returned as it came.

    `note_clip` is called with the key of every clip that is listened to, the ones not taken too.

    Raises
    ------
    SpeechError
        If the engine cannot speak it, or what came is no speech.
    """
    speed = turn.speed
    for _ in range(_FITS + 1):
        utterance = _speak_once(
            replace(turn, speed=speed),
            language=language,
            voice=voice,
            speaker=speaker,
            cache_dir=cache_dir,
            seed=seed,
            sample_rate_hz=sample_rate_hz,
            count=count,
            note_clip=note_clip,
        )
        if not takes_speed(speaker):
            break
        fitting = _fitting_speed(utterance, turn.length_s, speed)
        if fitting == speed or not turn.speed / _MOST <= fitting <= turn.speed * _MOST:
            break
        speed = fitting
    return utterance


def _fitting_speed(utterance: Utterance, length_s: tuple[float, float] | None, speed: float) -> float:
    """Return the speed at which the speech should just keep its limits, with 5 % to spare."""
    if length_s is None:
        return speed
    spoken_s = (utterance.shape.offset - utterance.shape.onset) / utterance.sample_rate_hz
    if spoken_s > length_s[1]:
        return round(speed * spoken_s / length_s[1] * 1.05, 2)
    if spoken_s < length_s[0]:
        return round(speed * spoken_s / length_s[0] / 1.05, 2)
    return speed


def _speak_once(
    turn: PlannedTurn,
    *,
    language: str,
    voice: Voice,
    speaker: Speaker,
    cache_dir: Path,
    seed: int,
    sample_rate_hz: int,
    count: Callable[[str], None],
    note_clip: Callable[[str], None] | None,
) -> Utterance:
    marked = parse(turn.text)
    request = request_of(turn, language=language, voice=voice, seed=seed)
    key, clip = get_or_speak(cache_dir, speaker, request, count)
    if note_clip is not None:
        note_clip(key)
    draft = draft_of(clip, request.text, sample_rate_hz, language=language)
    set_pauses(draft, turn, marked)
    pin_words(draft)
    return _finish(
        draft,
        marked,
        word_time_source=clip.word_time_source if clip.words is not None else "estimated",
        provenance={
            "engine": speaker.engine,
            "engine_version": speaker.version,
            "engine_licence": speaker.licence,
            "voice": voice.id,
            "voice_mix": [{"style": style, "weight": weight} for style, weight in voice.mix],
            "voice_licence": voice.licence,
            "voice_attribution": voice.attribution,
            "speed": turn.speed,
            "seed": seed if speaker.uses_seed else None,
            "clip": key,
            "code_version": __version__,
        },
    )


def _finish(
    draft: Draft,
    marked: Marked,
    *,
    word_time_source: str,
    provenance: dict[str, Any],
) -> Utterance:
    pauses = tuple(pause for _, pause in draft.pauses)
    spans = speech_without(pauses, draft.onset, draft.offset)
    gain_db = NORMAL_LEVEL_DBOV - span_level_dbov(draft.samples, spans)
    pcm = to_pcm16(scale_to_level(draft.samples, spans=spans, level_dbov=NORMAL_LEVEL_DBOV))
    words = tuple(Word(text=word.text, start=a, stop=b) for word, a, b in draft.words)
    places = tuple(
        (draft.words[draft.words_before(mark.position) - 1][2], mark.value)
        for mark in marked.places("trp")
        if draft.words_before(mark.position) > 0
    )
    return Utterance(
        pcm=pcm,
        sample_rate_hz=draft.rate,
        shape=Shape(
            n_samples=pcm.size,
            onset=draft.onset,
            offset=draft.offset,
            words=words,
            pauses=pauses,
            places=places,
        ),
        text=marked.text,
        reading=_reading(marked),
        word_time_source=word_time_source,
        threshold_dbfs=draft.threshold_dbfs + gain_db,
        sha256=hashlib.sha256(pcm.tobytes()).hexdigest(),
        provenance=provenance,
    )


def speech_without(pauses: tuple[Pause, ...], onset: int, offset: int) -> list[Span]:
    """Return the spans of speech from onset to offset, the pauses left out."""
    edges = [onset, *(edge for pause in pauses for edge in (pause.start, pause.stop)), offset]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]


def _reading(marked: Marked) -> str:
    """Return the text as it is spoken, where a reading was given; else nothing."""
    spoken, last = "", 0
    for reading in marked.readings:
        if reading.is_phonemes:
            continue
        spoken += marked.text[last : reading.start] + reading.spoken
        last = reading.stop
    return spoken + marked.text[last:] if last else ""


def again(turn: PlannedTurn, attempt: int, speaker: Speaker) -> PlannedTurn:
    """Return the turn as it is asked for at a later attempt: slower and faster in turn, 4 % a step.

    An engine without a seed would say the same again. From one that takes no speed the turn itself is asked:
    its seed makes the difference.
    """
    step = (attempt + 1) // 2 * (-1 if attempt % 2 else 1)
    return (
        turn
        if attempt == 0 or not takes_speed(speaker)
        else replace(turn, speed=round(turn.speed * (1 + 0.04 * step), 3))
    )
