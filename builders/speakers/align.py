"""Word times for engines that know none: by an aligner, else in proportion, and the clip says which."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from operator import index

import numpy as np
from numpy.typing import NDArray

from ... import DuplexkitError, EngineError, RecipeError, SpeechError
from ...acoustics.activity import speech_spans
from ...scenarios.reason import reason_of
from . import Clip, ClipWord, SpeechRequest
from .options import WHERE
from .words import TextWord, letter_places, words_of

ESTIMATED = "estimated"
"""The `word_time_source` of times that were measured on nothing."""
HUSH_S = 0.12
"""Silences of at least this are taken for places between words."""

_INSIDE_COST_S = 0.6
_SKIP_COST_S = 0.8

Align = Callable[[NDArray[np.float32], int, str, str], Sequence[ClipWord] | None]
"""``align(samples, sample_rate_hz, text, language)``: the words in order, or None where it cannot tell.

`samples` has shape (n,), float32. Words are those of `words.words_of`, or the aligner's own.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligner:
    """A way to find word times. `source` goes into the dataset, `version` decides the clip in the cache."""

    source: str
    version: str
    align: Align


def no_align(samples: NDArray[np.float32], sample_rate_hz: int, text: str, language: str) -> None:
    """Return None: nothing is measured, so the times are estimated."""


def aligner_from(name: str) -> Aligner:
    """Return the aligner that the recipe's ``speech.options.aligner`` names.

    Parameters
    ----------
    name : str
        ``auto`` (pocketsphinx where it is installed, for English), ``pocketsphinx``, ``estimated``, or
        ``package.module:function`` with a function of the form `Align`.

    Raises
    ------
    EngineError
        If ``pocketsphinx`` is asked for and missing.
    RecipeError
        If there is no such function, or its module cannot be imported.
    """
    if name == ESTIMATED:
        return Aligner(source=ESTIMATED, version=ESTIMATED, align=no_align)
    if name in ("auto", "pocketsphinx"):
        try:
            found = version("pocketsphinx")
        except PackageNotFoundError:
            if name == "auto":
                return aligner_from(ESTIMATED)
            raise EngineError(
                f"{WHERE}.aligner = 'pocketsphinx': it is not installed: pip install pocketsphinx==5.1.1"
            ) from None
        from .align_sphinx import BIAS_S, align_english

        return Aligner(source="pocketsphinx", version=f"pocketsphinx={found}/{BIAS_S:g}", align=align_english)
    return _own(name)


def _own(name: str) -> Aligner:
    module, colon, function = name.partition(":")
    if not (colon and re.fullmatch(r"[\w.]+", module) and function.isidentifier()):
        raise RecipeError(
            f"{WHERE}.aligner = {name!r}: wanted auto, pocketsphinx, estimated or package.module:function"
        )
    try:
        align: Align = getattr(import_module(module), function)
    except (Exception, SystemExit) as error:  # whatever a user's own module does when it is imported
        raise RecipeError(f"{WHERE}.aligner = {name!r}: {reason_of(error)}") from error
    if not callable(align):
        raise RecipeError(f"{WHERE}.aligner = {name!r}: that is {align!r}; wanted a function")
    return Aligner(source=name, version=f"{name}={getattr(align, 'version', '')}", align=align)


def with_word_times(clip: Clip, request: SpeechRequest, aligner: Aligner) -> Clip:
    """Return the clip with the times of its words, found by the aligner, else estimated.

    Raises
    ------
    SpeechError
        If the clip is silent, or the aligner's words are not those of the text, in order and in the clip.
    EngineError
        If the aligner fails, or returns no words.
    """
    words = _asked(aligner, clip, request)
    if words is None:
        words = estimated_words(
            clip.samples, sample_rate_hz=clip.sample_rate_hz, text=request.text, language=request.language
        )
        return replace(clip, words=words, word_time_source=ESTIMATED)
    check_words(words, request.text, clip.samples.size / clip.sample_rate_hz, f"aligner {aligner.source}")
    return replace(clip, words=words, word_time_source=aligner.source)


def _asked(aligner: Aligner, clip: Clip, request: SpeechRequest) -> tuple[ClipWord, ...] | None:
    """Return what the aligner says, each word as the text has it."""
    try:
        found = aligner.align(clip.samples, clip.sample_rate_hz, request.text, request.language)
        words = tuple(found) if isinstance(found, Iterable) else found
    except DuplexkitError:
        raise
    except Exception as error:  # whatever a user's own function does
        raise EngineError(
            f"the aligner {aligner.source!r} failed on {request.text!r}: {type(error).__name__}: {reason_of(error)}"
        ) from error
    if words is None:
        return None
    try:
        return tuple(_word(word, request.text) for word in words)
    except (AttributeError, TypeError, ValueError) as error:
        raise EngineError(
            f"the aligner {aligner.source!r} returned {reprlib.repr(words)} for {request.text!r}: "
            f"{reason_of(error)}; wanted a list of ClipWord, or None"
        ) from error


