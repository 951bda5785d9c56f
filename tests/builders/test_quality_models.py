"""The trained measures on real speech: planted faults are caught for the right reason, clean speech raises none."""

from pathlib import Path

import numpy as np
import pytest

from duplexkit.acoustics.level import from_pcm16
from duplexkit.builders.gates import gates_of, judge
from duplexkit.builders.quality import MEASURES, measures_named
from duplexkit.builders.quality.measure import SpokenClip, Tools
from duplexkit.builders.quality.sample_values import SampleQuality, measure_sample, usable
from duplexkit.builders.speak import speak_turn
from duplexkit.builders.speakers import make_speaker
from duplexkit.scenarios.conversation import PlannedTurn, Role, Start
from duplexkit.scenarios.gate_limits import CORE_MEASURES
from duplexkit.scenarios.recipe import Checks

NAMES = (*CORE_MEASURES, "dnsmos", "wer", "cer", "spoken_words", "language", "similarity")
MISSING = [name for name in NAMES if MEASURES[name].missing()]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.extras("quality", "similarity"),
    pytest.mark.skipif(
        bool(MISSING),
        reason=f"needs the extra quality and resemblyzer (docs/quality.md), for {', '.join(MISSING)}",
    ),
]

CONTEXT = (
    "Could you tell me how long the ferry takes to the island in winter, and where I can buy the tickets?"
)
BARGE_IN = "Wait, do I need to change boats on the way, or is it a direct connection?"
CLEAN = (
    CONTEXT,
    BARGE_IN,
    "I have never poached an egg in my life, so talk me through the whole thing.",
    "On average it is about three hundred and eighty-four thousand kilometers away.",
    "The ten forty train to the harbor leaves from platform three today.",
    "What would I even add to the soup besides carrots and potatoes?",
    "My brother and his enormous dog came along on the trip last weekend.",
    "Tell me the story of how the canal got built, including the failed first attempt.",
    "She said the meeting was moved to Thursday because the projector is broken.",
    "How strong is gravity on the surface of the planet, compared with here?",
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quality-cache")


def spoken(
    cache: Path,
    text: str,
    *,
    engine: str = "hibari",
    voice: str = "heart",
    language: str = "en",
    said: str | None = None,
    role: str = "user",
) -> SpokenClip:
    """A clip that was to say `text`, in which `said` is spoken, placed as a build places it."""
    speaker = make_speaker(engine, cache)
    turn = PlannedTurn(
        name="t",
        role=Role.USER,
        voice=voice,
        text=said or text,
        speed=1.0,
        start=Start(turn=None, distance_s=0.0),
        move="open",
    )
    utterance = speak_turn(
        turn,
        language=language if engine == "kokoro" else "en",
        voice=speaker.voices()[voice],
        speaker=speaker,
        cache_dir=cache,
        seed=1,
        sample_rate_hz=24000,
        count=lambda what: None,
    )
    return SpokenClip(
        samples=from_pcm16(utterance.pcm),
        sample_rate_hz=24000,
        text=text,
        language=language,
        speaker=voice,
        relation=role,
    )


def faults(cache: Path, *clips: SpokenClip) -> tuple[set[str], SampleQuality]:
    measures = measures_named(NAMES, "here")
    quality = measure_sample(clips, measures, Tools(cache_dir=cache))
    gates = gates_of(Checks(measures=NAMES), ["en", "ja"], "here")
    verdict = judge(quality, clips[0].language, gates, "planted/en/1/0")
    return {finding.name for finding in verdict.findings}, quality


def changed(clip: SpokenClip, samples: np.ndarray) -> SpokenClip:
    return SpokenClip(
        samples=samples.astype(np.float32),
        sample_rate_hz=clip.sample_rate_hz,
        text=clip.text,
        language=clip.language,
        speaker=clip.speaker,
        relation=clip.relation,
    )


def test_clean_samples_raise_nothing_and_keep_the_design_s_numbers(cache: Path) -> None:
    """Thirty: each of ten texts in three speeds of its voice."""
    ovrl, errors = [], []
    for text in CLEAN:
        for voice in ("heart", "heart_low", "heart_high"):
            found, quality = faults(cache, spoken(cache, text, voice=voice))
            assert found == set(), (text, voice, quality.notes)
            ovrl.append(quality.values["dnsmos_ovrl"])
            errors.append(quality.values["wer"])
    assert np.mean(errors) <= 0.03
    assert np.mean(ovrl) >= 3.0


def test_a_wrong_voice_of_the_interruption(cache: Path) -> None:
    context = spoken(cache, CONTEXT)
    assert faults(cache, context, spoken(cache, BARGE_IN))[0] == set()
    found, quality = faults(cache, context, spoken(cache, BARGE_IN, voice="heart_deep"))
    assert found == {"same_voice"}, quality.notes


def test_the_same_voice_in_the_background(cache: Path) -> None:
    context = spoken(cache, CONTEXT)
    assert faults(cache, context, spoken(cache, BARGE_IN, voice="heart_deep", role="other"))[0] == set()
    assert faults(cache, context, spoken(cache, BARGE_IN, role="other"))[0] == {"other_voice"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (CONTEXT.replace("island ", ""), "dropped_words"),
        (CONTEXT.replace("tickets", ""), "dropped_words"),
        (
            CONTEXT.replace("the ferry takes", "the ferry takes to the island, the ferry takes"),
            "repeated_words",
        ),
        (CONTEXT.replace("to the island", "uv break to the island"), "spoken_tags"),
    ],
)
def test_what_was_spoken_wrong(cache: Path, said: str, reason: str) -> None:
    found, quality = faults(cache, spoken(cache, CONTEXT, said=said))
    assert reason in found, quality.notes


