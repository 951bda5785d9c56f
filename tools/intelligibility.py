"""Hear what the embedded engine says in English, with the recogniser of the extra `quality`: see docs/voices.md.

``python tools/intelligibility.py lines`` speaks 100 lines of the script bank, the default voices in turn and each line
by five of them, and counts the words that are heard otherwise, of all and of each voice; then what is left of them when
a line with such a word is spoken again, twice at most, and the best of it stays; then all by one voice, for the
recogniser's own share (half an hour in all). ``python tools/intelligibility.py tokens`` speaks every backchannel of the
bank with every default voice (half an hour). Each writes its part of ``builders/speakers/kokoro_heard.json``. ``--cache
DIR`` is the speech cache.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

from duplexkit.builders.commands_speech import cache_or_default
from duplexkit.builders.engines import run_on
from duplexkit.builders.placed_text import placed_text
from duplexkit.builders.quality.hearing import hear, hearing_version
from duplexkit.builders.quality.measure import Tools
from duplexkit.builders.quality.normal_text import normal_words
from duplexkit.builders.quality.sounds import sounds_of
from duplexkit.builders.quality.wer import FEWEST_WORDS, word_steps
from duplexkit.builders.speakers import Speaker, make_speaker
from duplexkit.scenarios.bank import SHIPPED, load_scripts
from duplexkit.scenarios.markup import shown

LANGUAGE = "en"
N_LINES = 100
TURNS = (0, 5, 9, 13, 21)
"""Line `i` is said by the default voices `i + turn`: by so many that no voice is judged by a few lines alone."""

ONE_VOICE = "af_heart"
"""The voice that upstream grades best: what is misheard of it is mostly the recogniser's own error."""

N_ATTEMPTS = 3
"""How often a build speaks a line at most."""

HEARD = Path(__file__).parents[1] / "builders" / "speakers" / "kokoro_heard.json"
SPELLINGS = {
    "mmhmm": {"mhm", "mmhm", "hmmhmm", "umhum", "umhmm"},
    "uhhuh": {"aha", "ahuh"},
    "hmm": {"hm", "mm", "mmm", "hum"},
    "aww": {"aw", "awe", "awww"},
    "ooh": {"oo", "oooh"},
    "ew": {"eww", "ewww"},
    "oof": {"ooff"},
    "ah": {"aah", "ahh"},
    "whoa": {"woah", "wo"},
}
"""Other ways in which a recogniser may write a sound that has no fixed spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A turn of the bank: where it stands (scenario/script/turn), its text with its marks, and who says it."""

    key: str
    text: str
    function: str
    voice: str = ""
    n_tries: int = 0
    """How often it was spoken before."""


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
    """Return what is heard of a line: how many words it has, which are heard otherwise, and the transcript."""
    speaker = _speaker(cache_dir)
    voice = speaker.voices()[line.voice]
    clip = placed_text(
        line.text,
        language=LANGUAGE,
        voice=voice,
        speaker=speaker,
        cache_dir=cache_dir,
        n_tries=line.n_tries,
    )
    steps, heard = word_steps(clip, Tools(cache_dir=cache_dir))
    wrong = [step for step in steps if step.kind != "same"]
    return {
        "line": line.key,
        "voice": line.voice,
        "n_words": sum(step.kind != "added" for step in steps),
        "n_errors": len(wrong),
        "n_sound_alike": sum(step.kind == "same" and step.wanted != step.heard for step in steps),
        "errors": ", ".join(f"{step.wanted or '-'} > {step.heard or '-'}" for step in wrong),
        "heard": heard.text,
    }


def lines(cache_dir: Path, workers: int) -> dict[str, Any]:
    """Return what is heard of the bank's lines, said by the default voices in turn and again, and by one voice."""
    voices = _speaker(cache_dir).voice_sets()[LANGUAGE]["default"]
    spoken = [
        replace(line, voice=voices[(i + turn) % len(voices)])
        for turn in TURNS
        for i, line in enumerate(bank_lines())
    ]
    alone = [replace(line, voice=ONE_VOICE) for line in bank_lines()]
    found = _heard(cache_dir, spoken, workers)
    best = {_said(one): one for one in found}
    for n in range(1, N_ATTEMPTS):
        behind = [replace(line, n_tries=n) for line in spoken if best[line.key, line.voice]["n_errors"]]
        for one in _heard(cache_dir, behind, workers):
            best[_said(one)] = min(best[_said(one)], one, key=itemgetter("n_errors"))
    return {
        "n_lines": N_LINES,
        "n_voices_a_line": len(TURNS),
        **_counts(found),
        "best_of_attempts": {"attempts": N_ATTEMPTS, **_counts(list(best.values()))},
        "one_voice": {"voice": ONE_VOICE, **_counts(_heard(cache_dir, alone, workers))},
        "by_voice": {
            voice: _counts([one for one in found if one["voice"] == voice]) for voice in sorted(voices)
        },
        "errors": [
            {key: one[key] for key in ("line", "voice", "errors", "heard")} for one in found if one["errors"]
        ],
    }


