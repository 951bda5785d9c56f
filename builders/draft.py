"""An utterance in the making: trimmed, its pauses set, its words in order between its silences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .. import SpeechError
from ..acoustics.activity import speech_spans, speech_threshold_dbfs
from ..acoustics.level import Span
from ..acoustics.pauses import set_hush, trim
from ..acoustics.resample import resample
from ..scenarios.conversation import Pause, PlannedTurn
from ..scenarios.markup import Marked
from .speakers import Clip, ClipWord
from .speakers.align import estimated_words

HUSH_S = 0.05
"""Silences shorter than this belong to the sound (closures of stops)."""

PIN_HUSH_S = 0.10
"""At a silence of at least this between two words, their times are those of the silence."""

_REACH_S = 0.08
_MAKE_HUSH_S = 0.010
_PEAK = 0.9

TimedWord = tuple[ClipWord, int, int]
"""A word, its first sample, and the first sample after it."""


@dataclass(slots=True)
class Draft:
    """Samples, speech bounds, words with their samples, and pauses with how many words stand before each."""

    samples: NDArray[np.float32]
    onset: int
    offset: int
    rate: int
    threshold_dbfs: float
    words: list[TimedWord]
    pauses: list[tuple[int, Pause]] = field(default_factory=list)

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

    def words_before(self, position: int) -> int:
        """Return how many words start before that character."""
        return sum(1 for word, _, _ in self.words if word.start_char < position)

    def between(self, before: int) -> Span:
        """Return from the end of word ``before - 1`` to the start of the next."""
        return self.words[before - 1][2], self.words[before][1]

    def order_words(self, parted: Iterable[tuple[int, Span]] = ()) -> None:
        """Put words in order and apart, from the onset to the offset and to the silences that part them.

        `parted` gives, in order, how many words stand before a silence, and the silence.
        """
        ordered: list[TimedWord] = []
        low = self.onset
        for before, (start, stop) in (*parted, (len(self.words), (self.offset, self.offset))):
            ordered += _in_order(self.words[len(ordered) : before], low, start)
            low = stop
        self.words = ordered


def _in_order(words: Sequence[TimedWord], low: int, high: int) -> list[TimedWord]:
    """Return the words from `low` to `high`, each at least a sample long and none before the last one's end."""
    ordered: list[TimedWord] = []
    reached = low
    for i, (word, start, stop) in enumerate(words):
        room = high - (len(words) - 1 - i)
        start = low if i == 0 else min(max(start, reached), room - 1)
        following = high if i + 1 == len(words) else max(words[i + 1][1], start + 1)
        stop = high if i + 1 == len(words) else min(max(stop, start + 1), following, room)
        ordered.append((word, start, stop))
        reached = stop
    return ordered


def draft_of(clip: Clip, text: str, sample_rate_hz: int, *, language: str) -> Draft:
    """Return a raw clip at the rate wanted, trimmed, with its words' times (estimated where it has none).

    Raises
    ------
    SpeechError
        If the clip holds no sound, or the text no word, or more words than the clip has room for, or a word has
        no time or is not the text's.
    AudioError
        If the sound is no speech.
    """
    raw = clip.samples
    if raw.ndim != 1 or raw.size == 0 or not np.isfinite(raw).all() or not np.abs(raw).max() > 0:
        raise SpeechError(f"the engine gave no sound for {text!r} (shape {raw.shape})")
    peak = float(np.abs(raw).max())
    if peak > _PEAK:  # some voices go past full scale
        raw = (raw * np.float32(_PEAK / peak)).astype(np.float32)
    if clip.sample_rate_hz != sample_rate_hz:
        raw = resample(raw, from_rate_hz=clip.sample_rate_hz, to_rate_hz=sample_rate_hz)
    trimmed = trim(raw, sample_rate_hz=sample_rate_hz)
    times = clip.words
    if times is None:
        times = estimated_words(
            clip.samples, sample_rate_hz=clip.sample_rate_hz, text=text, language=language
        )
    if not times:
        raise SpeechError(f"there is no word in {text!r}")
    for word in times:
        if word.text != text[word.start_char : word.stop_char]:
            raise SpeechError(
                f"the engine's word {word.text!r} does not stand at {word.start_char} to {word.stop_char} of {text!r}"
            )
    if not np.isfinite([time_s for word in times for time_s in (word.onset_s, word.offset_s)]).all():
        raise SpeechError(f"the engine gave a word of {text!r} no time")
    if trimmed.offset - trimmed.onset < len(times):
        raise SpeechError(
            f"the engine gave {trimmed.offset - trimmed.onset} samples of speech for the {len(times)} words of "
            f"{text!r}"
        )
    draft = Draft(
        samples=trimmed.samples,
        onset=trimmed.onset,
        offset=trimmed.offset,
        rate=sample_rate_hz,
        threshold_dbfs=speech_threshold_dbfs(raw, sample_rate_hz=sample_rate_hz),
        words=[
            (
                word,
                round(word.onset_s * sample_rate_hz) - trimmed.head,
                round(word.offset_s * sample_rate_hz) - trimmed.head,
            )
            for word in times
        ],
    )
    draft.order_words()
    return draft


