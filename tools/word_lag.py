"""Fit Kokoro's word-time lag on some voices and test it on others: see docs/word-times.md.

``python tools/word_lag.py speak FOLDER`` speaks the sentences (some five minutes);
``python tools/word_lag.py measure FOLDER`` compares their word times with the sound. The second needs
numpy, soundfile, soxr and pocketsphinx 5.1.1 and not duplexkit: a venv of its own will do.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
CLOSE_S = 0.060


def speak(folder: Path) -> None:
    """Write each clip, and its words as the tokens have them (the lag is put back)."""
    import soundfile

    from duplexkit.builders.speakers import SpeechRequest, make_speaker
    from duplexkit.builders.speakers.kokoro import BOUNDARY_LAG_S

    folder.mkdir(parents=True, exist_ok=True)
    speaker = make_speaker("kokoro", folder / "cache")
    voices = speaker.voices()
    rows: list[dict[str, Any]] = []
    for part, names, texts in (("fit", FIT_VOICES, FIT_TEXTS), ("test", TEST_VOICES, TEST_TEXTS)):
        for language in names:
            for name in names[language].split():
                for text in texts[language]:
                    clip = speaker.speak(SpeechRequest(text=text, language=language, voice=voices[name]))
                    file = f"{len(rows):03}.wav"
                    soundfile.write(folder / file, clip.samples, clip.sample_rate_hz, subtype="FLOAT")
                    lag_s = BOUNDARY_LAG_S[language]
                    words = [
                        (w.text, w.start_char, w.stop_char, w.onset_s + lag_s, w.offset_s + lag_s)
                        for w in clip.words or ()
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


def energy_errors_s(row: dict[str, Any], spans: list[tuple[float, float]]) -> list[float]:
    """Return sound's onset minus the token's, for the first word and the first after each comma's pause."""
    errors = [spans[0][0] - row["words"][0][3]]
    for (_, hush_start), (hush_stop, _) in pairwise(spans):
        for before, after in pairwise(row["words"]):
            comma = set(row["text"][before[2] : after[1]]) & set(",、")
            if comma and hush_stop - hush_start >= 0.15 and hush_start < after[3] <= hush_stop + 0.25:
                errors.append(hush_stop - after[3])
    return errors


def aligner_onsets_s(text: str, samples: NDArray[np.float32], rate: int) -> list[float]:
    """Return where pocketsphinx has the start of each word."""
    import soxr

    sound = soxr.resample(samples, rate, 16_000) / max(1.0, float(np.abs(samples).max()))
    decoder = import_module("pocketsphinx").Decoder(lm=None, loglevel="FATAL")
    wanted = [re.sub(r"[^a-z']", "", word.lower()) for word in text.split()]
    decoder.set_align_text(" ".join(wanted))
    decoder.start_utt()
    decoder.process_raw((sound * 32_000).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()
    found = [s for s in decoder.seg() if s.word[0].isalpha()]
    assert [re.sub(r"\(\d+\)", "", s.word) for s in found] == wanted
    return [s.start_frame / 100 for s in found]


def spread(errors_s: list[float]) -> str:
    """Return the median, and what is left when it is taken out."""
    errors = np.array(errors_s)
    rest = np.abs(errors - np.median(errors))
    return (
        f"{len(errors)} words, median {np.median(errors) * 1e3:+.0f} ms, spread about it "
        f"{rest.mean() * 1e3:.1f} ms, 95 % within {np.percentile(rest, 95) * 1e3:.0f} ms, "
        f"{100 * np.mean(rest <= CLOSE_S):.1f} % within {CLOSE_S * 1e3:.0f} ms"
    )


def measure(folder: Path) -> None:
    """Print the lag that the fit voices give, and how the test voices do with it."""
    import soundfile

    rows = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    for language in FIT_VOICES:
        lag_s = 0.0
        for part in ("fit", "test"):
            energy: list[float] = []
            aligner: list[float] = []
            bias: list[float] = []
            for row in rows:
                if (row["language"], row["part"]) != (language, part):
                    continue
                samples, rate = soundfile.read(folder / row["file"], dtype="float32")
                spans = speech_spans(samples, rate)
                energy += energy_errors_s(row, spans)
                if language == "en":
                    onsets_s = aligner_onsets_s(row["text"], samples, rate)
                    bias.append(onsets_s[0] - spans[0][0])
                    inner = zip(onsets_s[1:], row["words"][1:], strict=True)
                    aligner += [onset_s - word[3] for onset_s, word in inner]
            if part == "fit":
                lag_s = -float(np.median(energy))
                print(f"{language}: lag {lag_s * 1e3:.0f} ms")
            print(f"  {part} voices, energy after silence: {spread([e + lag_s for e in energy])}")
            if aligner:
                print(f"  {part} voices, pocketsphinx inside: {spread([e + lag_s for e in aligner])}")
                print(f"  {part} voices, pocketsphinx against energy at first words: {spread(bias)}")


if __name__ == "__main__":
    {"speak": speak, "measure": measure}[sys.argv[1]](Path(sys.argv[2]))