def test_damage_to_the_sound(cache: Path) -> None:
    clip = spoken(cache, CONTEXT)
    samples = clip.samples
    end = clip.samples.size - round(0.3 * 24000)
    assert "end_level_db" in faults(cache, changed(clip, samples[:end]))[0]
    assert faults(cache, changed(clip, samples * np.float32(0.1)))[0] == {"active_level_dbov"}
    limit = 0.15 * float(np.abs(samples).max())
    assert "clipped_share" in faults(cache, changed(clip, np.clip(samples, -limit, limit)))[0]
    assert {"speech_s", "wer"} <= faults(cache, changed(clip, np.zeros_like(samples)))[0]


def test_another_language(cache: Path) -> None:
    english_as_japanese = spoken(cache, CONTEXT)
    wrong = SpokenClip(
        samples=english_as_japanese.samples,
        sample_rate_hz=24000,
        text="島までの船は冬はどのくらいかかりますか",
        language="ja",
        speaker="heart",
        relation="user",
    )
    assert "english_log_probability" in faults(cache, wrong)[0]
    japanese = spoken(
        cache,
        CONTEXT,
        engine="kokoro",
        voice="jf_alpha",
        language="ja",
        said="すみません、島までの船は、冬はどのくらいかかりますか。",
    )
    right = SpokenClip(
        samples=japanese.samples,
        sample_rate_hz=24000,
        text="すみません、島までの船は、冬はどのくらいかかりますか。",
        language="ja",
        speaker="jf_alpha",
        relation="user",
    )
    assert faults(cache, right)[0] == set()
    as_english = SpokenClip(
        samples=japanese.samples,
        sample_rate_hz=24000,
        text=CONTEXT,
        language="en",
        speaker="jf_alpha",
        relation="user",
    )
    assert {"english_log_probability", "wer"} <= faults(cache, as_english)[0]


def test_noise_lowers_dnsmos(cache: Path) -> None:
    clip = spoken(cache, CONTEXT)
    noise = np.random.default_rng(1).normal(0, 0.05, clip.samples.size)
    clean = MEASURES["dnsmos"].run((clip,), Tools(cache_dir=cache)).values
    noisy = MEASURES["dnsmos"].run((changed(clip, clip.samples + noise),), Tools(cache_dir=cache)).values
    assert noisy["dnsmos_ovrl"] < clean["dnsmos_ovrl"] - 0.5
    assert noisy["dnsmos_bak"] < clean["dnsmos_bak"] - 0.5


def test_dnsmos_of_tracks_is_that_of_their_sum(cache: Path) -> None:
    clip = spoken(cache, CONTEXT)
    half = changed(clip, clip.samples * np.float32(0.5))
    whole = MEASURES["dialogue_dnsmos"].run((clip,), Tools(cache_dir=cache)).values
    summed = MEASURES["dialogue_dnsmos"].run((half, half), Tools(cache_dir=cache)).values
    assert summed["dialogue_dnsmos_ovrl"] == pytest.approx(whole["dialogue_dnsmos_ovrl"], abs=1e-4)


def test_weights_that_are_not_to_be_had_are_a_reason_and_no_number(cache: Path) -> None:
    asked = measures_named(("squim", "utmosv2", "comet"), "here")
    run, reasons = usable(asked, Tools(cache_dir=cache))
    assert {m.name for m in run} | set(reasons) == {"squim", "utmosv2", "comet"}
    assert all(reasons.values())
