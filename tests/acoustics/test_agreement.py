import numpy as np
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.activity import WEBRTC_BIAS_S, webrtc_spans
from duplexkit.acoustics.agreement import (
    SILERO_BIAS_S,
    TOLERANCE_S,
    compare_spans,
    silero_path,
    silero_spans,
)

RATE_HZ = 24_000


def test_edges_are_compared_after_the_bias():
    (one, two) = compare_spans(
        [(24_000, 48_000), (72_000, 96_000)],
        [(24_240, 30_000), (31_000, 50_400)],
        bias_s=(0.01, 0.08),
        sample_rate_hz=RATE_HZ,
    )
    assert one.onset_error_s == pytest.approx(0.0) and one.offset_error_s == pytest.approx(0.02)
    assert one.within(0.021) and not one.within(0.019)
    assert two.onset_error_s is None and not two.within(10.0)


def test_labels_are_only_judged():
    labels = [(0, 10)]
    compare_spans(labels, [(0, 20)], bias_s=(0.0, 0.0), sample_rate_hz=RATE_HZ)
    assert labels == [(0, 10)]


def test_webrtc_agrees_with_a_known_span(syllables):
    speech = syllables(np.random.default_rng(5), duration_s=1.5)
    samples = np.pad(speech, (RATE_HZ, RATE_HZ))
    heard = webrtc_spans(samples, sample_rate_hz=RATE_HZ, min_hush_s=0.3)
    label = [(RATE_HZ, RATE_HZ + speech.size)]
    (right,) = compare_spans(label, heard, bias_s=WEBRTC_BIAS_S, sample_rate_hz=RATE_HZ)
    assert right.within(TOLERANCE_S)
    late = [(RATE_HZ + 12_000, RATE_HZ + speech.size)]  # a label half a second off is seen to be wrong
    (wrong,) = compare_spans(late, heard, bias_s=WEBRTC_BIAS_S, sample_rate_hz=RATE_HZ)
    assert not wrong.within(TOLERANCE_S)


@pytest.mark.skipif(silero_path() is not None, reason="the quality extra is installed")
def test_without_the_extra_silero_says_how_to_get_it():
    with pytest.raises(AudioError, match=r"duplexkit\[quality\]"):
        silero_spans(np.zeros(100, np.float32), sample_rate_hz=RATE_HZ, min_hush_s=0.3)


@pytest.mark.extras("quality")
def test_silero_hears_nothing_in_silence_and_is_the_same_twice(syllables):
    assert silero_spans(np.zeros(RATE_HZ, np.float32), sample_rate_hz=RATE_HZ, min_hush_s=0.3) == ()
    assert silero_spans(np.zeros(1, np.float32), sample_rate_hz=RATE_HZ, min_hush_s=0.3) == ()
    speech = np.pad(syllables(np.random.default_rng(5), duration_s=1.5), (RATE_HZ, RATE_HZ))
    one, two = (silero_spans(speech, sample_rate_hz=RATE_HZ, min_hush_s=0.3) for _ in range(2))
    assert one == two
    assert all(0 <= start < stop <= speech.size for start, stop in one)
    assert SILERO_BIAS_S[1] > 0
