"""Compare our speed with what people use today; print the ratios and write them to a file.

CPU time of this process, the least of five runs after one to warm up, both sides of a ratio in the same run and
on the same samples. Needs audiomentations, which wants an older soxr than we recommend: run it in an
environment of its own (`make bench`).
"""

import argparse
import io
import json
import platform
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from duplexkit.acoustics import room
from duplexkit.acoustics.filters import echo, taps
from duplexkit.acoustics.level import scale_to_level, to_pcm16
from duplexkit.acoustics.treatments import TreatmentParams, draw_treatment, treat
from duplexkit.builders.place import place
from duplexkit.builders.render import draw_acoustics, render
from duplexkit.builders.sample import Utterance
from duplexkit.builders.seeds import rng_for
from duplexkit.scenarios.conversation import Plan, PlannedTurn, Role, Script, ScriptTurn, Shape, Start, Word

RATE_HZ = 24_000
RUNS = 5
N_CLIPS, CLIP_S = 24, 5.0
GOALS = {"treatment_vs_audiomentations": (2.0, "at least"), "render_vs_flac": (2.0, "at most")}
GOALS["rir_bank_s"] = (2.0, "at most")
Signal = NDArray[np.float32]


def cpu_s(run: Callable[[], object]) -> float:
    """Return the least CPU time (s) of `RUNS` calls, after one that does not count."""
    run()
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def speech_like(rng: np.random.Generator, duration_s: float) -> Signal:
    """Return noise with about the spectrum, rhythm and crest of speech, span level -26 dBov."""
    n = int(duration_s * RATE_HZ)
    hz = np.fft.rfftfreq(n, 1 / RATE_HZ)
    shape = np.where(hz < 80, 0.0, (1.0 + (hz / 500.0) ** 2) ** -0.75)
    voice = np.fft.irfft(np.fft.rfft(rng.standard_normal(n)) * shape, n)
    voice *= 0.5 - 0.45 * np.cos(2 * np.pi * 4.0 * np.arange(n) / RATE_HZ)
    return scale_to_level(voice.astype(np.float32), spans=[(0, n)], level_dbov=-26.0)


def impulse_response(params: TreatmentParams) -> Signal:
    """Return the reflections or the echo of a treatment as a response that others can convolve with."""
    click = np.ones(1, np.float32)
    if params.tap_delays_s:
        return taps(click, delays_s=params.tap_delays_s, gains_db=params.tap_gains_db, sample_rate_hz=RATE_HZ)
    assert params.echo_delay_s and params.echo_gain_db and params.echo_feedback
    return echo(
        click,
        delay_s=params.echo_delay_s,
        gain_db=params.echo_gain_db,
        feedback=params.echo_feedback,
        sample_rate_hz=RATE_HZ,
    )


def bench_treatment(rng: np.random.Generator) -> dict[str, float]:
    """Return the times of our two FDB treatments, drawn, applied and calibrated, and of audiomentations' chain.

    Theirs: the same shelf or low-pass, the same reflections as an impulse response, a gain; no calibration.
    """
    import audiomentations as am

    clips = [speech_like(rng, CLIP_S) for _ in range(N_CLIPS)]
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("off_axis@1", "next_room@1"):
            params = draw_treatment(name, rng)
            path = Path(folder, f"{name}.wav")
            soundfile.write(path, impulse_response(params), RATE_HZ, subtype="FLOAT")
            colour = (
                am.HighShelfFilter(2_000, 2_000, -12, -12, 0.5, 0.5, p=1.0)
                if params.shelf_corner_hz
                else am.LowPassFilter(2_500, 2_500, 12, 12, p=1.0)
            )
            assert params.target_db is not None
            chain = am.Compose(
                [
                    colour,
                    am.ApplyImpulseResponse(str(path), p=1.0, leave_length_unchanged=False),
                    am.Gain(params.target_db, params.target_db, p=1.0),
                ]
            )

            def ours(name: str = name) -> None:
                for clip in clips:
                    treat(
                        clip,
                        draw_treatment(name, rng),
                        span=(0, clip.size),
                        reference_level_dbov=-26.0,
                        sample_rate_hz=RATE_HZ,
                    )

            def theirs(chain: Callable[..., Signal] = chain) -> None:
                for clip in clips:
                    chain(clip, RATE_HZ)

            figures[f"{name} ours"] = cpu_s(ours) / (N_CLIPS * CLIP_S)
            figures[f"{name} audiomentations"] = cpu_s(theirs) / (N_CLIPS * CLIP_S)
    return figures


