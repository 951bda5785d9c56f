"""Detectors that took no part judge the stems; labels are never changed by them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from duplexkit.acoustics.agreement import silero_path
from duplexkit.builders import agreement
from duplexkit.builders.agreement import (
    SILERO,
    WEBRTC,
    Detector,
    agreement_share,
    edges_agree,
    folder_agreement,
)
from duplexkit.builders.build import BuildResult
from tests.builders.sounds import like_speech
from tests.conftest import tone_recipe_text

RATE = 24000


def voice(n_samples: int = 24_000) -> np.ndarray:
    """Return a buzz with formants, which detectors take for speech: pulses at 120 Hz through resonances."""
    from scipy.signal import lfilter

    pulses = np.zeros(n_samples)
    pulses[:: RATE // 120] = 1.0
    for hz in (600.0, 1_200.0, 2_500.0):
        pole = 0.985 * np.exp(2j * np.pi * hz / RATE)
        pulses = lfilter([1.0], np.real(np.poly([pole, pole.conj()])), pulses)
    pulses *= 0.6 + 0.4 * np.cos(2 * np.pi * 4 * np.arange(n_samples) / RATE)
    return (0.3 * pulses / np.max(np.abs(pulses))).astype(np.float32)


def test_webrtcvad_agrees_with_a_voice_and_not_with_wrong_edges() -> None:
    assert edges_agree(voice(), WEBRTC, sample_rate_hz=RATE) == (True, True)
    late = replace(WEBRTC, bias_s=(WEBRTC.bias_s[0] - 0.15, WEBRTC.bias_s[1] + 0.15))
    assert edges_agree(voice(), late, sample_rate_hz=RATE) == (False, False)


def test_a_detector_that_hears_nothing_does_not_agree() -> None:
    deaf = Detector(name="deaf", spans=lambda samples, **options: (), bias_s=(0.0, 0.0))
    noise = like_speech(np.random.default_rng(1), 12_000).astype(np.float32) / 4
    assert edges_agree(noise, deaf, sample_rate_hz=RATE) == (False, False)
    assert agreement_share([], deaf, sample_rate_hz=RATE) is None


def test_silero_judges_where_it_is_installed() -> None:
    names = [detector.name for detector in agreement.detectors()]
    assert names == (["webrtcvad"] if silero_path() is None else ["webrtcvad", "silero"])
    if silero_path() is not None:
        assert len(edges_agree(voice(), SILERO, sample_rate_hz=RATE)) == 2


def test_a_folder_is_reported_and_left_as_it_is(
    tone_build: Callable[..., BuildResult], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tone_build(tone_recipe_text("user_interruption", count=1)).folder
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    reports = folder_agreement(folder)
    assert [report.detector for report in reports] == [d.name for d in agreement.detectors()]
    assert all(report.n_edges == 2 * len(list(folder.glob("stems/*/*.flac"))) for report in reports)
    assert agreement.main([str(folder)]) == 0
    assert "webrtcvad: agrees with" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert agreement.main([str(tmp_path / "nowhere")]) == 2
