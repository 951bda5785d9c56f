"""Measure the voices of the embedded engine, and how well they can be told apart: see docs/voices.md.

``python tools/voice_table.py`` speaks the sentences with each voice (half an hour; with the extra `quality` and
resemblyzer, docs/quality.md), writes ``builders/speakers/kokoro_measured.json`` and the ratings into
``kokoro_voices.json``. ``--cache DIR`` is the speech cache.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duplexkit.builders.commands_speech import cache_or_default
from duplexkit.builders.engines import run_on
from duplexkit.builders.placed_text import placed_text
from duplexkit.builders.quality import MEASURES
from duplexkit.builders.quality.equal_error import equal_error_rate
from duplexkit.builders.quality.kept import measured
from duplexkit.builders.quality.measure import Tools
from duplexkit.builders.quality.similarity import speech_s, voice_print
from duplexkit.builders.speakers import Speaker, make_speaker
from duplexkit.builders.speakers.kokoro import primary_language
from duplexkit.scenarios.conversation import Voice

SENTENCES = {
    "en": (
        "Last winter our street had no power for two days, and everyone cooked together in the school kitchen.",
        "When you get to the bakery, ask for the round loaf with seeds and a dozen of those small almond cakes.",
        "Nobody in my family plays an instrument, which is why the old piano mostly holds plants and photographs.",
    ),
    "ja": (
        "去年の冬、町が二日間停電して、みんなで学校の台所に集まって料理をしました。",
        "パン屋に着いたら、種の入った丸いパンと、小さいケーキを六個買ってきてください。",
        "うちの家族は誰も楽器を弾かないので、古いピアノの上には花と写真が並んでいます。",
    ),
}
"""What each voice says: not the sentences by which the default sets were chosen (docs/voices.md)."""

FOLDER = Path(__file__).parents[1] / "builders" / "speakers"
VOICES, TABLE = FOLDER / "kokoro_voices.json", FOLDER / "kokoro_measured.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceFigures:
    """What was measured on the sentences of one voice; each print has shape (256,) and length 1."""

    id: str
    language: str
    speech_s: tuple[float, ...]
    dnsmos_ovrl: tuple[float, ...]
    prints: tuple[NDArray[np.float64], ...]

    @property
    def dnsmos(self) -> float:
        """Return the mean rating as the list of voices gives it."""
        return round(float(np.mean(self.dnsmos_ovrl)), 2)


def voice_figures(cache_dir: Path, voice: Voice) -> VoiceFigures:
    """Return what the sentences of the voice's language measure, spoken as a build places them."""
    tools, speaker = Tools(cache_dir=cache_dir), _speaker(cache_dir)
    language = primary_language(voice.languages[0])
    clips = [
        placed_text(text, language=language, voice=voice, speaker=speaker, cache_dir=cache_dir)
        for text in SENTENCES[language]
    ]
    ratings = [measured(MEASURES["dnsmos"], [clip], tools)[0].values["dnsmos_ovrl"] for clip in clips]
    return VoiceFigures(
        id=voice.id,
        language=language,
        speech_s=tuple(round(speech_s(clip), 2) for clip in clips),
        dnsmos_ovrl=tuple(round(rating, 3) for rating in ratings if rating is not None),
        prints=tuple(voice_print(clip, tools) for clip in clips),
    )


@cache
def _speaker(cache_dir: Path) -> Speaker:
    return make_speaker("kokoro", cache_dir)


def same_voice(voice: VoiceFigures) -> list[float]:
    """Return the similarities of each two sentences of a voice."""
    return [float(a @ b) for a, b in combinations(voice.prints, 2)]


def other_voice(one: VoiceFigures, another: VoiceFigures) -> list[float]:
    """Return the similarities of each sentence of one voice with each of another."""
    return [float(a @ b) for a in one.prints for b in another.prints]


