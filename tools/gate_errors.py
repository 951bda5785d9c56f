"""Count how often the gates on words and ends are wrong, on clips of a build as they are and with planted faults.

``python tools/gate_errors.py FOLDER`` takes English turns of a built folder (with its ``stems/``), one of each
voice in turn, and says of each gate how many clean clips it rejects and how many faults it misses; docs/quality.md has
the figures. Needs the extra `quality`. ``--cache DIR`` is the speech cache.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duplexkit.builders.commands_speech import cache_or_default
from duplexkit.builders.gates import DEFAULT_GATES
from duplexkit.builders.quality import VALUES
from duplexkit.builders.quality.measure import SpokenClip, Tools
from duplexkit.builders.said import all_said
from duplexkit.builders.stems import read_stem

FEWEST_WORDS = 8
REPEATED = 5
CUT_S = 0.3
FADE_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A turn as it was said, its words as spans of samples, and where its speech ends."""

    clip: SpokenClip
    words: tuple[tuple[str, int, int], ...]
    offset: int

    @property
    def chance(self) -> np.random.Generator:
        """Return the generator of this turn: its sound decides it."""
        digest = hashlib.sha256(self.clip.samples.tobytes()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def takes(folder: Path, n: int) -> list[Take]:
    """Return `n` English turns, one of each voice in turn, in the order of their hashes."""
    by_voice: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for said in all_said(folder):
        if said.id.split("/")[1] == "en":
            for turn in said.turns:
                if len(turn["shape"]["words"]) >= FEWEST_WORDS:
                    by_voice.setdefault(turn["provenance"]["voice"], []).append((turn["stem"], turn))
    queues = [sorted(dict(turns).items()) for _, turns in sorted(by_voice.items())]
    chosen = [pair for row in zip_longest(*queues) for pair in row if pair is not None][:n]
    return [_take(folder, turn) for _, turn in chosen]


def _take(folder: Path, turn: Mapping[str, Any]) -> Take:
    shape = turn["shape"]
    return Take(
        clip=SpokenClip(
            samples=read_stem(folder, turn["stem"]),
            sample_rate_hz=turn["sample_rate_hz"],
            text=turn["reading"] or turn["text"],
            language="en",
        ),
        words=tuple((word["text"], word["start"], word["stop"]) for word in shape["words"]),
        offset=shape["offset"],
    )


def without_a_word(take: Take) -> tuple[SpokenClip, str]:
    """Return the clip with a random inner word cut out, and the word."""
    i = int(take.chance.integers(1, len(take.words) - 1))
    text, start, _ = take.words[i]
    return _joined(take.clip, take.clip.samples[:start], take.clip.samples[take.words[i + 1][1] :]), text


def with_words_twice(take: Take) -> tuple[SpokenClip, str]:
    """Return the clip with five words said twice in a row, and the words."""
    i = int(take.chance.integers(0, len(take.words) - REPEATED))
    start, stop = take.words[i][1], take.words[i + REPEATED][1]
    samples = take.clip.samples
    said = " ".join(text for text, _, _ in take.words[i : i + REPEATED])
    return _joined(take.clip, samples[:stop], samples[start:]), said


def without_its_end(take: Take) -> tuple[SpokenClip, str]:
    """Return the clip without the last 0.3 s of its speech, and the last word."""
    stop = take.offset - round(CUT_S * take.clip.sample_rate_hz)
    return replace(take.clip, samples=take.clip.samples[:stop]), take.words[-1][0]


def _joined(clip: SpokenClip, first: NDArray[np.float32], second: NDArray[np.float32]) -> SpokenClip:
    """Return two stretches one after the other, faded into each other."""
    n = round(FADE_S * clip.sample_rate_hz)
    rise = np.linspace(0.0, 1.0, n, dtype=np.float32)
    both = first[-n:] * (1 - rise) + second[:n] * rise
    return replace(clip, samples=np.concatenate([first[:-n], both, second[n:]]))


FAULTS: dict[str, Callable[[Take], tuple[SpokenClip, str]]] = {
    "dropped_words": without_a_word,
    "repeated_words": with_words_twice,
    "end_level_db": without_its_end,
}


def counted(value: str, found: list[Take], tools: Tools) -> Iterator[str]:
    """Yield what a gate does with clean clips and with planted faults, last the counts."""
    (gate,) = (gate for gate in DEFAULT_GATES if gate.value == value)
    measure = VALUES[value][0]
    rejected, missed = [], []
    for take in found:
        if not gate.passes(measure.run((take.clip,), tools).values[value]):
            rejected.append(take.clip.text)
            continue
        planted, what = FAULTS[value](take)
        if gate.passes(measure.run((planted,), tools).values[value]):
            missed.append(what)
    yield from (f"{value}: rejects the clean {text!r}" for text in rejected)
    yield from (f"{value}: misses {what!r}" for what in missed)
    n_planted = len(found) - len(rejected)
    yield f"{value}: rejects {len(rejected)} of {len(found)} clean, misses {len(missed)} of {n_planted}"


def main(argv: list[str] | None = None) -> int:
    """Print the counts of each gate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=cache_or_default(None))
    options = parser.parse_args(argv)
    found = takes(options.folder, options.clips)
    for value in FAULTS:
        for line in counted(value, found, Tools(cache_dir=options.cache)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
