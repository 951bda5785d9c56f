"""Fit Kokoro's word-time lag on some voices and test it on others: see docs/word-times.md.

``python tools/word_lag.py speak FOLDER [CACHE]`` speaks the sentences (some half an hour; CACHE is a speech
cache to take clips from and keep them in); ``python tools/word_lag.py measure FOLDER`` compares their word times
with the sound and with other aligners. The second needs the packages that docs/word-times.md names, and not
duplexkit: a venv of its own will do.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations, cycle, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from duplexkit.tools.word_aligners import Align

FIT_VOICES = {
    "en": "af_alloy af_bella af_jessica af_nova af_sarah am_adam am_eric am_liam am_onyx am_santa "
    "bf_emma bf_lily bm_fable bm_lewis",
    "ja": "jf_alpha jf_nezumi jf_nezumi+bf_alice jm_kumo jm_kumo+zm_yunyang",
}
TEST_VOICES = {
    "en": "af_aoede af_heart af_kore af_river af_sky am_echo am_fenrir am_michael am_puck bf_alice "
    "bf_isabella bm_daniel bm_george",
    "ja": "jf_gongitsune jf_gongitsune+af_alloy jf_tebukuro jf_tebukuro+af_nova jm_kumo+zm_yunxi",
}
FIT_TEXTS = {
    "en": (
        "My sister lives in a small town near the river, and every summer we go there to swim.",
        "When the train finally arrived, nobody wanted to get on because it was already full.",
        "Apples and pears are cheap right now, but lemons cost more than they did last year.",
    ),
    "ja": (
        "明日は雨が降るそうなので、傘を持って出かけてください。",
        "弟は野球が好きですが、妹は本を読むほうが好きです。",
        "まず野菜を洗って、それから鍋に水を入れます。",
        "夏になったら、海で泳ぎたいです。",
        "冷蔵庫を開けて、牛乳を出しました。",
        "母が帰ったので、料理を始めましょう。",
    ),
}
TEST_TEXTS = {
    "en": (
        "Our neighbor bought a new car last week, yet he still rides his old bicycle to work.",
        "Before you leave the kitchen, please turn off the oven and close the back window.",
        "Nine people came to dinner, although we had only planned for five or six guests.",
    ),
    "ja": (
        "もう少しゆっくり話してくれたら、私にもわかると思います。",
        "駅の前に新しい店ができたので、週末に行ってみませんか。",
        "電車が遅れていたから、会議に間に合いませんでした。",
        "写真を撮って、友達に送ります。",
        "犬が走ったら、猫も逃げました。",
        "東京に着いたので、荷物を預けたいです。",
    ),
}
BANK_SCENARIOS = ("talking_to_others", "user_interruption")
N_BANK = 105
"""Lines of the script bank in each language, spoken by the test voices in turn."""
CLOSE_S = 0.060
HUSH_S = 0.15


def texts_of(part: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield voice and text: every sentence by every voice, the bank's lines by one voice each."""
    if part != "bank":
        voices, texts = (FIT_VOICES, FIT_TEXTS) if part == "fit" else (TEST_VOICES, TEST_TEXTS)
        yield from ((voice, text) for voice in voices[language].split() for text in texts[language])
        return
    from duplexkit.scenarios.bank import load_scripts

    files = [[s.turns[-1].text for s in load_scripts(name, language)] for name in BANK_SCENARIOS]
    plain = r"[A-Za-z' ,.?!]+" if language == "en" else r"[^\[\]A-Za-z0-9]+"
    lines = (line for row in zip(*files, strict=False) for line in row if re.fullmatch(plain, line))
    yield from zip(cycle(TEST_VOICES[language].split()), islice(lines, N_BANK), strict=False)


