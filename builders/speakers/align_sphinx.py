"""English word times by forced alignment with pocketsphinx; pronunciations come from our reading rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import SpeechError
from ...acoustics.level import to_pcm16
from ...acoustics.resample import resample
from . import ClipWord
from .g2p_en import groups_en
from .options import needed, speaks
from .phonemes import PhonemeGroup

BIAS_S = 0.020
"""How much earlier pocketsphinx puts a word's onset than it is heard: docs/engines.md."""

_RATE_HZ = 16_000
_FRAME_S = 0.01
_PEAK = 0.9

ARPABET = {
    "A": "EY", "I": "AY", "O": "OW", "Q": "OW", "W": "AW", "Y": "OY", "a": "AE", "æ": "AE", "ɐ": "AH", "ɑ": "AA",
    "ɒ": "AA", "ɔ": "AO", "ə": "AH", "ᵊ": "AH", "ɚ": "ER", "ɜ": "ER", "ɪ": "IH", "i": "IY", "ᵻ": "IH",
    "u": "UW", "ʊ": "UH", "ʌ": "AH", "ɛ": "EH", "e": "EH", "b": "B", "d": "D", "f": "F", "ɡ": "G",
    "h": "HH", "j": "Y", "k": "K", "l": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P", "ɹ": "R", "s": "S",
    "ʃ": "SH", "t": "T", "T": "T", "ʔ": "T", "ɾ": "D", "θ": "TH", "ð": "DH", "v": "V", "w": "W", "z": "Z",
    "ʒ": "ZH", "ʤ": "JH", "ʧ": "CH",
}  # fmt: skip
"""The reading rules' symbol (misaki's alphabet) -> pocketsphinx's."""


def arpabet(phonemes: str) -> tuple[str, ...]:
    """Return the phonemes in pocketsphinx's alphabet; stress, length and marks are left out.

    Examples
    --------
    >>> arpabet("tˈAbᵊl"), arpabet("wˈɜɹd")
    (('T', 'EY', 'B', 'AH', 'L'), ('W', 'ER', 'D'))
    """
    out: list[str] = []
    for char in phonemes:
        sound = ARPABET.get(char)
        if sound == "R" and out and out[-1] == "ER":
            continue
        if sound is not None:
            out.append(sound)
    return tuple(out)


def align_english(
    samples: NDArray[np.float32], sample_rate_hz: int, text: str, language: str
) -> Sequence[ClipWord] | None:
    """Return the words with their times, or None for another language or where the alignment fails.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    sample_rate_hz : int
    text, language : str

    Raises
    ------
    EngineError
        If pocketsphinx is not installed.
    """
    if not speaks(("en",), language):
        return None
    try:
        groups = groups_en(text)
    except SpeechError:
        return None
    names = [_name(group) for group in groups]
    if not all(names):
        return None
    decoder = _decoder()
    for name in names:
        if decoder.lookup_word(name) is None:
            decoder.add_word(name, name.replace("_", " "), True)
    segments = _segments(decoder, names, samples, sample_rate_hz)
    if [name for name, _, _ in segments] != names:
        return None
    return _words(groups, segments, text, samples.size / sample_rate_hz)


def _name(group: PhonemeGroup) -> str:
    return "_".join(arpabet(group.phonemes))


@cache
def _decoder() -> Any:
    """Return pocketsphinx with its own acoustic model, loaded once in a process."""
    sphinx = needed("pocketsphinx", engine="pocketsphinx", install="pip install pocketsphinx==5.1.1")
    return sphinx.Decoder(lm=None, loglevel="FATAL", bestpath=False, beam=1e-80, wbeam=1e-60)


def _segments(
    decoder: Any, names: list[str], samples: NDArray[np.float32], sample_rate_hz: int
) -> list[tuple[str, int, int]]:
    """Return name, first and last frame of each word; nothing where the words do not fit the sound."""
    dense = resample(samples, from_rate_hz=sample_rate_hz, to_rate_hz=_RATE_HZ)
    peak = float(np.abs(dense).max())
    pcm = to_pcm16((dense * np.float32(_PEAK / peak)).astype(np.float32) if peak > _PEAK else dense)
    decoder.set_align_text(" ".join(names))
    decoder.start_utt()
    decoder.process_raw(pcm.tobytes(), full_utt=True)
    decoder.end_utt()
    if decoder.hyp() is None:
        return []
    return [
        (segment.word, segment.start_frame, segment.end_frame)
        for segment in decoder.seg()
        if segment.word[0] not in "<[("
    ]


def _words(
    groups: Sequence[PhonemeGroup], segments: list[tuple[str, int, int]], text: str, length_s: float
) -> list[ClipWord]:
    onsets_s = [min(first * _FRAME_S + BIAS_S, length_s) for _, first, _ in segments] + [length_s]
    return [
        ClipWord(
            text=text[group.start_char : group.stop_char],
            start_char=group.start_char,
            stop_char=group.stop_char,
            onset_s=onsets_s[k],
            offset_s=min(max((last + 1) * _FRAME_S + BIAS_S, onsets_s[k]), onsets_s[k + 1]),
        )
        for k, (group, (_, _, last)) in enumerate(zip(groups, segments, strict=True))
    ]