def set_pauses(draft: Draft, turn: PlannedTurn, marked: Marked) -> None:
    """Give each marked pause its intended length and shorten other long silences; note what came out.

    An engine's pause is only a wish: the silence is found on the samples, cut or filled, and measured again.

    Raises
    ------
    SpeechError
        If a mark does not stand between words, or the speech has no room for its pauses.
    """
    marks = marked.places("pause")[: len(turn.pauses)]
    boundaries = [draft.words_before(mark.position) for mark in marks]
    for mark, before in zip(marks, boundaries, strict=True):
        if not 0 < before < len(draft.words):
            raise SpeechError(f"the mark [pause:{mark.value}] in {turn.text!r} does not stand between words")
    if len(set(boundaries)) < len(boundaries):
        raise SpeechError(f"two pause marks in {turn.text!r} stand between the same two words; keep one")
    pin_words(draft)  # so that a short word between two silences is looked for between them
    hushes = draft.hushes()
    places = _places(draft, boundaries, hushes)
    draft.order_words(zip(boundaries, places, strict=True))
    wanted: dict[Span, int] = {}
    if turn.max_hush_s is not None:
        limit = round(turn.max_hush_s * draft.rate)
        wanted = {hush: limit for hush in hushes if hush[1] - hush[0] > limit and not _overlaps(hush, places)}
    least = round(_MAKE_HUSH_S * draft.rate)
    for place, pause in zip(places, turn.pauses, strict=True):
        wanted[place] = max(round(pause.length_s * draft.rate), least)
    for hush in sorted(wanted, reverse=True):
        draft.set_hush(hush, wanted[hush])
    found = _measured(draft, boundaries)
    draft.order_words(zip(boundaries, found, strict=True))
    draft.pauses = [
        (before, Pause(start=start, stop=stop, kind=pause.kind, intended_s=pause.length_s))
        for before, (start, stop), pause in zip(boundaries, found, turn.pauses, strict=True)
    ]


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(_common(span, other) > 0 for other in others)


def _common(one: Span, other: Span) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])


def _places(draft: Draft, boundaries: Sequence[int], hushes: Sequence[Span]) -> list[Span]:
    """Return for each boundary the silence there, or where one is to be made: in order, with room for the words.

    No two boundaries get the same silence, however badly an engine judged its words' times.
    """
    width = round(_MAKE_HUSH_S * draft.rate)
    places: list[Span] = []
    done, reached = 0, draft.onset
    for i, before in enumerate(boundaries):
        low = reached + (before - done)
        high = draft.offset - (len(draft.words) - before) - width * (len(boundaries) - 1 - i)
        (_, left_start, left_stop), (_, right_start, right_stop) = draft.words[before - 1 : before + 1]
        first, last = (left_start + left_stop) // 2, (right_start + right_stop) // 2
        near = [
            hush
            for hush in hushes
            if hush[0] < last
            and hush[1] > first
            and low <= hush[0]
            and hush[1] <= high
            # the silence before a short word is not the one behind it, if its end is judged a little late
            and left_start <= sum(hush) // 2 <= right_stop
        ]
        if not near:  # where it is quietest; in a silence, or beside one, it is that silence
            made = _quietest(draft, before, low, high)
            near = [
                hush for hush in hushes if _common(hush, made) >= 0 and low <= hush[0] and hush[1] <= high
            ] or [made]
        place = max(near, key=lambda hush: hush[1] - hush[0])
        places.append(place)
        done, reached = before, place[1]
    return places


def _quietest(draft: Draft, before: int, low: int, high: int) -> Span:
    """Return the quietest 10 ms between the middles of two words, near their boundary, from `low` to `high`."""
    (_, left_start, left_stop), (_, right_start, right_stop) = draft.words[before - 1 : before + 1]
    reach, width = round(_REACH_S * draft.rate), round(_MAKE_HUSH_S * draft.rate)
    if high - low < width:
        text = " ".join(word.text for word, _, _ in draft.words)
        raise SpeechError(f"the speech of {text!r} is too short for its pauses")
    start = max(left_stop - reach, (left_start + left_stop) // 2, low)
    stop = min(right_start + reach, (right_start + right_stop) // 2, high)
    if stop - start <= width:
        at = min(max(left_stop - width // 2, low), high - width)
        return at, at + width
    energy = np.convolve(np.square(draft.samples[start:stop]), np.ones(width), mode="valid")
    at = start + int(np.argmin(energy))
    return at, at + width


def _measured(draft: Draft, boundaries: Sequence[int]) -> list[Span]:
    """Return the silences as they are heard now at the boundaries, where the words were parted."""
    hushes = draft.hushes()
    found: list[Span] = []
    done, reached = 0, draft.onset
    for before, following in zip(boundaries, (*boundaries[1:], None), strict=False):
        edge, n_following = (
            (draft.offset, len(draft.words) - before)
            if following is None
            else (draft.between(following)[0], following - before)
        )
        low, high = reached + (before - done), edge - n_following
        made = draft.between(before)
        near = [a for a in hushes if _common(a, made) > 0]
        if near:
            start, stop = max(near, key=lambda a: _common(a, made))
            made = (max(start, low), min(stop, high))
        found.append(made)
        done, reached = before, made[1]
    return found


def pin_words(draft: Draft) -> None:
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
    draft.order_words((before, (pause.start, pause.stop)) for before, pause in draft.pauses)
