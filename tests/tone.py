"""A test engine whose clips are known to the sample: each word a tone, digital silence between."""

import hashlib
import re
from pathlib import Path

import numpy as np

from duplexkit.builders.speakers import Clip, ClipWord, Engine, SpeechRequest, engines
from duplexkit.scenarios.conversation import Voice

RATE = 24000
GAP = 1440
"""Samples of silence between words: 60 ms."""
BREAK = 4800
"""Samples of silence at an asked break: 200 ms."""
HEAD, TAIL = 6000, 9000


def tone_words(text: str) -> list[tuple[int, int]]:
    """Return the words as spans of characters: runs of letters, Japanese in pieces of four."""
    pieces = []
    for match in re.finditer(r"[^\s,.?!、。？！]+", text):
        start, stop = match.span()
        step = stop - start if match.group().isascii() else 4
        pieces += [(a, min(a + step, stop)) for a in range(start, stop, step)]
    return pieces


def word_samples(word: str, voice: str, speed: float) -> int:
    """Return how long a word is, in samples: 100 to 400 ms, by its letters and who says it."""
    digest = hashlib.sha256(f"{word}|{voice}".encode()).digest()
    return int((2400 + int.from_bytes(digest[:2], "big") % 7200) / speed)


class ToneSpeaker:
    """Speaks tones of 300 to 900 Hz at a constant level; counts what it was asked."""

    engine = "tone"
    version = "1"
    uses_seed = False
    licence = "CC0-1.0"
    n_spoken = 0

    def __init__(self, cache_dir: Path, options: object = None) -> None:
        self.cache_dir = cache_dir

    def voices(self) -> dict[str, Voice]:
        return {
            name: Voice(
                id=name,
                engine="tone",
                languages=("en", "ja"),
                gender="none",
                accent="none",
                licence="CC0-1.0",
                attribution="tests",
                mix=((name, 1.0),),
            )
            for name in ("tone-a", "tone-b", "tone-c", "tone-d")
        }

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        sets = {"default": tuple(self.voices()), "demo": tuple(self.voices())}
        return {"en": sets, "ja": sets}

    def speak(self, request: SpeechRequest) -> Clip:
        ToneSpeaker.n_spoken += 1
        frequency_hz = 300 + 200 * "abcd".index(request.voice.id[-1])
        samples = [np.zeros(HEAD, dtype=np.float32)]
        words = []
        at = HEAD
        for i, (start, stop) in enumerate(tone_words(request.text)):
            if i:
                asked = any(words[-1].start_char < place <= start for place in request.breaks)
                gap = BREAK if asked else GAP
                samples.append(np.zeros(gap, dtype=np.float32))
                at += gap
            word = request.text[start:stop]
            n = word_samples(word, request.voice.id, request.speed)
            # the phase starts at a quarter turn, so that the first and last samples are loud
            samples.append((0.25 * np.cos(2 * np.pi * frequency_hz * np.arange(n) / RATE)).astype(np.float32))
            samples[-1][[0, -1]] = 0.25
            words.append(
                ClipWord(
                    text=word, start_char=start, stop_char=stop, onset_s=at / RATE, offset_s=(at + n) / RATE
                )
            )
            at += n
        samples.append(np.zeros(TAIL, dtype=np.float32))
        return Clip(
            samples=np.concatenate(samples), sample_rate_hz=RATE, words=tuple(words), word_time_source="tones"
        )


def install() -> None:
    """Make the engine known to this process as ``tone``."""
    engines()["tone"] = Engine(
        name="tone",
        make=ToneSpeaker,
        install="part of the tests",
        languages=("en", "ja"),
        code_licence="CC0-1.0",
        weights_licence="CC0-1.0",
        pauses="punctuation",
        uses_seed=False,
        times="engine",
    )