def _word(word: ClipWord, text: str) -> ClipWord:
    start, stop = index(word.start_char), index(word.stop_char)
    return ClipWord(
        text=text[start:stop],
        start_char=start,
        stop_char=stop,
        onset_s=float(word.onset_s),
        offset_s=float(word.offset_s),
    )


def check_words(words: tuple[ClipWord, ...], text: str, length_s: float, source: str) -> None:
    """Raise SpeechError where words that a user's aligner or table gave are not what they must be."""
    char, reached_s = 0, 0.0
    for word in words:
        if not (char <= word.start_char < word.stop_char <= len(text)):
            raise SpeechError(f"{source}: word {word.text!r} is not in the order of {text!r}")
        if not (reached_s <= word.onset_s <= word.offset_s <= length_s + 1e-6):
            raise SpeechError(
                f"{source}: word {word.text!r} of {text!r} at {word.onset_s:.3f} to "
                f"{word.offset_s:.3f} s is not in order inside the clip of {length_s:.3f} s"
            )
        char, reached_s = word.stop_char, word.offset_s
    covered = {k for word in words for k in range(word.start_char, word.stop_char)}
    lost = [k for k in letter_places(text) if k not in covered]
    if lost:
        raise SpeechError(f"{source}: {text[lost[0]]!r} at {lost[0]} of {text!r} is in no word")


def estimated_words(
    samples: NDArray[np.float32], *, sample_rate_hz: int, text: str, language: str
) -> tuple[ClipWord, ...]:
    """Return the words with times in proportion to their sounds, silences put between words.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        The clip, with the silence around its speech.
    sample_rate_hz : int
    text, language : str

    Raises
    ------
    SpeechError
        If there is no speech, or no word.

    Notes
    -----
    Each word gets a share of the speech in proportion to its number of phonemes (else letters). A silence of
    `HUSH_S` is put at the word boundary nearest to its place in the speech, one after punctuation
    counting as `_INSIDE_COST_S` nearer. How far off it is: docs/engines.md.
    """
    words = words_of(text, language)
    if not words:
        raise SpeechError(f"there is no word in {text!r}")
    spans = speech_spans(samples, sample_rate_hz=sample_rate_hz, min_hush_s=HUSH_S)
    if not spans:
        raise SpeechError(f"there is no speech in the clip of {text!r}")
    edges_s = [(start / sample_rate_hz, stop / sample_rate_hz) for start, stop in spans]
    phrases = _phrases(words, [stop - start for start, stop in edges_s], text)
    timed: list[ClipWord] = []
    for start_s, stop_s, phrase in phrases_at(edges_s, phrases):
        shares = np.cumsum([0.0, *(word.weight for word in phrase)])
        times_s = start_s + (stop_s - start_s) * shares / shares[-1]
        timed += [
            ClipWord(
                text=text[word.start_char : word.stop_char],
                start_char=word.start_char,
                stop_char=word.stop_char,
                onset_s=float(times_s[k]),
                offset_s=float(times_s[k + 1]),
            )
            for k, word in enumerate(phrase)
        ]
    return tuple(timed)


def phrases_at(
    edges_s: Sequence[tuple[float, float]], phrases: Sequence[Sequence[TextWord]]
) -> list[tuple[float, float, Sequence[TextWord]]]:
    """Return each phrase with its bounds; a phrase of no words joins the span before it (or after)."""
    out: list[tuple[float, float, Sequence[TextWord]]] = []
    lead_s: float | None = None
    for (start_s, stop_s), phrase in zip(edges_s, phrases, strict=True):
        if phrase:
            out.append((start_s if lead_s is None else lead_s, stop_s, phrase))
            lead_s = None
        elif out:
            out[-1] = (out[-1][0], stop_s, out[-1][2])
        elif lead_s is None:
            lead_s = start_s
    return out


def _phrases(words: Sequence[TextWord], lengths_s: Sequence[float], text: str) -> list[Sequence[TextWord]]:
    """Return the words of each span of speech: the division that costs least (dynamic programming).

    A silence that no boundary is near costs `_SKIP_COST_S`, and its span gets no words of its own.
    """
    total_s = sum(lengths_s)
    shares = np.cumsum([word.weight for word in words])
    places_s = total_s * shares / shares[-1]  # the end of each word, in seconds of speech
    hushes_s = np.cumsum(lengths_s)[:-1]
    after_mark = [
        bool(re.search(r"[^\w\s'’-]", text[word.stop_char : following.start_char]))
        for word, following in pairwise(words)
    ]
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}  # words given away -> cost, cuts
    for hush_s in hushes_s:
        following: dict[int, tuple[float, tuple[int, ...]]] = {}
        for done, (cost, cuts) in best.items():
            choices = [(done, cost + _SKIP_COST_S)]
            choices += [
                (k, cost + abs(places_s[k - 1] - hush_s) + (0.0 if after_mark[k - 1] else _INSIDE_COST_S))
                for k in range(done + 1, len(words))
            ]
            for k, new_cost in choices:
                if k not in following or new_cost < following[k][0]:
                    following[k] = (new_cost, (*cuts, k))
        best = following
    _, cuts = min(best.values())
    edges = [0, *cuts, len(words)]
    return [words[a:b] for a, b in pairwise(edges)]
