"""Every public function with a signal, given what is none: a stated AudioError, and its input untouched."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import AudioError
from duplexkit.acoustics import (
    activity,
    agreement,
    codec,
    filters,
    leakage,
    level,
    microphone,
    mix,
    noise,
    pauses,
    plots,
    recordings,
    resample,
    room,
    treatments,
)

RATE_HZ = 24_000
OFF_AXIS = treatments.draw_treatment("off_axis@1", np.random.default_rng(0))
LEAK = leakage.LeakageParams(level_db=-20.0, delay_s=0.0)


def whole(s):
    return (0, max(1, np.size(s)))


SIGNAL = {
    "check_signal": lambda s: level.check_signal(s),
    "span_level_dbov": lambda s: level.span_level_dbov(s, [whole(s)]),
    "scale_to_level": lambda s: level.scale_to_level(s, spans=[whole(s)], level_dbov=-26.0),
    "peak_dbfs": lambda s: level.peak_dbfs(s),
    "true_peak_dbfs": lambda s, r=RATE_HZ: level.true_peak_dbfs(s, sample_rate_hz=r),
    "p56_level_dbov": lambda s, r=RATE_HZ: level.p56_level_dbov(s, sample_rate_hz=r),
    "to_pcm16": lambda s: level.to_pcm16(s),
    "without_rumble": lambda s, r=RATE_HZ: activity.without_rumble(s, sample_rate_hz=r),
    "speech_threshold_dbfs": lambda s, r=RATE_HZ: activity.speech_threshold_dbfs(s, sample_rate_hz=r),
    "speech_spans": lambda s, r=RATE_HZ: activity.speech_spans(s, sample_rate_hz=r, min_hush_s=0.3),
    "webrtc_spans": lambda s, r=RATE_HZ: activity.webrtc_spans(s, sample_rate_hz=r, min_hush_s=0.3),
    "silero_spans": lambda s, r=RATE_HZ: agreement.silero_spans(s, sample_rate_hz=r, min_hush_s=0.3),
    "trim": lambda s, r=RATE_HZ: pauses.trim(s, sample_rate_hz=r),
    "set_hush": lambda s, r=RATE_HZ: pauses.set_hush(s, hush=(0, 1), n_samples=9, sample_rate_hz=r),
    "mix": lambda s: mix.mix([(s, 0)], n_samples=10**6),
    "high_shelf": lambda s, r=RATE_HZ: filters.high_shelf(
        s, corner_hz=2_000, gain_db=-12, q=0.5, sample_rate_hz=r
    ),
    "low_pass": lambda s, r=RATE_HZ: filters.low_pass(s, corner_hz=2_000, sample_rate_hz=r),
    "taps": lambda s, r=RATE_HZ: filters.taps(s, delays_s=[0.003], gains_db=[-6], sample_rate_hz=r),
    "echo": lambda s, r=RATE_HZ: filters.echo(s, delay_s=0.08, gain_db=-12, feedback=0.25, sample_rate_hz=r),
    "apply_treatment": lambda s, r=RATE_HZ: treatments.apply_treatment(s, OFF_AXIS, sample_rate_hz=r),
    "treat": lambda s, r=RATE_HZ: treatments.treat(
        s, OFF_AXIS, span=whole(s), reference_level_dbov=-26.0, sample_rate_hz=r
    ),
    "through_room": lambda s: room.through_room(s, np.ones(3, np.float32)),
    "through_room (rir)": lambda s: room.through_room(np.ones(3, np.float32), s),
    "resample (from)": lambda s, r=RATE_HZ: resample.resample(s, from_rate_hz=r, to_rate_hz=16_000),
    "resample (to)": lambda s, r=RATE_HZ: resample.resample(s, from_rate_hz=16_000, to_rate_hz=r),
    "resample_to_level": lambda s, r=RATE_HZ: resample.resample_to_level(
        s, spans=[whole(s)], from_rate_hz=r, to_rate_hz=16_000
    ),
    "recorded_noise": lambda s, r=RATE_HZ: noise.recorded_noise(
        s, 10, np.random.default_rng(0), level_dbov=-40.0, sample_rate_hz=r
    ),
    "samples_sha256": lambda s: noise.samples_sha256(s),
    "leak": lambda s, r=RATE_HZ: leakage.leak(
        s, LEAK, spans=[whole(s)], rir=None, reference_level_dbov=-26.0, sample_rate_hz=r
    ),
    "pick_up": lambda s: microphone.pick_up(s, microphone.MicrophoneParams()),
    "through_codec": lambda s, r=RATE_HZ: codec.through_codec(
        s, codec.CodecParams(codec="g711_mulaw"), sample_rate_hz=r
    ),
    "telephone": lambda s, r=RATE_HZ: codec.telephone(s, law="alaw", sample_rate_hz=r),
    "third_octaves_db": lambda s, r=RATE_HZ: plots.third_octaves_db(s, sample_rate_hz=r),
    "from_direct_sound": lambda s: recordings.from_direct_sound(s),
}
RATED = {name: call for name, call in SIGNAL.items() if call.__code__.co_argcount == 2}
NO_SIGNAL = {
    "a list": ([0.1, 0.2], "is a list; wanted a numpy array"),
    "two channels": (np.ones((2, 100), np.float32), "shape .2, 100.; wanted one channel"),
    "channels last": (np.ones((100, 2), np.float32), "shape .100, 2.; wanted one channel"),
    "float64": (np.ones(100), "dtype float64; wanted float32"),
    "int16": (np.ones(100, np.int16), "dtype int16; wanted float32"),
    "nothing": (np.zeros(0, np.float32), "is empty"),
    "NaN": (np.array([0.1, np.nan, 0.1], np.float32), r"\[1\] is nan"),
    "infinity": (np.array([0.1, 0.1, -np.inf], np.float32), r"\[2\] is -inf"),
}
SILENCE_IS_FINE = {
    "check_signal",
    "to_pcm16",
    "without_rumble",
    "speech_threshold_dbfs",
    "speech_spans",
    "webrtc_spans",
    "set_hush",
    "mix",
    "high_shelf",
    "low_pass",
    "taps",
    "echo",
    "apply_treatment",
    "through_room",
    "through_room (rir)",
    "resample (from)",
    "resample (to)",
    "samples_sha256",
    "pick_up",
    "through_codec",
    "telephone",
}
CLIPPED_IS_REFUSED = {"to_pcm16", "webrtc_spans", "trim", "treat", "through_codec", "telephone"}


@pytest.mark.parametrize("name", sorted(SIGNAL))
@pytest.mark.parametrize("kind", sorted(NO_SIGNAL))
def test_what_is_no_signal_is_refused(name, kind):
    samples, message = NO_SIGNAL[kind]
    with pytest.raises(AudioError, match=message):
        SIGNAL[name](samples)


@pytest.mark.parametrize("name", sorted(RATED))
@pytest.mark.parametrize("rate_hz", [0, -24_000, 7_999, 192_001, 24_000.0, "24000", True, None])
def test_a_wrong_rate_is_refused(name, rate_hz):
    with pytest.raises(AudioError, match="sample_rate_hz is"):
        RATED[name](np.full(9_000, 0.1, np.float32), rate_hz)


@pytest.mark.parametrize("name", sorted(set(SIGNAL) - {"silero_spans"}))
def test_silence_is_refused_where_it_has_no_answer(name):
    silence = np.zeros(9_000, np.float32)
    if name in SILENCE_IS_FINE:
        SIGNAL[name](silence)
    else:
        with pytest.raises(AudioError):
            SIGNAL[name](silence)


@pytest.mark.parametrize("name", sorted(CLIPPED_IS_REFUSED))
def test_a_clipped_clip_is_refused_where_clips_come_in(name):
    loud = np.full(9_000, 1.0, np.float32)
    loud[5] = 1.25
    with pytest.raises(AudioError, match=r"beyond full scale|<= 1|wanted a number from 0 to 1"):
        SIGNAL[name](loud)


@pytest.mark.parametrize("name", sorted(set(SIGNAL) - {"silero_spans"}))
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([1, 2, 7, 100, 4_801, 12_000]))
def test_no_function_alters_its_input_or_answers_with_what_is_no_number(name, seed, n):
    samples = np.random.default_rng(seed).uniform(-0.4, 0.4, n).astype(np.float32)
    before = samples.tobytes()
    try:
        result = SIGNAL[name](samples)
    except AudioError:
        result = None  # one sample is too little for some: stated, not crashed
    assert samples.tobytes() == before
    result = getattr(result, "samples", result)
    if isinstance(result, np.ndarray):
        assert np.isfinite(result).all() and result.ndim == 1
        assert not np.shares_memory(result, samples)


def test_every_public_function_with_a_signal_is_tried_here():
    """A new function in acoustics/ that takes samples must join the list above."""
    import ast

    @dataclass(frozen=True)
    class Found:
        file: str
        name: str

    tried = {name.split(" ")[0] for name in SIGNAL} | {"add_at"}  # add_at through mix
    folder = Path(level.__file__).parent
    missing = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") or not node.args.args:
                continue
            first = node.args.args[0]
            takes_signal = first.annotation and ast.unparse(first.annotation) == "NDArray[np.float32]"
            if takes_signal and node.name not in tried:
                missing.append(Found(path.name, node.name))
    assert missing == []
