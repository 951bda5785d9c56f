"""The promise of the calibrated presets, measured by other code on decoded audio, and what must break it."""

import io

import numpy as np
import pytest
import soundfile

from duplexkit.acoustics.level import from_pcm16, scale_to_level, to_pcm16
from duplexkit.acoustics.mix import mix
from duplexkit.acoustics.presets import PRESETS
from duplexkit.acoustics.resample import resample_to_level
from duplexkit.acoustics.treatments import apply_treatment, draw_treatment, treat

RATE_HZ = 24_000
CALIBRATED = sorted(preset.name for preset in PRESETS if preset.target_db is not None)
PROMISE_DB = 0.1


def through_flac(pcm, rate_hz):
    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, rate_hz, format="FLAC", subtype="PCM_16")
    buffer.seek(0)
    return soundfile.read(buffer, dtype="float64")[0]


def measured_db(event_stem, user_stem, event_s, user_s, rate_hz):
    """Return the level of one stretch of time re another, from decoded stems: no code of ours in it."""

    def power(stem, times):
        a, b = (int(np.floor(t * rate_hz + 0.5)) for t in times)
        return np.mean(stem[a:b] ** 2)

    return 10 * np.log10(power(event_stem, event_s) / power(user_stem, user_s))


def stems(rng, syllables, treatment_of):
    """A user's on-axis turn and, later, an event: two stems, their times and the drawn params."""
    user = np.pad(syllables(rng, duration_s=rng.uniform(0.5, 1.5)), (360, 360))
    event = np.pad(syllables(rng, duration_s=rng.uniform(0.3, 1.2)), (360, 360))
    user_span, event_span = (360, user.size - 360), (360, event.size - 360)
    user = scale_to_level(user, spans=[user_span], level_dbov=-26.0)
    event = scale_to_level(event, spans=[event_span], level_dbov=-26.0)
    treated, params = treatment_of(event, event_span, rng)
    n, at = user.size + 6_000 + treated.size, user.size + 6_000
    user_stem = mix([(user, 0)], n_samples=n)
    event_stem = mix([(treated, at)], n_samples=n)
    spans = [(a + at, b + at) for a, b in [event_span]], [user_span]
    return user_stem, event_stem, spans, params


def ours(name):
    def treatment_of(event, span, rng):
        params = draw_treatment(name, rng)
        treated = treat(event, params, span=span, reference_level_dbov=-26.0, sample_rate_hz=RATE_HZ)
        return treated.samples, params

    return treatment_of


def errors_db(rng, syllables, treatment_of):
    """Return measured minus target, at 24 kHz after FLAC and at 16 kHz after a restored export and FLAC."""
    user, event, (event_spans, user_spans), params = stems(rng, syllables, treatment_of)
    times = [[t / RATE_HZ for t in spans[0]] for spans in (event_spans, user_spans)]
    mixed = mix([(user, 0), (event, 0)], n_samples=user.size)
    assert np.max(np.abs(mixed)) < 1.0
    delivered = [through_flac(to_pcm16(stem), RATE_HZ) for stem in (event, user)]
    exported = [
        through_flac(
            to_pcm16(
                resample_to_level(
                    from_pcm16(to_pcm16(stem)), spans=spans, from_rate_hz=RATE_HZ, to_rate_hz=16_000
                )
            ),
            16_000,
        )
        for stem, spans in ((event, event_spans), (user, user_spans))
    ]
    return (
        measured_db(*delivered, *times, RATE_HZ) - params.target_db,
        measured_db(*exported, *times, 16_000) - params.target_db,
    )


@pytest.mark.parametrize("name", CALIBRATED)
def test_levels_hold_in_decoded_audio(syllables, name):
    rng = np.random.default_rng(17)
    errors = np.array([errors_db(rng, syllables, ours(name)) for _ in range(20)])
    assert np.max(np.abs(errors[:, 0])) <= 0.01
    assert np.max(np.abs(errors[:, 1])) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", CALIBRATED)
def test_levels_hold_in_500_decoded_samples(syllables, name):
    rng = np.random.default_rng(18)
    errors = np.array([errors_db(rng, syllables, ours(name)) for _ in range(500)])
    assert np.max(np.abs(errors)) <= PROMISE_DB


# Each of these is a mistake somebody could make in `treat`; the measuring code must see it.


def wrong_span(event, span, rng):
    params = draw_treatment("next_room@1", rng)
    half = (span[0], span[0] + (span[1] - span[0]) // 3)
    filtered = apply_treatment(event, params, sample_rate_hz=RATE_HZ)
    return scale_to_level(filtered, spans=[half], level_dbov=-41.0), params


def gain_before_filters(event, span, rng):
    params = draw_treatment("next_room@1", rng)
    soft = event * np.float32(10 ** (-15 / 20))
    return apply_treatment(soft, params, sample_rate_hz=RATE_HZ), params


def peak_instead_of_rms(event, span, rng):
    params = draw_treatment("next_room@1", rng)
    filtered = apply_treatment(event, params, sample_rate_hz=RATE_HZ)
    return filtered * np.float32(10 ** (-15 / 20) * np.max(np.abs(event)) / np.max(np.abs(filtered))), params


def tail_counted_in(event, span, rng):
    params = draw_treatment("next_room@1", rng)
    filtered = apply_treatment(event, params, sample_rate_hz=RATE_HZ)
    return scale_to_level(filtered, spans=[(0, filtered.size)], level_dbov=-41.0), params


@pytest.mark.parametrize("fault", [wrong_span, gain_before_filters, peak_instead_of_rms, tail_counted_in])
def test_planted_faults_are_caught(syllables, fault):
    rng = np.random.default_rng(19)
    errors = np.array([errors_db(rng, syllables, fault)[0] for _ in range(10)])
    assert np.max(np.abs(errors)) > PROMISE_DB
