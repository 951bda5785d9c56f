"""Plan to utterances: each turn spoken, trimmed, its pauses set, its words timed, at normal level."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import SpeechError, __version__
from ..acoustics.activity import speech_spans, speech_threshold_dbfs
from ..acoustics.level import NORMAL_LEVEL_DBOV, Span, scale_to_level, span_level_dbov, to_pcm16
from ..acoustics.pauses import set_hush, trim
from ..acoustics.resample import resample
from ..scenarios.conversation import Pause, PlannedTurn, Shape, Voice, Word
from ..scenarios.markup import Marked, parse
from .sample import Utterance
from .speakers import Clip, ClipWord, Speaker, SpeechRequest, takes_speed
from .speech_cache import get_or_speak

HUSH_S = 0.05
"""Silences shorter than this belong to the sound (closures of stops)."""

PIN_HUSH_S = 0.10
"""At a silence of at least this between two words, their times are those of the silence."""

_REACH_S = 0.08
_FITS = 3
_MOST = 1.7  # times the asked speed, either way: beyond that a voice sounds unnatural
_MAKE_HUSH_S = 0.010
_PEAK = 0.9


@dataclass(slots=True)
class _Draft:
    """An utterance in the making: samples, speech bounds, and per word its characters and samples."""

    samples: NDArray[np.float32]
    onset: int
    offset: int
    rate: int
    threshold_dbfs: float
    words: list[tuple[ClipWord, int, int]]

    def hushes(self, min_s: float = HUSH_S) -> list[Span]:
        """Return the silences inside the speech."""
        spans = speech_spans(
            self.samples, sample_rate_hz=self.rate, min_hush_s=min_s, threshold_dbfs=self.threshold_dbfs
        )
        inner = [(max(a, self.onset), min(b, self.offset)) for a, b in spans]
        return [(a[1], b[0]) for a, b in pairwise(inner) if b[0] > a[1]]

    def set_hush(self, hush: Span, n_samples: int) -> None:
        """Make a silence that long; what follows moves."""
        self.samples = set_hush(self.samples, hush=hush, n_samples=n_samples, sample_rate_hz=self.rate)
        start, stop = hush
        more = n_samples - (stop - start)
        middle = (start + stop) // 2

        def moved(at: int) -> int:
            if at >= stop:
                return at + more
            return min(at, start + n_samples) if at <= middle else max(at + more, start)

        self.words = [(word, moved(a), moved(b)) for word, a, b in self.words]
        self.offset += more


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
    draft = _draft(clip, request.text, sample_rate_hz)
    pauses = _set_pauses(draft, turn, marked)
    _pin(draft)
    return _finish(
        draft,
        pauses,
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


def _draft(clip: Clip, text: str, sample_rate_hz: int) -> _Draft:
    raw = clip.samples
    if raw.ndim != 1 or raw.size == 0 or not np.isfinite(raw).all() or not np.abs(raw).max() > 0:
        raise SpeechError(f"the engine gave no sound for {text!r} (shape {raw.shape})")
    peak = float(np.abs(raw).max())
    if peak > _PEAK:  # some voices go past full scale
        raw = (raw * np.float32(_PEAK / peak)).astype(np.float32)
    if clip.sample_rate_hz != sample_rate_hz:
        raw = resample(raw, from_rate_hz=clip.sample_rate_hz, to_rate_hz=sample_rate_hz)
    trimmed = trim(raw, sample_rate_hz=sample_rate_hz)
    times = clip.words if clip.words is not None else _estimated(text, trimmed, sample_rate_hz)
    words: list[tuple[ClipWord, int, int]] = []
    reached = trimmed.onset
    for word in times:
        start = round(word.onset_s * sample_rate_hz) - trimmed.head
        stop = round(word.offset_s * sample_rate_hz) - trimmed.head
        start = min(max(start, reached), trimmed.offset - 1)
        reached = min(max(stop, start + 1), trimmed.offset)
        words.append((word, start, reached))
    if not words:
        raise SpeechError(f"there is no word in {text!r}")
    return _Draft(
        samples=trimmed.samples,
        onset=trimmed.onset,
        offset=trimmed.offset,
        rate=sample_rate_hz,
        threshold_dbfs=speech_threshold_dbfs(raw, sample_rate_hz=sample_rate_hz),
        words=words,
    )


def _estimated(text: str, trimmed: Any, sample_rate_hz: int) -> tuple[ClipWord, ...]:
    """Return word times in proportion to letters, for engines that know none."""
    pieces: list[tuple[int, int]] = []
    at = 0
    for piece in text.split():
        start = text.index(piece, at)
        at = start + len(piece)
        pieces.append((start, at))
    total = sum(stop - start for start, stop in pieces)
    first_s = (trimmed.head + trimmed.onset) / sample_rate_hz
    length_s = (trimmed.offset - trimmed.onset) / sample_rate_hz
    words, done = [], 0
    for start, stop in pieces:
        onset_s = first_s + length_s * done / total
        done += stop - start
        words.append(
            ClipWord(
                text=text[start:stop].strip(".,?!;:。、？！"),
                start_char=start,
                stop_char=stop,
                onset_s=onset_s,
                offset_s=first_s + length_s * done / total,
            )
        )
    return tuple(words)


def _set_pauses(draft: _Draft, turn: PlannedTurn, marked: Marked) -> tuple[Pause, ...]:
    """Give each marked pause its intended length and shorten other long silences; return what came out.

    An engine's pause is only a wish: the silence is found on the samples, cut or filled, and measured again.
    """
    marks = marked.places("pause")[: len(turn.pauses)]
    hushes = draft.hushes()
    wanted: dict[Span, int] = {}
    if turn.max_hush_s is not None:
        limit = round(turn.max_hush_s * draft.rate)
        wanted = {hush: limit for hush in hushes if hush[1] - hush[0] > limit}
    boundaries: list[int] = []
    for mark, pause in zip(marks, turn.pauses, strict=True):
        before = _words_before(draft, mark.position)
        if not 0 < before < len(draft.words):
            raise SpeechError(f"the mark [pause:{mark.value}] in {turn.text!r} does not stand between words")
        hush = _hush_at(draft, before, hushes)
        wanted[hush] = round(pause.length_s * draft.rate)
        boundaries.append(before)
    for hush in sorted(wanted, reverse=True):
        draft.set_hush(hush, wanted[hush])
    measured = draft.hushes()
    pauses = []
    for before, pause in zip(boundaries, turn.pauses, strict=True):
        start, stop = _hush_at(draft, before, measured)
        draft.words[before - 1] = (*draft.words[before - 1][:2], start)
        draft.words[before] = (draft.words[before][0], stop, max(draft.words[before][2], stop + 1))
        pauses.append(Pause(start=start, stop=stop, kind=pause.kind, intended_s=pause.length_s))
    return tuple(pauses)


def _words_before(draft: _Draft, position: int) -> int:
    return sum(1 for word, _, _ in draft.words if word.start_char < position)


def _hush_at(draft: _Draft, before: int, hushes: list[Span]) -> Span:
    """Return the silence between word ``before - 1`` and the next; the quietest place where there is none."""
    (_, left_start, left_stop), (_, right_start, right_stop) = draft.words[before - 1 : before + 1]
    low, high = (left_start + left_stop) // 2, (right_start + right_stop) // 2
    between = [hush for hush in hushes if hush[0] < high and hush[1] > low]
    if between:
        return max(between, key=lambda hush: hush[1] - hush[0])
    reach = round(_REACH_S * draft.rate)
    start = max(left_stop - reach, left_start + 1)
    stop = min(right_start + reach, right_stop - 1)
    width = round(_MAKE_HUSH_S * draft.rate)
    if stop - start <= width:
        return max(left_stop - width // 2, 0), left_stop + width - width // 2
    energy = np.convolve(np.square(draft.samples[start:stop]), np.ones(width), mode="valid")
    at = start + int(np.argmin(energy))
    return at, at + width


def _pin(draft: _Draft) -> None:
    """Move word times to the silences between words, and the outer ones to the speech's bounds."""
    reach = round(_REACH_S * draft.rate)
    words = draft.words
    for start, stop in draft.hushes(PIN_HUSH_S):
        near = [
            i
            for i in range(1, len(words))
            if start - reach <= words[i][1] <= stop + reach and words[i - 1][1] < start < words[i][2]
        ]
        if not near:
            continue
        i = min(near, key=lambda k: abs(words[k][1] - stop))
        words[i - 1] = (*words[i - 1][:2], start)
        words[i] = (words[i][0], stop, max(words[i][2], stop + 1))
    words[0] = (words[0][0], draft.onset, words[0][2])
    words[-1] = (*words[-1][:2], draft.offset)
    reached = draft.onset
    for i, (word, start, stop) in enumerate(words):
        start = min(max(start, reached), draft.offset - (len(words) - i))
        limit = draft.offset if i + 1 == len(words) else max(words[i + 1][1], start + 1)
        stop = min(max(stop, start + 1), limit)
        words[i] = (word, start, stop)
        reached = stop


def _finish(
    draft: _Draft,
    pauses: tuple[Pause, ...],
    marked: Marked,
    *,
    word_time_source: str,
    provenance: dict[str, Any],
) -> Utterance:
    spans = speech_without(pauses, draft.onset, draft.offset)
    gain_db = NORMAL_LEVEL_DBOV - span_level_dbov(draft.samples, spans)
    pcm = to_pcm16(scale_to_level(draft.samples, spans=spans, level_dbov=NORMAL_LEVEL_DBOV))
    words = tuple(Word(text=word.text, start=a, stop=b) for word, a, b in draft.words)
    places = tuple(
        (draft.words[_words_before(draft, mark.position) - 1][2], mark.value)
        for mark in marked.places("trp")
        if _words_before(draft, mark.position) > 0
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
