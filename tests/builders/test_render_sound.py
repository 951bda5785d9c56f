"""The room gives nothing away, and no treatment moves an onset."""

from functools import partial
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from duplexkit.acoustics.presets import PRESETS
from duplexkit.builders.cast import voice_pools
from duplexkit.builders.jobs import jobs_of, plan_of
from duplexkit.builders.place import place
from duplexkit.builders.render import draw_acoustics, render
from duplexkit.builders.seeds import rng_for
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.fields import ON_AXIS
from duplexkit.scenarios.recipe import load_recipe
from tests.builders.sounds import RATE, like_speech, plan_for, pool, rendered, utterance
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

PRESET = {
    "pause_handling": "tailed",
    "smooth_turn_taking": "synthetic",
    "backchannel": "synthetic",
    "mt_qa": "m3",
}
"""The presets outside Full-Duplex-Bench's rules; of the other scenarios: natural."""

N_OF_EACH = 80
"""Samples per scenario and language."""

BANDS_HZ = np.geomspace(60, 11_000, 13)


def band_levels_db(samples: np.ndarray) -> np.ndarray:
    power = np.abs(np.fft.rfft(samples)) ** 2 / samples.size
    hz = np.fft.rfftfreq(samples.size, 1 / RATE)
    bands = [power[(hz >= a) & (hz < b)].mean() for a, b in pairwise(BANDS_HZ)]
    return 10 * np.log10(np.array(bands) + 1e-9)


def context_features(folder: Path, scenario: str, preset: str) -> np.ndarray:
    """Return features, shape (samples, bands), of the quiet before the first turn and of that turn.

    Plans and acoustics are the scenario's own; what is said comes from one pool for all scenarios, so that only
    the sound can tell them apart.
    """
    extra = f'preset = "{preset}"\ntail_s = 0.2\n'
    if "wait_s" in SCENARIOS[scenario].fields:
        extra += "wait_s = 0.3\n"  # what comes later is not looked at
    text = tone_recipe_text(scenario, count=N_OF_EACH, extra={scenario: extra})
    path = folder / f"{scenario}-{preset}.toml"
    path.write_text(text.replace("pairs = [4, 4]", "pairs = [1, 1]"), encoding="utf-8")
    recipe = load_recipe(str(path))
    pools = voice_pools(recipe, ToneSpeaker(folder))
    rows = []
    for job in jobs_of(recipe):
        plan = plan_of(recipe, job, pools)
        rng = rng_for(1, job.id, "clips")
        clips = tuple(pool()[int(k)] for k in rng.integers(len(pool()), size=len(plan.turns)))
        timeline = place(plan, tuple(clip.shape for clip in clips), sample_rate_hz=RATE)
        sample = render(plan, timeline, clips, draw_acoustics(plan, partial(rng_for, recipe.seed, job.id)))
        first = sample.timeline.turns[0]
        heard = sample.input.astype(float)
        lead, said = np.zeros(4_800), heard[first.onset : first.offset]
        lead[: first.onset - 480] = heard[: min(first.onset - 480, 4_800)]
        rows.append(np.concatenate([band_levels_db(lead), band_levels_db(said)]))
    return np.array(rows)


def accuracy(a: np.ndarray, b: np.ndarray) -> float:
    """Return the five-fold accuracy of a linear classifier (Fisher's, with a ridge) of two classes."""
    features = np.concatenate([a, b])
    labels = np.concatenate([-np.ones(len(a)), np.ones(len(b))])
    features = (features - features.mean(0)) / (features.std(0) + 1e-6)
    order = np.random.default_rng(0).permutation(len(labels))
    right = 0
    for fold in range(5):
        test = np.zeros(len(labels), dtype=bool)
        test[order[fold::5]] = True
        x, y = features[~test], labels[~test]
        x1 = np.column_stack([x, np.ones(len(x))])
        weights = np.linalg.solve(x1.T @ x1 + 10.0 * np.eye(x1.shape[1]), x1.T @ y)
        guess = np.column_stack([features[test], np.ones(test.sum())]) @ weights
        right += int(np.sum(np.sign(guess) == labels[test]))
    return right / len(labels)


def test_the_context_gives_no_scenario_away(tmp_path: Path) -> None:
    features = {name: context_features(tmp_path, name, PRESET.get(name, "natural")) for name in SCENARIOS}
    assert all(f.shape[0] == 2 * N_OF_EACH for f in features.values())
    scores = {pair: accuracy(features[pair[0]], features[pair[1]]) for pair in combinations(SCENARIOS, 2)}
    assert max(scores.values()) <= 0.6, scores
    # the same classifier sees where a room does give it away
    other = context_features(tmp_path, "talking_to_others", "fdb-v1.5")
    assert accuracy(features["talking_to_others"], other) > 0.9


def click() -> np.ndarray:
    """Return 10 ms that begin with one loud sample."""
    samples = np.zeros(240)
    samples[0] = 1.0
    return samples


IN_A_ROOM = [preset.name for preset in PRESETS if preset.room is not None]
ANYWHERE = [*(preset.name for preset in PRESETS if preset.room is None), ON_AXIS, ""]


@pytest.mark.parametrize(
    ("name", "room"),
    [*((name, "quiet_room@1") for name in (*ANYWHERE, *IN_A_ROOM)), *((name, "none") for name in ANYWHERE)],
)
def test_a_click_stays_where_the_annotation_says(name: str, room: str) -> None:
    said = utterance(like_speech(np.random.default_rng(1), 12_000))
    for seed in range(4):
        plan = plan_for(treatment=name, room=room, floor_dbov=None if room == "none" else -70.0)
        sample = rendered(plan, (said, utterance(click())), seed)
        onset = sample.annotation.events[-1].onset
        for track in (sample.input, sample.untreated_input):
            if track is not None:
                differs = np.flatnonzero(track != sample.clean_input)
                assert abs(int(differs[0]) - onset) <= 1


def test_render_changes_no_input() -> None:
    clips = pool()[:2]
    before = [clip.pcm.copy() for clip in clips]
    rendered(plan_for(treatment="off_axis_varied@1", room="quiet_room@1", floor_dbov=-65.0), clips)
    assert all(np.array_equal(clip.pcm, pcm) for clip, pcm in zip(clips, before, strict=True))
