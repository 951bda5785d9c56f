"""Draw the response of every treatment as an SVG file: ``python -m duplexkit.acoustics.plots docs/acoustics``."""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from .guard import check_number, check_rate_hz, check_signal
from .room import room_rir
from .treatments import TREATMENTS, TreatmentParams, apply_treatment, draw_treatment

RATE_HZ = 24_000
N_DRAWS = 12
BANDS_HZ = 1_000.0 * 2.0 ** (np.arange(-12, 11) / 3.0)
"""Centres of the third octaves from 63 Hz to 10 kHz."""
_TOP_DB, _BOTTOM_DB = 15.0, -40.0
_LEFT, _TOP, _WIDTH, _HEIGHT = 52.0, 34.0, 560.0, 240.0


def third_octaves_db(impulse_response: NDArray[np.float32], *, sample_rate_hz: int) -> NDArray[np.float64]:
    """Return the mean power gain (dB) in each of `BANDS_HZ`, shape (23,), of an impulse response, shape (n,).

    Raises
    ------
    AudioError
        No signal, a wrong rate, or zeros only.
    """
    check_signal(impulse_response, name="impulse_response")
    check_rate_hz(sample_rate_hz)
    check_number(sample_rate_hz, name="sample_rate_hz", low=22_700, high=192_000, unit="Hz")
    if not impulse_response.any():
        raise AudioError("impulse_response holds only zeros; wanted a response")
    n_fft = 1 << max(16, int(np.ceil(np.log2(impulse_response.size))))
    power = np.abs(np.fft.rfft(impulse_response, n_fft)) ** 2
    hz = np.fft.rfftfreq(n_fft, 1.0 / sample_rate_hz)
    edge = 2.0 ** (1.0 / 6.0)
    gains = [float(np.mean(power[(hz >= centre / edge) & (hz < centre * edge)])) for centre in BANDS_HZ]
    return np.asarray(10.0 * np.log10(gains), dtype=np.float64)


def response_db(params: TreatmentParams, *, sample_rate_hz: int) -> NDArray[np.float64]:
    """Return what a treatment does to each of `BANDS_HZ` (dB), shape (23,), before any level is set.

    Relative to the dry voice; in a room, relative to the room's user speaking towards the microphone.
    """
    click = np.zeros(64, dtype=np.float32)
    click[0] = 1.0
    gain_db = third_octaves_db(
        apply_treatment(click, params, sample_rate_hz=sample_rate_hz), sample_rate_hz=sample_rate_hz
    )
    if params.room is None:
        return gain_db
    facing = room_rir(params.room, sample_rate_hz=sample_rate_hz)
    return gain_db - third_octaves_db(facing, sample_rate_hz=sample_rate_hz)


def response_svg(name: str) -> str:
    """Return an SVG picture of the preset's response: one line, or twelve of what it can draw."""
    draws = [draw_treatment(name, np.random.default_rng(seed)) for seed in range(N_DRAWS)]
    lines = {tuple(np.round(response_db(draw, sample_rate_hz=RATE_HZ), 2).tolist()) for draw in draws}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="320" viewBox="0 0 640 320" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="Response of {name}">',
        '<rect width="640" height="320" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{name}</text>',
    ]
    for level_db in range(int(_BOTTOM_DB), int(_TOP_DB) + 1, 10):
        y = _y(level_db)
        parts.append(f'<path d="M{_LEFT} {y:.1f}h{_WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{level_db}</text>')
    for hz, label in ((125, "125"), (250, "250"), (500, "500"), (1_000, "1k"), (2_000, "2k"), (4_000, "4k")):
        parts.append(_vertical(hz, label))
    parts.append(_vertical(8_000, "8k"))
    for line in sorted(lines):
        points = " ".join(
            f"{_x(hz):.1f},{_y(level_db):.1f}" for hz, level_db in zip(BANDS_HZ, line, strict=True)
        )
        width = 2 if len(lines) == 1 else 1
        parts.append(f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="{width}"/>')
    parts.append(
        f'<text x="{_LEFT}" y="312">third octaves, dB before the level is set; Hz'
        f"{'' if len(lines) == 1 else f'; {len(lines)} draws'}</text>"
    )
    return "\n".join([*parts, "</svg>", ""])


def _vertical(hz: float, label: str) -> str:
    x = _x(hz)
    return (
        f'<path d="M{x:.1f} {_TOP}v{_HEIGHT}" stroke="#eee"/>'
        f'<text x="{x:.1f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{label}</text>'
    )


def _x(hz: float) -> float:
    return float(_LEFT + _WIDTH * np.log(hz / BANDS_HZ[0]) / np.log(BANDS_HZ[-1] / BANDS_HZ[0]))


def _y(level_db: float) -> float:
    return float(_TOP + _HEIGHT * (_TOP_DB - np.clip(level_db, _BOTTOM_DB, _TOP_DB)) / (_TOP_DB - _BOTTOM_DB))


def main(argv: list[str] | None = None) -> int:
    """Write one picture for each treatment into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in TREATMENTS:
        path = folder / f"{name.replace('@', '-')}.svg"
        path.write_text(response_svg(name), encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
