"""The measures that need no model, on signals whose values can be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import RecipeError
from duplexkit.builders.quality import MEASURES, VALUES, measures_named, require
from duplexkit.builders.quality.measure import Measured, SpokenClip, Tools
from duplexkit.builders.quality.pitch import f0_track_hz
from duplexkit.builders.quality.sample_values import measure_sample, pool
from duplexkit.builders.quality.truncation import end_level_db
from duplexkit.scenarios.gate_limits import CORE_MEASURES

RATE = 24000


def tone(
    length_s: float = 2.0, frequency_hz: float = 200.0, level: float = 0.1, pad_s: float = 0.02
) -> np.ndarray:
    """A sine of some level with zeros around."""
    n = np.arange(round(length_s * RATE))
    pad = np.zeros(round(pad_s * RATE))
    wave = level * np.sin(2 * np.pi * frequency_hz * n / RATE)
    return np.concatenate([pad, wave, pad]).astype(np.float32)


def clip(samples: np.ndarray, text: str = "", language: str = "en") -> SpokenClip:
    return SpokenClip(samples=samples, sample_rate_hz=RATE, text=text, language=language)


@pytest.fixture
def tools(tmp_path) -> Tools:
    return Tools(cache_dir=tmp_path)


def values(name: str, spoken: SpokenClip, tools: Tools) -> dict[str, float | None]:
    return dict(MEASURES[name].run((spoken,), tools).values)


def test_level_is_that_of_a_sine(tools: Tools) -> None:
    found = values("active_level", clip(tone(level=0.1)), tools)["active_level_dbov"]
    assert found == pytest.approx(20 * np.log10(0.1) - 10 * np.log10(2), abs=0.1)
    quiet = values("active_level", clip(tone(level=0.01)), tools)["active_level_dbov"]
    assert found - quiet == pytest.approx(20.0, abs=0.01)


def test_silence_has_the_lowest_level_and_no_speech(tools: Tools) -> None:
    silent = clip(np.zeros(RATE, dtype=np.float32))
    assert values("active_level", silent, tools)["active_level_dbov"] == -120.0
    assert values("silences", silent, tools) == {
        "leading_silence_s": 1.0,
        "trailing_silence_s": 1.0,
        "longest_silence_s": 1.0,
        "speech_s": 0.0,
    }
    assert values("truncation", silent, tools)["end_level_db"] is None


def test_silences_are_where_they_were_put(tools: Tools) -> None:
    hush = np.zeros(round(0.4 * RATE), dtype=np.float32)
    spoken = np.concatenate([tone(1.0, pad_s=0.25), hush, tone(1.5, pad_s=0.1)])
    found = values("silences", clip(spoken), tools)
    assert found["leading_silence_s"] == pytest.approx(0.25, abs=0.006)
    assert found["trailing_silence_s"] == pytest.approx(0.1, abs=0.006)
    assert found["longest_silence_s"] == pytest.approx(0.25 + 0.4 + 0.1, abs=0.011)
    assert found["speech_s"] == pytest.approx(2.5, abs=0.02)


@given(limit=st.floats(0.2, 0.9), gain=st.floats(0.01, 1.0))
def test_clipping_is_seen_at_any_level(limit: float, gain: float) -> None:
    """A sine of period 120 samples clipped at `limit` lies above it for 1 - 2 asin(limit) / pi of the time."""
    wave = np.sin(2 * np.pi * np.arange(12000) / 120 + 0.1)
    clipped = (np.clip(wave, -limit, limit) * gain).astype(np.float32)
    found = values("clipping", clip(clipped), Tools(cache_dir=None))["clipped_share"]  # type: ignore[arg-type]
    assert found == pytest.approx(1 - 2 * np.arcsin(limit) / np.pi, abs=0.04)
    whole = values("clipping", clip((wave * gain).astype(np.float32)), Tools(cache_dir=None))  # type: ignore[arg-type]
    assert (
        whole["clipped_share"] <= 0.034 or limit > 0.99
    )  # 0.1 % below the top of so slow a sine: two samples


def test_a_clip_that_stops_in_a_sound_is_loud_at_its_end() -> None:
    whole = tone(1.0)
    assert end_level_db(clip(whole)) == -100.0
    cut = whole[: round(0.7 * RATE)]
    assert end_level_db(clip(cut)) == pytest.approx(0.0, abs=0.5)
    faded = cut.copy()
    faded[-120:] *= np.linspace(1, 0, 120, dtype=np.float32)  # the 5 ms that placing fades: 3/8 + 5/8 * 1/3
    assert end_level_db(clip(faded)) == pytest.approx(10 * np.log10(3 / 8 + 5 / 24), abs=0.6)


@pytest.mark.parametrize("frequency_hz", [80.0, 123.4, 220.0, 330.0])
def test_pitch_of_pulses(frequency_hz: float) -> None:
    """A sum of twelve harmonics has its pitch at the fundamental, even when that is absent."""
    n = np.arange(RATE) / RATE
    wave = sum(np.sin(2 * np.pi * k * frequency_hz * n) / k for k in range(2, 13)).astype(np.float32) * 0.1
    track = f0_track_hz(wave, sample_rate_hz=RATE)
    assert np.median(track) == pytest.approx(frequency_hz, rel=0.01)


def test_noise_has_no_pitch(tools: Tools) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32)
    assert values("pitch", clip(noise), tools)["f0_hz"] is None


def test_an_octave_of_glide_is_twelve_semitones_between_its_ends(tools: Tools) -> None:
    """100 to 200 Hz in equal ratios: from the 10th to the 90th percentile it moves 0.8 octaves."""
    t = np.arange(3 * RATE) / RATE
    phase = 2 * np.pi * 100 * 3 / np.log(2) * (2 ** (t / 3) - 1)
    wave = sum(np.sin(k * phase) / k for k in range(1, 8)).astype(np.float32) * 0.1
    found = values("pitch", clip(wave), tools)
    assert found["f0_spread_st"] == pytest.approx(9.6, abs=0.5)
    assert found["f0_hz"] == pytest.approx(100 * np.sqrt(2), rel=0.02)


def test_speaking_rate_counts_letters_over_speech(tools: Tools) -> None:
    spoken = clip(tone(2.0), text="Eleven, plus nine!")
    assert values("speaking_rate", spoken, tools)["speaking_rate_hz"] == pytest.approx(14 / 2.0, rel=0.01)
    short = clip(tone(0.5), text="Yes")
    assert values("speaking_rate", short, tools)["speaking_rate_hz"] is None


def test_pooling() -> None:
    found = [Measured(values={"x": v}, weight=w) for v, w in ((1.0, 1.0), (2.0, 3.0), (None, 9.0))]
    assert pool(found, "x", "mean") == 1.5
    assert pool(found, "x", "pooled") == 1.75
    assert pool(found, "x", "most") == 2.0
    assert pool(found, "x", "least") == 1.0
    assert pool(found[2:], "x", "pooled") is None


def test_a_clip_is_measured_once(tools: Tools) -> None:
    clips = [clip(tone(1.0)), clip(tone(1.2))]
    core = measures_named(CORE_MEASURES, "here")
    first = measure_sample(clips, core, tools)
    again = measure_sample(clips, core, tools)
    assert first.n_new == 2 * len(core) and again.n_new == 0
    assert first.values == again.values and first.by_turn == again.by_turn


def test_a_damaged_entry_is_measured_again(tools: Tools) -> None:
    core = measures_named(CORE_MEASURES, "here")
    first = measure_sample([clip(tone())], core, tools)
    for path in tools.cache_dir.rglob("*.json"):
        path.write_text(path.read_text()[:10])
    again = measure_sample([clip(tone())], core, tools)
    assert again.n_new == len(core) and again.values == first.values


def test_every_measure_states_what_it_is() -> None:
    for measure in MEASURES.values():
        assert measure.source and 0 < measure.cost <= 10 and measure.values
        assert all(value.unit and value.meaning for value in measure.values)
    assert len(VALUES) == sum(len(measure.values) for measure in MEASURES.values()), "names are unique"
    assert all(not MEASURES[name].missing() for name in CORE_MEASURES), "the core needs no extra"


def test_an_unknown_measure_is_answered_with_the_known_ones() -> None:
    with pytest.raises(RecipeError, match=r"--measure: 'dnsmoss': unknown measure; did you mean 'dnsmos'"):
        measures_named(["dnsmoss"], "--measure")


def test_what_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duplexkit.builders.quality.measure.find_spec", lambda name: None)
    with pytest.raises(
        RecipeError, match=r"dnsmos needs speechmos, librosa: pip install 'duplexkit\[quality\]'"
    ):
        require(measures_named(["dnsmos", "pitch"], "x"), "x")
    require(measures_named(["pitch"], "x"), "x")
