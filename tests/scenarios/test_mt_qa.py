"""Dialogues planned without audio: their gaps follow the profile, block by block, and nothing repeats."""

from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest

from duplexkit import RecipeError
from duplexkit.builders.seeds import rng_for
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.conversation import Role
from duplexkit.scenarios.dialogue_timing import dialogue_laws
from duplexkit.scenarios.quantile_law import ks_distance
from duplexkit.scenarios.strata import BLOCK_DIALOGUES, serial_correlation
from tests.scenarios.dialogues import RATE_HZ, SCENARIO, bank, context, entry, gaps, placed, plans

LANGUAGES = ("en", "ja")
DIRECTIONS = ("user_to_system", "system_to_user")
SEED = 3


@cache
def dialogues(language, count=100, seed=SEED, sampling="stratified"):
    return tuple(placed(plan) for plan in plans(language, count, seed, sampling=sampling))


def law(direction):
    return getattr(dialogue_laws(entry()), direction).law


def clipped_share(done):
    shifts = [e for d in done for e in d.annotation.events if e.kind == "shift"]
    return np.mean([abs(e.fto_s - e.intended_fto_s) > 1 / RATE_HZ for e in shifts])


def longest_common_run(first, second, within=1.5 / RATE_HZ):
    """Length of the longest run of equal gaps that two sequences share."""
    same = np.abs(first[:, None] - second[None, :]) <= within
    best = np.zeros((first.size + 1, second.size + 1), dtype=int)
    for i in range(first.size):
        best[i + 1, 1:] = np.where(same[i], best[i, :-1] + 1, 0)
    return int(best.max())


def sound(sequences):
    """Whether sequences of gaps pass: no shared runs, no serial pattern."""
    runs = max(
        (longest_common_run(a, b) for i, a in enumerate(sequences) for b in sequences[:i]),
        default=0,
    )
    return runs <= 2 and abs(serial_correlation(tuple(sequences))) <= 0.1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_block_and_the_whole_follow_the_profile(language, direction):
    done = dialogues(language)
    blocks = [done[i : i + BLOCK_DIALOGUES] for i in range(0, len(done), BLOCK_DIALOGUES)]
    sizes = []
    for block in blocks:
        sample = np.concatenate([gaps(d, direction) for d in block])
        sizes.append(sample.size)
        assert ks_distance(sample, law(direction)) <= 1 / sample.size + clipped_share(block)
    whole = np.concatenate([gaps(d, direction) for d in done])
    assert whole.size > 400
    # the whole is no worse than its blocks; iid draws would be allowed 1.36 / sqrt(N)
    limit = len(blocks) / whole.size + clipped_share(done)
    assert ks_distance(whole, law(direction)) <= limit < 1.36 / np.sqrt(whole.size)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_serial_pattern_and_no_shared_sequence(language, direction):
    assert sound([gaps(d, direction) for d in dialogues(language)])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_languages_share_no_sequence_either(direction):
    sequences = [gaps(d, direction) for language in LANGUAGES for d in dialogues(language, 30)]
    assert sound(sequences)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_sampler_that_is_seeded_anew_for_each_dialogue_fails_the_same_tests(direction):
    recipe_entry, scripts = entry(sampling="iid"), bank("en")
    done = [
        placed(
            SCENARIO.plan(
                scripts[i % 60],
                replace(
                    context(recipe_entry, "en", scripts, i, SEED, rng=rng_for(SEED, "one state", "plan")),
                    parallel_rng=lambda stage: rng_for(SEED, "one state", "parallel"),
                ),
            )
        )
        for i in range(40)
    ]
    sequences = [gaps(d, direction) for d in done]
    sample = np.concatenate(sequences)
    assert not sound(sequences)
    assert ks_distance(sample, law(direction)) > 1.95 / np.sqrt(sample.size)


@pytest.mark.parametrize("language", LANGUAGES)
def test_iid_over_20_seeds(language):
    for seed in range(20):
        done = dialogues(language, 30, seed, "iid")
        for direction in DIRECTIONS:
            sample = np.concatenate([gaps(d, direction) for d in done])
            assert ks_distance(sample, law(direction)) <= 1.95 / np.sqrt(sample.size)


@pytest.mark.parametrize("language", LANGUAGES)
def test_growing_100_dialogues_to_150_changes_none_of_the_first_100(language):
    assert plans(language, 150, SEED)[:100] == [done.plan for done in dialogues(language)]


def test_growing_iid_changes_no_earlier_plan():
    assert plans("en", 70, SEED, sampling="iid")[:61] == plans("en", 61, SEED, sampling="iid")


def test_a_plan_is_computable_alone():
    scripts, recipe_entry = bank("ja"), entry()
    made = context(recipe_entry, "ja", scripts, 77, SEED)
    assert SCENARIO.plan(scripts[17], made) == plans("ja", 100, SEED)[77]