def speak(folder: Path, cache: Path) -> None:
    """Write each clip and its words: their spans by the tokens (without the lag), and their starts in a dataset."""
    import soundfile

    from duplexkit.acoustics.pauses import trim
    from duplexkit.builders.speak import request_of, speak_turn
    from duplexkit.builders.speakers import make_speaker
    from duplexkit.builders.speakers.kokoro import BOUNDARY_LAG_S
    from duplexkit.builders.speech_cache import get_or_speak
    from duplexkit.scenarios.conversation import PlannedTurn, Role, Start

    folder.mkdir(parents=True, exist_ok=True)
    speaker = make_speaker("kokoro", cache)
    voices = speaker.voices()
    rows: list[dict[str, Any]] = []
    for language, part in ((a, b) for b in ("fit", "test", "bank") for a in FIT_VOICES):
        for name, text in texts_of(part, language):
            start = Start(turn=None, distance_s=0.0)
            turn = PlannedTurn(
                name="turn", role=Role.USER, voice=name, text=text, speed=1.0, start=start, move="open"
            )
            asked: dict[str, Any] = {"language": language, "voice": voices[name], "seed": 0}
            _, clip = get_or_speak(cache, speaker, request_of(turn, **asked), lambda _: None)
            rate = clip.sample_rate_hz
            told: dict[str, Any] = {"cache_dir": cache, "sample_rate_hz": rate, "count": lambda _: None}
            made = speak_turn(turn, speaker=speaker, **asked, **told)
            loud = clip.samples * np.float32(min(1.0, 0.9 / np.abs(clip.samples).max()))
            head = trim(loud, sample_rate_hz=rate).head
            file = f"{len(rows):03}.wav"
            soundfile.write(folder / file, loud, rate, subtype="FLOAT")
            lag_s = BOUNDARY_LAG_S[language]
            words = [
                {
                    "text": token.text,
                    "start_char": token.start_char,
                    "stop_char": token.stop_char,
                    "token_onset_s": token.onset_s + lag_s,
                    "onset_s": (head + word.start) / rate,
                }
                for token, word in zip(clip.words or (), made.shape.words, strict=True)
            ]
            rows.append({"file": file, "part": part, "language": language, "voice": name})
            rows[-1] |= {"text": text, "words": words}
            (folder / "rows.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def speech_spans(samples: NDArray[np.float32], rate: int) -> list[tuple[float, float]]:
    """Return the spans of sound in seconds: 10 ms windows, 40 dB below the loud ones, holes < 50 ms filled."""
    window, hop = rate // 100, rate // 200
    frames = np.lib.stride_tricks.sliding_window_view(samples, window)[::hop]
    level_db = 10 * np.log10(np.mean(np.square(frames), axis=1) + 1e-12)
    threshold_db = max(np.percentile(level_db, 98) - 40, np.percentile(level_db, 5) + 8, -85)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], level_db > threshold_db, [0]])))
    spans: list[tuple[float, float]] = []
    for first, last in edges.reshape(-1, 2):
        start, stop = first * hop / rate, (last - 1) * hop / rate + 0.010
        if spans and start - spans[-1][1] < 0.05:
            spans[-1] = (spans[-1][0], stop)
        elif stop - start > 0.03:
            spans.append((start, stop))
    return spans


def sound_onsets_s(row: dict[str, Any], spans: list[tuple[float, float]]) -> dict[int, float]:
    """Return where the sound starts, for the first word and the first after each comma's pause, by index."""
    found = {0: spans[0][0]}
    for (_, hush_start), (hush_stop, _) in pairwise(spans):
        for k, (before, after) in enumerate(pairwise(row["words"]), 1):
            comma = set(row["text"][before["stop_char"] : after["start_char"]]) & set(",、")
            token_s = after["token_onset_s"]
            if comma and hush_stop - hush_start >= HUSH_S and hush_start < token_s <= hush_stop + 0.25:
                found[k] = hush_stop
    return found


def spread(errors_s: NDArray[np.float64] | list[float]) -> str:
    """Return the median, and what is left when it is taken out."""
    errors = np.asarray(errors_s)
    rest = np.abs(errors - np.median(errors))
    return (
        f"{len(errors)} words, median {np.median(errors) * 1e3:+.0f} ms, spread about it "
        f"{rest.mean() * 1e3:.1f} ms, 95 % within {np.percentile(rest, 95) * 1e3:.0f} ms, "
        f"{100 * np.mean(rest <= CLOSE_S):.1f} % within {CLOSE_S * 1e3:.0f} ms"
    )


