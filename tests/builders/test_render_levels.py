"""The promised levels in whole samples, by other code, on decoded audio; and the mistakes it must see."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import soundfile

from duplexkit.acoustics.level import scale_to_level
from duplexkit.acoustics.presets import PRESETS
from duplexkit.acoustics.treatments import Treated, apply_treatment
from duplexkit.builders import tracks
from duplexkit.builders.check import check_row
from duplexkit.builders.flac import to_flac
from duplexkit.builders.rebuild import rebuild_input
from duplexkit.builders.rows import to_row
from duplexkit.builders.sample import Sample, Utterance
from duplexkit.builders.speak import speak_turn
from duplexkit.builders.speakers import make_speaker
from duplexkit.scenarios.conversation import PlannedTurn, Role, Start
from duplexkit.scenarios.fields import CALIBRATED_TREATMENTS, GAIN_FIRST_TREATMENTS, ON_AXIS, ROOM_TREATMENTS
from duplexkit.scenarios.recipe import Checks
from tests.builders.sounds import RATE, plan_for, pool, rendered

CALIBRATED = sorted(preset.name for preset in PRESETS if preset.target_db is not None)
PROMISE_DB = 0.1


def decoded(pcm: np.ndarray) -> np.ndarray:
    samples, rate = soundfile.read(io.BytesIO(to_flac(pcm, RATE)), dtype="float64")
    assert rate == RATE
    return samples


def error_db(sample: Sample, target_db: float) -> float:
    """Return measured minus target: no function of ours between the decoded tracks and the number."""
    context, event = sample.timeline.turns
    clean = decoded(sample.clean_input)
    alone = decoded(sample.input) - clean
    powers = [
        np.mean(alone[event.onset : event.offset] ** 2),
        np.mean(clean[context.onset : context.offset] ** 2),
    ]
    return float(10 * np.log10(powers[0] / powers[1])) - target_db


def drawn(name: str, i: int, language: str, clips: tuple[Utterance, ...]) -> Sample:
    """Return sample `i` of a preset: clips, room (every other) and all numbers differ from sample to sample."""
    rng = np.random.default_rng(i)
    context, event = (clips[int(k)] for k in rng.integers(len(clips), size=2))
    next_room = "room" in name or "door" in name
    plan = plan_for(
        sample_id=f"{'background_speech' if next_room else 'talking_to_others'}/{language}/x-{i:03d}/0",
        treatment=name,
        role=Role.OTHER if next_room else Role.USER,
        move="background_speech" if next_room else "side_talk",
        room="quiet_room@1" if i % 2 else "none",
        floor_dbov=float(rng.uniform(-72, -62)) if i % 2 else None,
    )
    return rendered(plan, (context, event))


def errors_db(name: str, n: int, clips_of: Callable[[str], tuple[Utterance, ...]]) -> list[float]:
    errors = []
    for language in ("en", "ja"):
        for i in range(n):
            sample = drawn(name, i, language, clips_of(language))
            assert max(np.abs(sample.input).max(), np.abs(sample.untreated_input).max()) < 32767
            errors.append(error_db(sample, sample.treatment.target_db))
    return errors


@pytest.mark.parametrize("name", CALIBRATED)
def test_calibrated_levels_hold_in_decoded_samples(name: str) -> None:
    assert max(map(abs, errors_db(name, 10, lambda language: pool()))) <= PROMISE_DB


def test_names_of_treatments_are_those_of_the_acoustics() -> None:
    assert {*CALIBRATED_TREATMENTS} == {*CALIBRATED, ON_AXIS}
    assert {*GAIN_FIRST_TREATMENTS} == {p.name for p in PRESETS if p.gain_first_db is not None}
    assert {*ROOM_TREATMENTS} == {p.name for p in PRESETS if p.room is not None}


@pytest.mark.parametrize("name", (*GAIN_FIRST_TREATMENTS, *ROOM_TREATMENTS))
def test_levels_that_are_no_target_are_reported_truly(name: str) -> None:
    for i in range(1, 8, 2):
        sample = drawn(name, i, "en", pool())
        assert sample.treatment.target_db is None
        assert abs(error_db(sample, sample.treatment.measured_db)) <= 0.01
        if name in ROOM_TREATMENTS:
            room = sample.treatment.params["room"]
            assert room == sample.room["params"], "the event is in the sample's own room"


@pytest.mark.parametrize("target_db", [0.0, -6.5])
def test_on_axis_sets_the_level_alone(target_db: float) -> None:
    sample = rendered(plan_for(treatment=ON_AXIS, target_db=target_db), pool()[:2])
    assert abs(error_db(sample, target_db)) <= 0.01
    event = sample.timeline.turns[1]
    dry = sample.untreated_input - sample.clean_input.astype(int)
    alone = sample.input - sample.clean_input.astype(int)
    span = slice(event.onset, event.offset)
    scaled = (
        dry[span]
        * 10 ** (target_db / 20)
        * np.sqrt(np.mean(1.0 * alone[span] ** 2))
        / np.sqrt(np.mean((dry[span] * 10 ** (target_db / 20)) ** 2))
    )
    assert np.max(np.abs(alone[span] - scaled)) <= 2


# Each of these is a mistake somebody could make; the measuring code above, and `check`, must see it.


def _done(result: np.ndarray, level_db: float) -> Treated:
    return Treated(samples=result, audible_stop=result.size, measured_db=level_db)


def wrong_span(samples, params, *, span, reference_level_dbov, sample_rate_hz):
    filtered = apply_treatment(samples, params, sample_rate_hz=sample_rate_hz)
    third = (span[0], span[0] + (span[1] - span[0]) // 3)
    level_dbov = reference_level_dbov + params.target_db
    return _done(scale_to_level(filtered, spans=[third], level_dbov=level_dbov), params.target_db)


def gain_before_filters(samples, params, *, span, reference_level_dbov, sample_rate_hz):
    level_dbov = reference_level_dbov + params.target_db
    soft = scale_to_level(samples, spans=[span], level_dbov=level_dbov)
    return _done(apply_treatment(soft, params, sample_rate_hz=sample_rate_hz), params.target_db)


def peak_instead_of_rms(samples, params, *, span, reference_level_dbov, sample_rate_hz):
    filtered = apply_treatment(samples, params, sample_rate_hz=sample_rate_hz)
    gain = 10 ** (params.target_db / 20) * np.max(np.abs(samples)) / np.max(np.abs(filtered))
    return _done(filtered * np.float32(gain), params.target_db)


def tail_counted_in(samples, params, *, span, reference_level_dbov, sample_rate_hz):
    filtered = apply_treatment(samples, params, sample_rate_hz=sample_rate_hz)
    level_dbov = reference_level_dbov + params.target_db
    return _done(
        scale_to_level(filtered, spans=[(0, filtered.size)], level_dbov=level_dbov), params.target_db
    )


@pytest.mark.parametrize("fault", [wrong_span, gain_before_filters, peak_instead_of_rms, tail_counted_in])
def test_planted_faults_are_caught(fault: Callable[..., Treated], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracks, "treat", fault)
    samples = [drawn("next_room@1", i, "en", pool()) for i in range(6)]
    assert max(abs(error_db(sample, -15.0)) for sample in samples) > PROMISE_DB
    found = set()
    for sample in samples:
        row = to_row(sample, recipe_digest="")
        stems = {u.sha256: u.pcm.astype(np.float32) / 32768 for u in sample.utterances}
        found |= {finding.name for finding in check_row(row, Checks(), stems.__getitem__)[0]}
    assert "level" in found


def test_check_finds_a_reported_level_that_is_not_true() -> None:
    sample = drawn("turned_away_room@1", 1, "en", pool())
    row = to_row(sample, recipe_digest="")
    stems = {u.sha256: u.pcm.astype(np.float32) / 32768 for u in sample.utterances}

    def names(row: dict) -> set[str]:
        return {finding.name for finding in check_row(row, Checks(), stems.__getitem__)[0]}

    assert "level" not in names(row)
    wrong = {**row["treatment"], "measured_db": row["treatment"]["measured_db"] + 0.3}
    assert "level" in names({**row, "treatment": wrong})


TEXTS = {
    "en": ("Tell me more.", "Not now, Mia.", "What was that?", "Put it over there."),
    "ja": ("もう少し教えて。", "あとでね。", "それ、なに？", "そこに置いといて。"),
}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Utterance, ...]]:
    """Short clips of the embedded voice, two voices in each language."""
    cache = tmp_path_factory.mktemp("speech")
    speaker = make_speaker("kokoro", cache)
    clips = {}
    for language, texts in TEXTS.items():
        voices = speaker.voice_sets()[language]["demo"]
        clips[language] = tuple(
            speak_turn(
                PlannedTurn(
                    name="turn",
                    role=Role.USER,
                    voice=voices[i % 2],
                    text=text,
                    speed=1.2,
                    start=Start(turn=None, distance_s=0.0),
                    move="open",
                    max_hush_s=0.35,
                ),
                language=language,
                voice=speaker.voices()[voices[i % 2]],
                speaker=speaker,
                cache_dir=cache,
                seed=0,
                sample_rate_hz=RATE,
                count=lambda what: None,
            )
            for i, text in enumerate(texts)
        )
    return clips


@pytest.mark.slow
@pytest.mark.parametrize("name", CALIBRATED)
def test_levels_hold_in_500_samples_of_each_language(
    name: str, spoken: dict[str, tuple[Utterance, ...]]
) -> None:
    errors = errors_db(name, 500, spoken.__getitem__)
    assert len(errors) == 1000 and max(map(abs, errors)) <= PROMISE_DB


@pytest.mark.slow
def test_real_clips_are_made_again(spoken: dict[str, tuple[Utterance, ...]], tmp_path: Path) -> None:
    for language, clips in spoken.items():
        for name in (*CALIBRATED, *ROOM_TREATMENTS):
            sample = drawn(name, 1, language, clips)
            row = to_row(sample, recipe_digest="")
            stems = {u.sha256: u.pcm.astype(np.float32) / 32768 for u in sample.utterances}
            findings, measured = check_row(row, Checks(), stems.__getitem__)
            assert not [finding for finding in findings if finding.name in ("level", "controls", "true_peak")]
            assert measured["detector_agreement"] is not None
            assert rebuild_input(row, partial(dict.__getitem__, stems)) == row["input"]["bytes"]
