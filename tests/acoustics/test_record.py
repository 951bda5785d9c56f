import json
from dataclasses import dataclass

import numpy as np
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.codec import CodecParams, draw_codec
from duplexkit.acoustics.leakage import LeakageParams, draw_leakage
from duplexkit.acoustics.microphone import MicrophoneParams, draw_microphone
from duplexkit.acoustics.noise import NoiseParams, draw_noise
from duplexkit.acoustics.record import from_json, to_json
from duplexkit.acoustics.room import RoomParams, draw_room


@pytest.mark.parametrize(
    ("kind", "draw"),
    [
        (RoomParams, draw_room),
        (NoiseParams, draw_noise),
        (LeakageParams, draw_leakage),
        (MicrophoneParams, draw_microphone),
        (CodecParams, draw_codec),
    ],
)
def test_every_drawn_number_survives_json(kind, draw):
    for seed in range(20):
        params = draw(np.random.default_rng(seed))
        assert from_json(kind, json.loads(json.dumps(to_json(params)))) == params


@dataclass(frozen=True, kw_only=True)
class Some:
    a: float
    b: tuple[float, ...] = ()


def test_keys_that_are_no_fields_and_missing_ones_are_refused():
    assert to_json(Some(a=1.0)) == {"a": 1.0}
    with pytest.raises(AudioError, match="Some has no c, d; known are a, b"):
        from_json(Some, {"a": 1.0, "d": 2, "c": 3})
    with pytest.raises(AudioError, match="Some cannot be read"):
        from_json(Some, {"b": [1.0]})
