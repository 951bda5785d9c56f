"""Hear what the embedded engine says in English, with the recogniser of the extra `quality`: see docs/quality.md.

``python tools/intelligibility.py lines`` speaks 100 lines of the script bank, the default voices in turn, and counts
the words that are heard otherwise. ``python tools/intelligibility.py tokens`` speaks every backchannel of the bank
with every default voice (an hour). Each writes its part of ``builders/speakers/kokoro_heard.json``. ``--cache DIR`` is
the speech cache.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from duplexkit.builders.engines import run_on
from duplexkit.builders.placed_text import placed_text
from duplexkit.builders.quality.alignment import n_errors
from duplexkit.builders.quality.measure import Tools
from duplexkit.builders.quality.normal_text import normal_words
from duplexkit.builders.quality.wer import FEWEST_WORDS, word_steps
from duplexkit.builders.speakers import Speaker, make_speaker
from duplexkit.scenarios.bank import SHIPPED, load_scripts
from duplexkit.scenarios.markup import shown

LANGUAGE = "en"
N_LINES = 100
HEARD = Path(__file__).parents[1] / "builders" / "speakers" / "kokoro_heard.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A turn of the bank: where it stands (scenario/script/turn), its text with its marks, and who says it."""

    key: str
    text: str
    function: str
    voice: str = ""


def bank_turns() -> dict[str, list[Line]]:
    """Return all English turns of the bank by scenario, in the order of the SHA-256 of their keys."""
    found = {}
    for scenario in sorted(path.stem for path in (SHIPPED / LANGUAGE).glob("*.jsonl")):
        turns = [
            Line(key=f"{scenario}/{script.id}/{i}", text=turn.text, function=turn.function)
            for script in load_scripts(scenario, LANGUAGE)
            for i, turn in enumerate(script.turns)
        ]
        found[scenario] = sorted(turns, key=lambda turn: hashlib.sha256(turn.key.encode()).hexdigest())
    return found


def bank_lines(n: int = N_LINES) -> list[Line]:
    """Return `n` turns of three words and more that are no backchannels: one of each scenario in turn."""
    long = [
        [t for t in turns if not t.function and len(normal_words(shown(t.text), LANGUAGE)) >= FEWEST_WORDS]
        for turns in bank_turns().values()
    ]
    return [line for line in chain.from_iterable(zip_longest(*long)) if line is not None][:n]


def bank_tokens() -> list[str]:
    """Return the different backchannels of the bank, with their readings."""
    return sorted(
        {turn.text for turns in bank_turns().values() for turn in turns if turn.function}, key=shown
    )


@cache
def _speaker(cache_dir: Path) -> Speaker:
    return make_speaker("kokoro", cache_dir)


def heard_line(cache_dir: Path, line: Line) -> dict[str, Any]:
    """Return what is heard of a line: its words, the errors among them as [wanted, heard], and the transcript."""
    speaker = _speaker(cache_dir)
    voice = speaker.voices()[line.voice]
    clip = placed_text(line.text, language=LANGUAGE, voice=voice, speaker=speaker, cache_dir=cache_dir)
    steps, heard = word_steps(clip, Tools(cache_dir=cache_dir))
    return {
        "line": line.key,
        "voice": line.voice,
        "n_words": sum(step.kind != "added" for step in steps),
        "n_errors": n_errors(steps),
        "errors": [[step.wanted, step.heard] for step in steps if step.kind != "same"],
        "heard": heard.text,
    }


def lines(cache_dir: Path, workers: int) -> dict[str, Any]:
    """Return what is heard of the bank's lines, said by the default voices in turn."""
    voices = _speaker(cache_dir).voice_sets()[LANGUAGE]["default"]
    spoken = [replace(line, voice=voices[i % len(voices)]) for i, line in enumerate(bank_lines())]
    found: dict[str, dict[str, Any]] = {}
    for one in run_on("local", partial(heard_line, cache_dir), spoken, workers):
        found[one["line"]] = one
        print(
            f"{len(found)} of {len(spoken)}: {one['line']}, {one['n_errors']} of {one['n_words']}", flush=True
        )
    ordered = [found[line.key] for line in spoken]
    n_words, errors = sum(one["n_words"] for one in ordered), sum(one["n_errors"] for one in ordered)
    print(f"{errors} of {n_words} words: {100 * errors / n_words:.2f} %")
    return {
        "n_lines": len(ordered),
        "n_words": n_words,
        "n_errors": errors,
        "word_error_rate": round(errors / n_words, 5),
        "errors": [
            {key: one[key] for key in ("line", "voice", "errors", "heard")}
            for one in ordered
            if one["errors"]
        ],
    }