def own_errors_s(times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each column's own standard deviation, from those of the three differences.

    Parameters
    ----------
    times_s : ndarray of shape (n, 3)
        Three measurements of the same n onsets.

    Notes
    -----
    With independent errors ``var(a-b) = var(a) + var(b)``, so ``var(a) = (var(a-b) + var(a-c) - var(b-c)) / 2``.
    Errors that two of the three share are counted as the third's. A negative estimate is given as 0.

    References
    ----------
    J. Gray and D. Allan, "A method for estimating the frequency stability of an individual oscillator", 1974.
    """
    a, b, c = times_s.T
    ab, ac, bc = np.var(a - b), np.var(a - c), np.var(b - c)
    return np.sqrt(np.maximum([(ab + ac - bc) / 2, (ab + bc - ac) / 2, (ac + bc - ab) / 2], 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The onsets of one word in one clip, in seconds; NaN where there is none.

    `sound_s` is known after a silence only, `aligned_s` by aligner.
    """

    part: str
    is_first: bool
    token_s: float
    onset_s: float
    sound_s: float
    aligned_s: dict[str, float]


def measured(folder: Path, rows: list[dict[str, Any]], aligners: dict[str, Align]) -> list[Found]:
    """Return the onsets of all words of the clips, and print which clips an aligner could not do."""
    import soundfile

    out: list[Found] = []
    for row in rows:
        samples, rate = soundfile.read(folder / row["file"], dtype="float32")
        sound_s = sound_onsets_s(row, speech_spans(samples, rate))
        aligned = {name: align(row["text"], samples, rate) for name, align in aligners.items()}
        for name, onsets_s in aligned.items():
            if onsets_s is None:
                print(f"{name} has no words for {row['text']!r}")
        out += [
            Found(
                part=row["part"],
                is_first=k == 0,
                token_s=word["token_onset_s"],
                onset_s=word["onset_s"],
                sound_s=sound_s.get(k, np.nan),
                aligned_s={n: (a or {}).get(word["start_char"], np.nan) for n, a in aligned.items()},
            )
            for k, word in enumerate(row["words"])
        ]
    return out


def measure(folder: Path) -> None:
    """Print the lag that the fit voices give, and how the test voices do with it."""
    known_aligners = import_module("word_aligners")  # the file beside this one
    aligners: dict[str, dict[str, Align]] = {
        "en": {"pocketsphinx": known_aligners.sphinx_onsets_s, "hama": known_aligners.ctc_onsets_s},
        "ja": {"snfa": known_aligners.snfa_onsets_s},
    }
    everything = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    for language, named in aligners.items():
        rows = [row for row in everything if row["language"] == language]
        clips = ((row["voice"], row["text"], folder / row["file"]) for row in rows)
        named["viter"] = known_aligners.trained_viter(folder / f"viter-{language}", clips, language)
        by_part: dict[str, list[Found]] = defaultdict(list)
        for word in measured(folder, rows, named):
            by_part[word.part].append(word)
        known = [w.token_s - w.sound_s for w in by_part["fit"] if not np.isnan(w.sound_s)]
        lag_s = float(np.median(known))
        print(f"{language}: lag {lag_s * 1e3:.0f} ms")
        for part, words in by_part.items():
            print(f" {part}")
            report_after_silence(words, list(named), lag_s)
            report_all_but_first(words, list(named))


def report_after_silence(words: list[Found], names: list[str], lag_s: float) -> None:
    """Print how far the tokens, and each aligner, are from where the sound starts."""
    words = [w for w in words if not np.isnan([w.sound_s, *(w.aligned_s[name] for name in names)]).any()]
    tokens = np.array([w.token_s - lag_s - w.sound_s for w in words])
    print(f"  sound after silence - tokens less lag: {spread(-tokens)}")
    for name in names:
        theirs = np.array([w.aligned_s[name] - w.sound_s for w in words])
        print(f"  {name} - sound after silence: {spread(theirs)}")
        print(f"    correlation with the tokens: {np.corrcoef(tokens, theirs)[0, 1]:+.2f}")


def report_all_but_first(words: list[Found], names: list[str]) -> None:
    """Print how far the words of a dataset and the aligners are from each other, two by two and in threes."""
    times = np.array([(w.onset_s, *(w.aligned_s[n] for n in names)) for w in words if not w.is_first])
    times = times[~np.isnan(times).any(axis=1)]
    sources = ["dataset", *names]
    for a, b in combinations(range(len(sources)), 2):
        print(f"  {sources[b]} - {sources[a]}, all but first: {spread(times[:, b] - times[:, a])}")
    for three in combinations(range(len(sources)), 3):
        own_s = own_errors_s(times[:, three])
        told = ", ".join(f"{sources[k]} {1e3 * s:.0f} ms" for k, s in zip(three, own_s, strict=True))
        print(f"  own standard deviation, if independent: {told}")


if __name__ == "__main__":
    target = Path(sys.argv[2])
    if sys.argv[1] == "speak":
        speak(target, Path(sys.argv[3]) if sys.argv[3:] else target / "cache")
    else:
        measure(target)
