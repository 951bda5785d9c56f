"""Labels are true to the sample: tones whose samples are known, over random plans of every scenario."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit.builders.cast import voice_pools
from duplexkit.builders.jobs import jobs_of, plan_of
from duplexkit.builders.place import place
from duplexkit.builders.render import draw_acoustics, render
from duplexkit.builders.sample import Sample
from duplexkit.builders.seeds import rng_for
from duplexkit.builders.speak import speak_turn
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.recipe import load_recipe
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker


def make(folder: Path, scenario: str, seed: int, language: str, position: int) -> Sample:
    path = folder / f"{scenario}.toml"
    path.write_text(tone_recipe_text(scenario, seed=seed, count=4, room="none"), encoding="utf-8")
    recipe = load_recipe(str(path))
    speaker = ToneSpeaker(folder)
    pools = voice_pools(recipe, speaker)
    job = [job for job in jobs_of(recipe) if job.language == language][position]
    plan = plan_of(recipe, job, pools)
    utterances = tuple(
        speak_turn(
            turn,
            language=language,
            voice=speaker.voices()[turn.voice],
            speaker=speaker,
            cache_dir=folder / "cache",
            seed=0,
            sample_rate_hz=24000,
            count=lambda what: None,
        )
        for turn in plan.turns
    )
    timeline = place(plan, tuple(u.shape for u in utterances), sample_rate_hz=24000)
    return render(plan, timeline, utterances, draw_acoustics(plan, partial(rng_for, seed, job.id)))


def sounding(track: np.ndarray, *, gap: int = 1500) -> list[tuple[int, int]]:
    """Return the stretches of sound with less than `gap` zeros inside, read off the samples alone."""
    loud = np.flatnonzero(track)
    breaks = np.flatnonzero(np.diff(loud) > gap)
    starts = [loud[0], *loud[breaks + 1]]
    stops = [*loud[breaks], loud[-1]]
    return [(int(a), int(b) + 1) for a, b in zip(starts, stops, strict=True)]


def near(value: int, times: list[int]) -> bool:
    return any(abs(value - time) <= 1 for time in times)


seeds = st.integers(0, 2**31)


@pytest.mark.parametrize(
    "scenario", ["user_interruption", "user_backchannel", "talking_to_others", "background_speech"]
)
@given(seed=seeds, language=st.sampled_from(["en", "ja"]), position=st.integers(0, 3))
@settings(max_examples=8)
def test_overlap_events_are_exact(
    tmp_path_factory: pytest.TempPathFactory, scenario: str, seed: int, language: str, position: int
) -> None:
    sample = make(tmp_path_factory.mktemp("tones"), scenario, seed, language, position)
    shift, event = sample.annotation.events
    heard = sample.untreated_input if sample.untreated_input is not None else sample.input
    context, happening = sounding(sample.clean_input), sounding(heard.astype(int) - sample.clean_input)
    assert abs(shift.onset - context[-1][1]) <= 1 and shift.onset == shift.offset
    assert abs(event.onset - happening[0][0]) <= 1
    assert abs(event.offset - happening[-1][1]) <= 1
    wait = sample.plan.turns[1].start.distance_s * 24000
    assert abs(event.onset - shift.offset - wait) <= 1
    # outside the event, input is clean_input; its sound starts no earlier and ends where the row says
    differs = np.flatnonzero(sample.input != sample.clean_input)
    assert event.onset - 480 <= differs[0] and differs[-1] < event.audible_end


@given(seed=seeds, language=st.sampled_from(["en", "ja"]), position=st.integers(0, 3))
@settings(max_examples=12)
def test_pauses_are_exact(
    tmp_path_factory: pytest.TempPathFactory, seed: int, language: str, position: int
) -> None:
    sample = make(tmp_path_factory.mktemp("tones"), "pause_handling", seed, language, position)
    pieces = sounding(sample.input, gap=5000)
    silences = [(a[1], b[0]) for a, b in pairwise(pieces)]
    pauses = [event for event in sample.annotation.events if event.kind == "pause"]
    assert len(pauses) == len(silences) >= 1
    for event, (start, stop) in zip(pauses, silences, strict=True):
        assert abs(event.onset - start) <= 1 and abs(event.offset - stop) <= 1
        assert abs((event.offset - event.onset) / 24000 - event.intended_s) <= 2 / 24000
        assert 0.4 <= (event.offset - event.onset) / 24000 <= 1.0
    assert sample.input.size == pieces[-1][1], "the input ends with the last speech sample"


@pytest.mark.parametrize("scenario", ["smooth_turn_taking", "backchannel"])
@given(seed=seeds, language=st.sampled_from(["en", "ja"]), position=st.integers(0, 3))
@settings(max_examples=6)
def test_turn_ends_and_places_are_exact(
    tmp_path_factory: pytest.TempPathFactory, scenario: str, seed: int, language: str, position: int
) -> None:
    sample = make(tmp_path_factory.mktemp("tones"), scenario, seed, language, position)
    pieces = sounding(sample.input, gap=1400)
    shift = sample.annotation.events[-1]
    assert shift.kind == "shift" and abs(shift.onset - pieces[-1][1]) <= 1
    word_ends = [stop for _, stop in pieces]
    for event in sample.annotation.events[:-1]:
        assert event.kind == "trp" and near(event.onset, word_ends)


@given(seed=seeds, language=st.sampled_from(["en", "ja"]), position=st.integers(0, 3))
@settings(max_examples=15)
def test_dialogue_events_are_exact(
    tmp_path_factory: pytest.TempPathFactory, seed: int, language: str, position: int
) -> None:
    sample = make(tmp_path_factory.mktemp("tones"), "mt_qa", seed, language, position)
    user, system = sounding(sample.input, gap=1400), sounding(sample.system, gap=1400)
    edges = {"user": user, "system": system}
    onsets = {role: [a for a, _ in spans] for role, spans in edges.items()}
    offsets = {role: [b for _, b in spans] for role, spans in edges.items()}
    for event in sample.annotation.events:
        taker = event.role.value
        giver = "user" if taker == "system" else "system"
        if event.kind == "shift":
            overlap = event.fto_s < 0
            given_at, taken_at = (event.offset, event.onset) if overlap else (event.onset, event.offset)
            assert near(given_at, offsets[giver]) and near(taken_at, onsets[taker])
            assert event.fto_s >= -0.4 - 1 / 24000
            if not (sample.timeline.shortened_overlaps or sample.timeline.redrawn_overlaps):
                assert abs(event.fto_s - event.intended_fto_s) <= 1 / 24000
        elif event.kind in ("hold", "pause"):
            assert near(event.onset, offsets[taker]) and near(event.offset, onsets[taker])
        else:
            assert near(event.onset, onsets[taker]) and near(event.offset, offsets[taker])
        if event.kind in ("barge_in", "cut_off"):
            assert event.system_stop - event.onset > 0
        if event.kind == "barge_in":
            assert near(event.system_stop, offsets["system"])
        if event.kind == "cut_off":
            # nothing sounds from the stop to the next answer, which may overlap the question's end
            answer = min(
                onset for onset in [*onsets["system"], sample.system.size] if onset > event.system_stop
            )
            assert answer > event.onset + 2400 and not np.any(sample.system[event.system_stop : answer])
            assert np.any(sample.system[event.onset : event.system_stop])
            assert event.system_stop < event.system_planned_end
            assert (
                event.planned_text.startswith(event.spoken_text) and event.spoken_text != event.planned_text
            )


def test_every_scenario_is_tested_here() -> None:
    assert set(SCENARIOS) == {
        "user_interruption",
        "user_backchannel",
        "talking_to_others",
        "background_speech",
        "pause_handling",
        "smooth_turn_taking",
        "backchannel",
        "mt_qa",
    }
