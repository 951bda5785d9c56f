"""How often the gates on voices are wrong: counted over all pairs of clips whose prints are known."""

import hashlib
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from duplexkit.builders.build import BuildResult
from duplexkit.builders.quality.clip_source import items_of, read_clip
from duplexkit.builders.quality.kept import clip_key, kept
from duplexkit.builders.quality.measure import SpokenClip, Tools
from duplexkit.builders.quality.similarity import SHORTEST_S, SIMILARITY, speech_s
from duplexkit.builders.quality.voice_gate import voice_gate_errors
from tests.conftest import tone_recipe_text


def unit(clip: SpokenClip) -> list[float]:
    """Return a direction: a quarter turn from speaker to speaker, and up to 0.8 turns of a radian by the clip."""
    by = hashlib.sha256(clip.samples.tobytes()).digest()[0] / 255 * 0.8
    angle = "abcd".index(clip.speaker[-1]) * np.pi / 4 + by
    return [float(np.cos(angle)), float(np.sin(angle))]


def test_pairs_are_counted_once_a_clip(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    folder = tone_build(tone_recipe_text("background_speech", count=6)).folder
    tools = Tools(cache_dir=tmp_path / "prints")
    clips = {}
    items = items_of(folder)
    for item in items:
        for place in item.clips:
            clip = read_clip(place, item.language)
            if speech_s(clip) >= SHORTEST_S:
                print_of = unit(clip)
                kept(
                    tools.cache_dir,
                    "voice_print",
                    SIMILARITY.version(tools),
                    clip_key(clip),
                    lambda value=print_of: value,
                )
                clips[clip.samples.tobytes()] = (clip.language, clip.speaker, print_of)
    same, other = [], []
    for a, b in combinations(clips.values(), 2):
        if a[0] == b[0]:
            (same if a[1] == b[1] else other).append(a[2][0] * b[2][0] + a[2][1] * b[2][1])
    assert len(same) > 5 and len(other) > 5
    errors = voice_gate_errors([*items, *items], tools, same_at_least=0.9, other_at_most=0.8)
    assert (errors.n_same, errors.n_other) == (len(same), len(other))
    assert errors.n_same_below == sum(x < 0.9 for x in same) > 0
    assert errors.n_same_above == sum(x > 0.8 for x in same) > 0
    assert errors.n_other_below == sum(x < 0.9 for x in other) > 0
    assert errors.n_other_above == sum(x > 0.8 for x in other) > 0
