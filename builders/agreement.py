"""Whether detectors that took no part in the construction hear speech where a stem's labels say so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import ReleaseError
from ..acoustics.activity import WEBRTC_BIAS_S, speech_spans, webrtc_spans
from ..acoustics.agreement import SILERO_BIAS_S, TOLERANCE_S, compare_spans, silero_path, silero_spans
from ..acoustics.level import Span

QUIET_S = 0.5
"""Silence put round a stem, which is trimmed: detectors need some to start from."""

HUSH_S = 0.3
"""Hushes shorter than this do not end what a detector hears."""

Signal = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """A detector of speech, and its bias (onset, offset) against our labels."""

    name: str
    spans: Callable[..., Sequence[Span]]
    bias_s: tuple[float, float]


WEBRTC = Detector(name="webrtcvad", spans=webrtc_spans, bias_s=WEBRTC_BIAS_S)
SILERO = Detector(name="silero", spans=silero_spans, bias_s=SILERO_BIAS_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorReport:
    """How one detector judged the edges of many stems: its name, how many, and the share it agrees with."""

    detector: str
    n_edges: int
    share: float


def detectors() -> tuple[Detector, ...]:
    """Return webrtcvad, and Silero where the ``quality`` extra is installed."""
    return (WEBRTC,) if silero_path() is None else (WEBRTC, SILERO)


def edges_agree(stem: Signal, detector: Detector, *, sample_rate_hz: int) -> tuple[bool, ...]:
    """Return whether the detector, less its bias, agrees with a stem's onset, and with its offset.

    Parameters
    ----------
    stem
        Dry, shape (n,): treated or reverberant speech moves the detectors, not the labels.

    Returns
    -------
    tuple of bool
        Two, or none where the stem holds no speech by the energy detector.
    """
    quiet = np.zeros(round(QUIET_S * sample_rate_hz), dtype=np.float32)
    samples = np.concatenate([quiet, stem, quiet])
    ours = speech_spans(samples, sample_rate_hz=sample_rate_hz, min_hush_s=0.0)
    if not ours:
        return ()
    theirs = detector.spans(samples, sample_rate_hz=sample_rate_hz, min_hush_s=HUSH_S)
    (found,) = compare_spans(
        [(ours[0][0], ours[-1][1])], theirs, bias_s=detector.bias_s, sample_rate_hz=sample_rate_hz
    )
    errors = (found.onset_error_s, found.offset_error_s)
    return tuple(error is not None and abs(error) <= TOLERANCE_S for error in errors)


def agreement_share(stems: Iterable[Signal], detector: Detector, *, sample_rate_hz: int) -> float | None:
    """Return the share of the stems' edges with which a detector agrees; None where there is no edge."""
    hits = [hit for stem in stems for hit in edges_agree(stem, detector, sample_rate_hz=sample_rate_hz)]
    return float(np.mean(hits)) if hits else None


def folder_agreement(folder: Path) -> tuple[DetectorReport, ...]:
    """Return what each detector that is installed says of all stems of a built folder.

    Labels are judged, never changed.

    Raises
    ------
    ReleaseError
        If it holds no finished dataset, or a shard or stem is missing or damaged.
    """
    from .built import open_built, rows_in
    from .stems import read_stem

    rates = {
        made["stem"]: row["sample_rate_hz"]
        for row in rows_in(open_built(folder).shards)
        for made in row["provenance"]["turns"] or ()
    }
    hits: dict[str, list[bool]] = {detector.name: [] for detector in detectors()}
    for sha256, rate in sorted(rates.items()):
        stem = read_stem(folder, sha256)
        for detector in detectors():
            hits[detector.name] += edges_agree(stem, detector, sample_rate_hz=rate)
    return tuple(
        DetectorReport(detector=name, n_edges=len(found), share=float(np.mean(found)) if found else 0.0)
        for name, found in hits.items()
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print what the detectors say of a built folder; ``python -m duplexkit.builders.agreement FOLDER``."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 1 or not (Path(arguments[0]) / "manifest.json").is_file():
        print(
            "usage: python -m duplexkit.builders.agreement FOLDER  (a folder that was built)", file=sys.stderr
        )
        return 2
    try:
        reports = folder_agreement(Path(arguments[0]))
    except ReleaseError as error:
        print(f"duplexkit: {error}", file=sys.stderr)
        return 1
    for report in reports:
        print(f"{report.detector}: agrees with {report.share:.1%} of {report.n_edges} edges of dry stems")
    if len(detectors()) == 1:
        print('silero: not installed; it comes with: pip install "duplexkit[quality]"')
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
