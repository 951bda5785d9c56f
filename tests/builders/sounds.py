"""Utterances whose samples are known, and the plans that put them into a sample."""

import hashlib
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from duplexkit.acoustics.level import scale_to_level, to_pcm16
from duplexkit.builders.place import place
from duplexkit.builders.render import draw_acoustics, render
from duplexkit.builders.sample import Sample, Utterance
from duplexkit.builders.seeds import rng_for
from duplexkit.scenarios.conversation import Plan, PlannedTurn, Role, Script, ScriptTurn, Shape, Start, Word
from duplexkit.scenarios.effects import EffectRanges

RATE = 24000
HEAD = 360
"""Samples before an utterance's onset: 15 ms."""


def utterance(samples: np.ndarray) -> Utterance:
    """Return an utterance whose speech is all of `samples`, between 15 ms of silence."""
    whole = np.pad(samples.astype(np.float32), (HEAD, HEAD))
    span = (HEAD, HEAD + samples.size)
    pcm = to_pcm16(scale_to_level(whole, spans=[span], level_dbov=-26.0))
    return Utterance(
        pcm=pcm,
        sample_rate_hz=RATE,
        shape=Shape(
            n_samples=pcm.size,
            onset=span[0],
            offset=span[1],
            words=(Word(text="x", start=span[0], stop=span[1]),),
            pauses=(),
        ),
        text="x",
        reading="",
        word_time_source="tests",
        threshold_dbfs=-66.0,
        sha256=hashlib.sha256(pcm.tobytes()).hexdigest(),
        provenance={
            "engine": "tests",
            "engine_version": "1",
            "engine_licence": "CC0-1.0",
            "voice_mix": [],
            "voice_licence": "CC0-1.0",
            "voice_attribution": "",
            "clip": "",
            "speed": 1.0,
            "seed": None,
        },
    )


def like_speech(rng: np.random.Generator, n_samples: int) -> np.ndarray:
    """Return noise with about the spectrum and the syllable rhythm of speech; its edges are loud."""
    spectrum = np.fft.rfft(rng.standard_normal(n_samples))
    hz = np.fft.rfftfreq(n_samples, 1 / RATE)
    voice = np.fft.irfft(spectrum * np.where(hz < 80, 0.0, (1.0 + (hz / 500.0) ** 2) ** -0.75), n_samples)
    voice *= 0.55 + 0.45 * np.cos(2 * np.pi * 4.0 * np.arange(n_samples) / RATE)
    return np.asarray(voice / np.max(np.abs(voice)))


@lru_cache(maxsize=1)
def pool() -> tuple[Utterance, ...]:
    """Return twelve utterances of 0.3 to 0.9 s."""
    rng = np.random.default_rng(3)
    return tuple(utterance(like_speech(rng, int(rng.integers(7_200, 21_600)))) for _ in range(12))


def plan_for(
    *,
    sample_id: str = "talking_to_others/en/to-001/0",
    treatment: str = "",
    target_db: float | None = None,
    room: str = "none",
    floor_dbov: float | None = None,
    role: Role = Role.USER,
    move: str = "side_talk",
    effects: EffectRanges | None = None,
    wait_s: float = 0.1,
    tail_s: float = 0.3,
) -> Plan:
    scenario, language, script_id, _ = sample_id.split("/")
    turn = ScriptTurn(role=Role.USER, text="x")
    common: dict[str, Any] = {"voice": "v", "text": "x", "speed": 1.0}
    return Plan(
        id=sample_id,
        scenario=scenario,
        language=language,
        take=0,
        split="test",
        preset="tests",
        fdb_relation="own",
        script=Script(
            id=script_id,
            scenario=scenario,
            language=language,
            turns=(turn, replace(turn, role=role)),
            domain="",
            register="",
            source="",
            licence="CC0-1.0",
        ),
        turns=(
            PlannedTurn(
                name="context", role=Role.USER, move="open", start=Start(turn=None, distance_s=0.02), **common
            ),
            PlannedTurn(name="event", role=role, move=move, start=Start(turn=0, distance_s=wait_s), **common),
        ),
        lead_s=0.02,
        tail_s=tail_s,
        event_turn=1,
        treatment=treatment,
        target_db=target_db,
        room=room,
        noise_floor_dbov=floor_dbov,
        effects=effects,
    )


def rendered(plan: Plan, utterances: tuple[Utterance, ...], seed: int = 1) -> Sample:
    timeline = place(plan, tuple(u.shape for u in utterances), sample_rate_hz=RATE)
    return render(plan, timeline, utterances, draw_acoustics(plan, partial(rng_for, seed, plan.id)))
