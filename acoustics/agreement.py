"""Ask a second and a third detector whether they hear speech where the labels say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .activity import merge_spans, runs
from .guard import check_number, check_rate_hz, check_signal, n_samples_in
from .level import Span
from .resample import resample

SILERO_BIAS_S = (0.041, 0.021)
"""Median onset and offset of Silero v6 minus those of `speech_spans`, on the 48 clips of `WEBRTC_BIAS_S`.
Subtract it before comparing."""
TOLERANCE_S = 0.12
"""How far an edge may be off, after its detector's bias, on dry speech."""
_SILERO_RATE_HZ = 16_000
_SILERO_FRAME = 512
_SILERO_CONTEXT = 64
_SILERO_STATE = 128
_SILERO_ON, _SILERO_OFF = 0.5, 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How one detector's edges lie to one label.

    Parameters
    ----------
    onset_error_s, offset_error_s : float or None
        Detector minus label, bias taken off; None where the detector hears nothing in the label.
    """

    onset_error_s: float | None
    offset_error_s: float | None

    def within(self, tolerance_s: float) -> bool:
        """Whether both edges are within `tolerance_s` of the label."""
        errors = (self.onset_error_s, self.offset_error_s)
        return all(error is not None and abs(error) <= tolerance_s for error in errors)


def compare_spans(
    labels: Sequence[Span],
    heard: Sequence[Span],
    *,
    bias_s: tuple[float, float],
    sample_rate_hz: int,
) -> tuple[Agreement, ...]:
    """Return, for each label, how far the edges of what a detector heard there are off.

    Labels are only judged, never changed. For each label the first edge and the last edge of all heard spans
    that overlap it count.

    Parameters
    ----------
    labels, heard : sequence of (start, stop), sample indices
        Both merged over hushes of the same length.
    bias_s : (onset, offset)
        `WEBRTC_BIAS_S` or `SILERO_BIAS_S`.
    sample_rate_hz : int
    """
    check_rate_hz(sample_rate_hz)
    result = []
    for start, stop in labels:
        there = [span for span in heard if span[0] < stop and span[1] > start]
        if not there:
            result.append(Agreement(onset_error_s=None, offset_error_s=None))
            continue
        onset, offset = min(span[0] for span in there), max(span[1] for span in there)
        result.append(
            Agreement(
                onset_error_s=(onset - start) / sample_rate_hz - bias_s[0],
                offset_error_s=(offset - stop) / sample_rate_hz - bias_s[1],
            )
        )
    return tuple(result)


def silero_path() -> Path | None:
    """Return the Silero model that the `quality` extra brings (inside faster-whisper), None where it is not."""
    from importlib.util import find_spec

    spec = find_spec("faster_whisper")
    if spec is None or not spec.submodule_search_locations:
        return None
    found = sorted(Path(spec.submodule_search_locations[0], "assets").glob("silero_vad*.onnx"))
    return found[-1] if found else None


@lru_cache(maxsize=1)
def _silero(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def silero_spans(samples: NDArray[np.float32], *, sample_rate_hz: int, min_hush_s: float) -> tuple[Span, ...]:
    """Return the spans Silero takes for speech, uncorrected, in samples of the given rate; silence gives ().

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        Resampled to 16 kHz inside.
    sample_rate_hz : int
    min_hush_s : float, 0 to 60
        A shorter hush between two spans makes them one.

    Raises
    ------
    AudioError
        No signal, a wrong rate or number, or the model is not installed.

    Notes
    -----
    Frames of 32 ms; speech begins at a probability of 0.5 and ends below 0.35; no padding, no least length.
    """
    check_signal(samples)
    check_rate_hz(sample_rate_hz)
    check_number(min_hush_s, name="min_hush_s", low=0.0, high=60.0, unit="s")
    path = silero_path()
    if path is None:
        raise AudioError('Silero is not installed; it comes with: pip install "duplexkit[quality]"')
    signal = resample(samples, from_rate_hz=sample_rate_hz, to_rate_hz=_SILERO_RATE_HZ)
    n_frames = -(-signal.size // _SILERO_FRAME)
    padded = np.zeros(_SILERO_CONTEXT + n_frames * _SILERO_FRAME, dtype=np.float32)
    padded[_SILERO_CONTEXT : _SILERO_CONTEXT + signal.size] = signal
    frames = np.lib.stride_tricks.sliding_window_view(padded, _SILERO_CONTEXT + _SILERO_FRAME)
    state = np.zeros((1, 1, _SILERO_STATE), dtype=np.float32)
    probability = (
        _silero(path)
        .run(None, {"input": np.ascontiguousarray(frames[::_SILERO_FRAME]), "h": state, "c": state})[0]
        .reshape(-1)
    )
    active = np.zeros(n_frames, dtype=np.bool_)
    for frame in range(n_frames):
        before = bool(active[frame - 1]) if frame else False
        active[frame] = probability[frame] >= (_SILERO_OFF if before else _SILERO_ON)
    ratio = sample_rate_hz / _SILERO_RATE_HZ
    spans = [
        (int(first * _SILERO_FRAME * ratio), min(samples.size, int((last + 1) * _SILERO_FRAME * ratio)))
        for first, last in runs(active)
    ]
    return merge_spans(spans, min_gap=n_samples_in(min_hush_s, sample_rate_hz=sample_rate_hz))
