"""The promises on real speech of both languages."""

import numpy as np
import pytest

from duplexkit.acoustics.activity import WEBRTC_BIAS_S, webrtc_spans
from duplexkit.acoustics.agreement import TOLERANCE_S, compare_spans
from duplexkit.acoustics.level import from_pcm16, p56_level_dbov, scale_to_level, to_pcm16, true_peak_dbfs
from duplexkit.acoustics.pauses import Trimmed, trim
from duplexkit.acoustics.presets import PRESETS
from duplexkit.acoustics.resample import resample_to_level
from duplexkit.acoustics.treatments import draw_treatment, treat

pytestmark = pytest.mark.slow

TEXTS = {
    "en": (
        "Wait, do I stir the water before or after?",
        "Okay, that's enough.",
        "Honey, can you turn off the kettle, please?",
    ),
    "ja": (
        "ちょっと待って、それって先に炒めたほうがいい？",
        "もう大丈夫です。",
        "お母さん、電話鳴ってるよ。",
    ),
}


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> list[tuple[np.ndarray, int]]:
    from duplexkit.builders.speakers import SpeechRequest
    from duplexkit.builders.speakers.kokoro import Kokoro

    kokoro = Kokoro(tmp_path_factory.mktemp("kokoro"))
    voices, sets = kokoro.voices(), kokoro.voice_sets()
    clips = []
    for language, texts in TEXTS.items():
        names = sets[language]["default"]
        for i, text in enumerate(texts):
            voice = voices[names[i % len(names)]]
            clip = kokoro.speak(SpeechRequest(text=text, language=language, voice=voice))
            clips.append((clip.samples, clip.sample_rate_hz))
    return clips


@pytest.fixture(scope="module")
def dry(raw) -> list[tuple[Trimmed, np.ndarray]]:
    clips = []
    for samples, rate_hz in raw:
        trimmed = trim(samples, sample_rate_hz=rate_hz)
        spans = [(trimmed.onset, trimmed.offset)]
        clips.append((trimmed, scale_to_level(trimmed.samples, spans=spans, level_dbov=-26.0)))
    return clips


def level_db(samples, span):
    return 10 * np.log10(np.mean(np.asarray(samples[span[0] : span[1]], dtype=np.float64) ** 2))


@pytest.mark.parametrize("name", sorted(preset.name for preset in PRESETS if preset.target_db is not None))
def test_targets_hold_at_24_and_16_khz(dry, name):
    rng = np.random.default_rng(0)
    for trimmed, clip in dry:
        span = (trimmed.onset, trimmed.offset)
        for _ in range(5):
            params = draw_treatment(name, rng)
            treated = treat(clip, params, span=span, reference_level_dbov=-26.0, sample_rate_hz=24_000)
            pcm = to_pcm16(treated.samples)
            assert level_db(pcm / 32_768, span) + 26 == pytest.approx(params.target_db, abs=0.01)
            exported = resample_to_level(
                from_pcm16(pcm), spans=[span], from_rate_hz=24_000, to_rate_hz=16_000
            )
            at_16 = [int(edge * 16_000 / 24_000 + 0.5) for edge in span]
            assert level_db(to_pcm16(exported) / 32_768, at_16) + 26 == pytest.approx(
                params.target_db, abs=0.01
            )


def test_peaks_and_the_second_measure_are_sane(dry):
    for trimmed, clip in dry:
        assert true_peak_dbfs(clip, sample_rate_hz=24_000) <= -1.0
        if trimmed.offset - trimmed.onset > 24_000:
            assert p56_level_dbov(clip, sample_rate_hz=24_000) == pytest.approx(-26.0, abs=1.5)


def test_webrtc_agrees_with_most_trims(raw, dry):
    agreed = 0
    for (samples, rate_hz), (trimmed, _) in zip(raw, dry, strict=True):
        label = (trimmed.onset + trimmed.head + rate_hz, trimmed.offset + trimmed.head + rate_hz)
        padded = np.pad(samples, (rate_hz, rate_hz))
        level = scale_to_level(padded, spans=[label], level_dbov=-26.0)
        heard = webrtc_spans(level, sample_rate_hz=rate_hz, min_hush_s=0.3)
        (agreement,) = compare_spans([label], heard, bias_s=WEBRTC_BIAS_S, sample_rate_hz=rate_hz)
        agreed += agreement.within(TOLERANCE_S)
    assert agreed >= len(dry) - 1