def set_figures(voices: Sequence[VoiceFigures]) -> dict[str, Any]:
    """Return how well the voices of a set can be told apart; `pairs` has each two, the closest first."""
    pairs = {(a.id, b.id): other_voice(a, b) for a, b in combinations(voices, 2)}
    same = [value for voice in voices for value in same_voice(voice)]
    other = [value for values in pairs.values() for value in values]
    rate, limit = equal_error_rate(same, other)
    closest = sorted(pairs, key=lambda pair: -max(pairs[pair]))
    return {
        "n_voices": len(voices),
        "dnsmos_ovrl_mean": round(float(np.mean([voice.dnsmos_ovrl for voice in voices])), 3),
        "same_voice": _spread(same),
        "other_voice": _spread(other),
        "equal_error_rate": round(rate, 4),
        "equal_error_limit": round(limit, 3),
        "pairs": [
            [*pair, round(max(pairs[pair]), 3), round(float(np.mean(pairs[pair])), 3)] for pair in closest
        ],
    }


def _spread(values: Sequence[float]) -> dict[str, Any]:
    return {
        "n": len(values),
        "least": round(min(values), 3),
        "mean": round(float(np.mean(values)), 3),
        "most": round(max(values), 3),
    }


def table(figures: Iterable[VoiceFigures], speaker: Speaker, tools: Tools) -> dict[str, Any]:
    """Return the table as it is kept."""
    by_id = {voice.id: voice for voice in figures}
    return {
        "format": 1,
        "about": "Made by tools/voice_table.py; docs/voices.md says how. pairs: two voices, then the largest and "
        "the mean similarity of a sentence of one with a sentence of the other.",
        "engine": speaker.version,
        "measured_with": {name: MEASURES[name].version(tools) for name in ("dnsmos", "similarity")},
        "sentences": {language: list(texts) for language, texts in SENTENCES.items()},
        "voices": [
            {
                "id": voice.id,
                "language": voice.language,
                "speech_s": voice.speech_s,
                "dnsmos_ovrl": voice.dnsmos_ovrl,
                "same_voice": [round(value, 3) for value in same_voice(voice)],
            }
            for voice in by_id.values()
        ],
        "default": {
            language: set_figures([by_id[name] for name in speaker.voice_sets()[language]["default"]])
            for language in SENTENCES
        },
    }


def as_text(data: Mapping[str, Any]) -> str:
    """Return the table as JSON in which a voice or a pair is one line."""
    lines: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: marked(one) for key, one in value.items()}
        if isinstance(value, list) and not all(isinstance(one, str) for one in value):
            lines.extend(json.dumps(one, ensure_ascii=False) for one in value)
            return [f"<line {k}>" for k in range(len(lines) - len(value), len(lines))]
        return value

    text = json.dumps(marked(data), ensure_ascii=False, indent=1)
    return re.sub(r'"<line (\d+)>"', lambda found: lines[int(found[1])], text) + "\n"


def with_ratings(voices: str, ratings: Mapping[str, float]) -> str:
    """Return the text of ``kokoro_voices.json`` with these ratings, everything else as it is."""

    def rated(line: str) -> str:
        named = re.match(r'\s*\{"id": "([^"]+)"', line)
        if named is None or named[1] not in ratings:
            return line
        return re.sub(r'"dnsmos": [^}]+\}', f'"dnsmos": {ratings[named[1]]}}}', line)

    return "\n".join(rated(line) for line in voices.split("\n"))


def main(argv: list[str] | None = None) -> int:
    """Speak, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=cache_or_default(None))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(argv)
    speaker = _speaker(options.cache)
    voices = [v for v in speaker.voices().values() if primary_language(v.languages[0]) in SENTENCES]
    found: dict[str, VoiceFigures] = {}
    for one in run_on("local", partial(voice_figures, options.cache), voices, options.workers):
        found[one.id] = one
        print(f"{len(found)} of {len(voices)}: {one.id}, DNSMOS {one.dnsmos:.2f}", flush=True)
    figures = [found[voice.id] for voice in voices]
    data = table(figures, speaker, Tools(cache_dir=options.cache))
    TABLE.write_text(as_text(data), encoding="utf-8")
    ratings = {voice.id: voice.dnsmos for voice in figures}
    VOICES.write_text(with_ratings(VOICES.read_text(encoding="utf-8"), ratings), encoding="utf-8")
    for language, of_set in data["default"].items():
        print(language, json.dumps({**of_set, "pairs": of_set["pairs"][:5]}, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