def test_parallel_dialogues_have_the_same_pairs_and_moves():
    for en, ja in zip(plans("en", 30), plans("ja", 30), strict=True):
        moves = [[t.move for t in plan.turns if t.move != "backchannel"] for plan in (en, ja)]
        assert moves[0] == moves[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_rates_are_those_of_the_recipe(language):
    moves = [t.move for plan in plans(language) for t in plan.turns if t.role is Role.USER]
    later = [m for m in moves if m in ("shift", "barge_in", "cut_off")]
    assert later.count("barge_in") / len(later) == pytest.approx(0.42, abs=0.02)
    assert later.count("cut_off") / len(later) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("language", LANGUAGES)
def test_kinds_are_what_the_overlap_says(language):
    for done in dialogues(language):
        for event in done.annotation.events:
            if event.kind == "shift":
                assert event.fto_s >= -0.4
            if event.kind == "barge_in":
                assert event.fto_s < -0.4
                assert event.system_planned_end == event.system_stop
            if event.kind == "cut_off":
                assert event.onset < event.system_stop < event.system_planned_end
                assert event.spoken_text != event.planned_text
                assert event.planned_text.startswith(event.spoken_text)


def test_a_barge_in_too_long_for_its_question_is_shortened_counted_and_named_by_what_came_out():
    script = bank("en")[0]
    short = replace(
        script,
        turns=tuple(replace(t, text="And so?") if t.role is Role.USER else t for t in script.turns),
    )
    made = replace(context(entry(barge_in_rate=0.95), "en", (short,), 0, SEED))
    done = placed(SCENARIO.plan(short, made))
    assert done.timeline.shortened_overlaps > 0
    for event in done.annotation.events:
        if event.kind in ("shift", "barge_in") and event.fto_s is not None:
            assert (event.kind == "barge_in") == (event.fto_s < -0.4)


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_speaker_never_speaks_over_himself_and_tokens_stay_apart(language):
    for done in dialogues(language):
        for role in (Role.USER, Role.SYSTEM):
            own = sorted(
                (turn.onset, turn.offset)
                for said, turn in zip(done.plan.turns, done.timeline.turns, strict=True)
                if said.role is role
            )
            for (_, offset), (onset, _) in pairwise(own):
                assert onset - offset > 0.5 * RATE_HZ  # M3 would join them


def test_measured_gaps_are_the_intended_ones_to_the_sample():
    events = [e for d in dialogues("en") for e in d.annotation.events if e.intended_fto_s is not None]
    assert len(events) > 1000
    assert max(abs(e.fto_s - e.intended_fto_s) for e in events) <= 0.5 / RATE_HZ + 1e-9


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"timing_profile": "en-fto-v1"}, "holds 'fto', but 'shift'"),
        ({"timing_profile": "qa-system-exgauss-v1"}, "no table 'system_to_user'"),
        ({"timing_profile": "shared-shift-v2"}, "did you mean 'shared-shift-v1'"),
        ({"timing_profile": "uniform:1:0"}, "FROM <= TO"),
        ({"pairs": 14}, "only 10 question-answer pairs"),
        ({"barge_in_rate": 0.9, "cut_off_rate": 0.2}, "add up to more than 1"),
    ],
)
def test_what_cannot_be_planned_is_refused(values, message):
    scripts = bank("en")
    with pytest.raises(RecipeError, match=message):
        SCENARIO.plan(scripts[0], context(entry(**values), "en", scripts, 0, SEED))


def test_controlled_profiles_and_a_constant_system():
    plan = plans("en", 1, timing_profile="uniform:0.1:0.9", answer_profile="qa-system-constant-v1")[0]
    done = placed(plan)
    assert gaps(done, "user_to_system") == pytest.approx(0.2, abs=1 / RATE_HZ)
    assert all(0.1 <= gap <= 0.9 for gap in gaps(done, "system_to_user"))


def test_without_the_scripts_of_its_block_a_dialogue_is_its_own_block():
    scripts = bank("en")
    alone = replace(
        context(entry(), "en", scripts, 5, SEED),
        scripts=(),
        parallel_rng=None,
        shared_rng=partial(rng_for, SEED, "x"),
    )
    sample = gaps(placed(SCENARIO.plan(scripts[5], alone)), "user_to_system")
    assert ks_distance(sample, law("user_to_system")) <= 1 / sample.size


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_depends_on_the_turns_that_its_script_names(language):
    """A listener's tokens stand between the turns: what a question needs has another number then."""
    moved = 0
    for plan in plans(language, 20, SEED, load_scripts("mt_qa", language)):
        said = iter(range(len(plan.script.turns)))
        place = {next(said): i for i, turn in enumerate(plan.turns) if turn.move != "backchannel"}
        for number, i in place.items():
            wanted = tuple(place[earlier] for earlier in plan.script.turns[number].depends_on)
            assert plan.turns[i].depends_on == wanted
            moved += wanted != plan.script.turns[number].depends_on
    assert moved > 0