def two_party_minute(rng: np.random.Generator) -> tuple[Plan, tuple[Utterance, ...]]:
    """Return the plan and the spoken turns of a minute of questions and answers in a room with a noise floor."""
    said, spoken = [], []
    for i in range(14):
        role = Role.USER if i % 2 == 0 else Role.SYSTEM
        speech = speech_like(rng, 3.0 if role is Role.USER else 4.5)
        shape = Shape(
            n_samples=speech.size,
            onset=0,
            offset=speech.size,
            words=(Word(text="word", start=0, stop=speech.size),),
            pauses=(),
        )
        spoken.append(
            Utterance(
                pcm=to_pcm16(speech),
                sample_rate_hz=RATE_HZ,
                shape=shape,
                text="word",
                reading="word",
                word_time_source="none",
                threshold_dbfs=-60.0,
                sha256="",
                provenance={},
            )
        )
        said.append(
            PlannedTurn(
                name=f"turn{i}",
                role=role,
                voice="voice",
                text="word",
                speed=1.0,
                start=Start(turn=i - 1 if i else None, distance_s=0.2),
                move="shift" if i else "open",
            )
        )
    plan = Plan(
        id="bench",
        scenario="mt_qa",
        language="en",
        take=0,
        split="test",
        preset="bench",
        fdb_relation="own",
        script=Script(
            id="bench",
            scenario="mt_qa",
            language="en",
            turns=tuple(ScriptTurn(role=turn.role, text="word") for turn in said),
            domain="",
            register="",
            source="",
            licence="",
        ),
        turns=tuple(said),
        lead_s=0.5,
        tail_s=5.0,
        room="quiet_room@1",
        noise_floor_dbov=-70.0,
    )
    return plan, tuple(spoken)


def bench_render(rng: np.random.Generator) -> dict[str, float]:
    """Return the times of rendering a two-party minute and of encoding its two tracks as FLAC.

    The bank of rooms is there before, as it is in a build after its first samples; its time is reported apart.
    """
    room.rir_bank(sample_rate_hz=RATE_HZ)
    plan, spoken = two_party_minute(rng)
    tracks: list[NDArray[np.int16]] = []
    takes = iter(range(10**6))

    def ours() -> None:
        acoustics = draw_acoustics(plan, lambda stage: rng_for(next(takes), "bench", stage))
        timeline = place(plan, tuple(one.shape for one in spoken), sample_rate_hz=RATE_HZ)
        sample = render(plan, timeline, spoken, acoustics)
        assert sample.system is not None
        tracks[:] = [sample.input, sample.system]

    def flac() -> None:
        for track in tracks:
            soundfile.write(io.BytesIO(), track, RATE_HZ, format="FLAC", subtype="PCM_16")

    figures = {"render": cpu_s(ours), "flac": cpu_s(flac)}
    figures["audio"] = tracks[0].size / RATE_HZ
    return figures


def bench_rooms() -> dict[str, float]:
    """Return the time of the bank of 64 rooms, made anew each time."""

    def ours() -> None:
        room._simulate.cache_clear()
        room.rir_bank(sample_rate_hz=RATE_HZ)

    return {"bank": cpu_s(ours)}


def main(argv: list[str] | None = None) -> int:
    """Run all, print a table, write the file; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    out = parser.parse_args(argv).out
    warnings.filterwarnings("ignore")
    rng = np.random.default_rng(0)
    treated, rendered, rooms = bench_treatment(rng), bench_render(rng), bench_rooms()
    names = ("off_axis@1", "next_room@1")
    ratios = {name: treated[f"{name} audiomentations"] / treated[f"{name} ours"] for name in names}
    result: dict[str, object] = {
        "treatment_vs_audiomentations": min(ratios.values()),
        "render_vs_flac": rendered["render"] / rendered["flac"],
        "rir_bank_s": rooms["bank"],
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "cpu_s_per_audio_s": treated,
        "two_party_minute_s": rendered,
        "python": platform.python_version(),
        "versions": {
            name: version(name)
            for name in (
                "numpy",
                "scipy",
                "pedalboard",
                "pyroomacoustics",
                "soundfile",
                "soxr",
                "audiomentations",
            )
        },
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print("| what | measured | goal |\n|---|---|---|")
    for name in names:
        print(f"| {name}, times as fast as audiomentations | {ratios[name]:.2f} | at least 2.0 |")
    print(f"| render of a two-party minute, times FLAC | {result['render_vs_flac']:.2f} | at most 2.0 |")
    print(f"| bank of 64 rooms | {rooms['bank']:.2f} s | at most 2 s |")
    print(f"| memory, whole run | {result['peak_memory_mib']:.0f} MiB | |")
    missed = [
        name
        for name, (goal, sense) in GOALS.items()
        if (float(str(result[name])) < goal) == (sense == "at least")
    ]
    print(f"\nmissed: {', '.join(missed) or 'none'}; {out}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