def _heard(cache_dir: Path, spoken: Sequence[Line], workers: int) -> list[dict[str, Any]]:
    """Return what is heard of each line, in their order."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in run_on("local", partial(heard_line, cache_dir), spoken, workers):
        found[_said(one)] = one
        told = f"{one['line']} by {one['voice']}, {one['n_errors']} of {one['n_words']}"
        print(f"{len(found)} of {len(spoken)}: {told}", flush=True)
    return [found[line.key, line.voice] for line in spoken]


def _said(one: Mapping[str, Any]) -> tuple[str, str]:
    return one["line"], one["voice"]


def _counts(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how many words were said, heard otherwise, and of these written otherwise but sounding the same."""
    n_words, n_errors, n_alike = (
        sum(one[key] for one in found) for key in ("n_words", "n_errors", "n_sound_alike")
    )
    print(f"{n_errors} of {n_words} words: {100 * n_errors / n_words:.2f} %, {n_alike} sound alike")
    return {
        "n_words": n_words,
        "n_errors": n_errors,
        "n_sound_alike": n_alike,
        "word_error_rate": round(n_errors / n_words, 5),
    }


def as_meant(token: str, heard: str) -> bool:
    """Return whether what was heard is the token: the same words, the same sounds, or another spelling of them."""
    wanted, told = (re.sub(r"[^a-z]", "", text.lower()) for text in (token, heard))
    if not told or wanted == told or told in SPELLINGS.get(wanted, ()):
        return bool(told)
    words, found = (normal_words(text, LANGUAGE) for text in (token, heard))
    return words == found or "".join(map(sounds_of, words)) == "".join(map(sounds_of, found))


def heard_token(cache_dir: Path, pair: tuple[str, str]) -> tuple[str, str, str]:
    """Return a token, a voice, and what is heard when the one is said by the other, alone."""
    text, name = pair
    speaker = _speaker(cache_dir)
    voice = speaker.voices()[name]
    clip = placed_text(text, language=LANGUAGE, voice=voice, speaker=speaker, cache_dir=cache_dir)
    return text, name, hear(clip, Tools(cache_dir=cache_dir)).text


def tokens(cache_dir: Path, workers: int) -> dict[str, Any]:
    """Return by whom each backchannel is heard as meant."""
    voices = _speaker(cache_dir).voice_sets()[LANGUAGE]["default"]
    pairs = [(text, name) for text in bank_tokens() for name in voices]
    found: dict[str, dict[str, str]] = {shown(text): {} for text in bank_tokens()}
    for n, (text, name, told) in enumerate(
        run_on("local", partial(heard_token, cache_dir), pairs, workers), 1
    ):
        found[shown(text)][name] = told
        print(f"{n} of {len(pairs)}: {shown(text)} by {name}: {told}", flush=True)
    meant = {token: [v for v in voices if as_meant(token, heard[v])] for token, heard in found.items()}
    n_meant = sum(map(len, meant.values()))
    print(f"{n_meant} of {len(pairs)} pairs are heard as meant")
    otherwise: dict[str, dict[str, list[str]]] = {token: {} for token in found}
    for token, heard in found.items():
        for name in voices:
            if name not in meant[token]:
                otherwise[token].setdefault(heard[name], []).append(name)
    return {
        "n_tokens": len(found),
        "n_pairs": len(pairs),
        "n_heard_as_meant": n_meant,
        "heard_as_meant": {token: " ".join(names) for token, names in meant.items()},
        "heard_otherwise": {
            token: {heard: " ".join(names) for heard, names in others.items()}
            for token, others in otherwise.items()
            if others
        },
    }


def main(argv: list[str] | None = None) -> int:
    """Speak, hear, write one part of the file."""
    parts = {"lines": lines, "tokens": tokens}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=parts)
    parser.add_argument("--cache", type=Path, default=cache_or_default(None))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(argv)
    kept = json.loads(HEARD.read_text(encoding="utf-8")) if HEARD.exists() else {}
    made = {
        "engine": _speaker(options.cache).version,
        "measured_with": hearing_version(Tools(cache_dir=options.cache)),
        **parts[options.part](options.cache, options.workers),
    }
    data = {"format": 1, "about": "Made by tools/intelligibility.py; docs/voices.md says how.", **kept}
    data[options.part] = made
    HEARD.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
