"""Effects of the real world: off unless asked for, drawn from the ranges, alike in all user tracks."""

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from duplexkit import AudioError, RecipeError
from duplexkit.acoustics import codec, noise
from duplexkit.acoustics.room import bank_room
from duplexkit.builders.build import BuildResult
from duplexkit.builders.effects import LOUDSPEAKER_M, draw_effects
from duplexkit.builders.seeds import rng_for
from duplexkit.builders.write import read_rows
from duplexkit.scenarios import SCENARIOS, effects
from duplexkit.scenarios.effects import EffectRanges
from duplexkit.scenarios.recipe import load_recipe
from tests.builders.sounds import plan_for, pool, rendered
from tests.conftest import tone_recipe_text

TRACKS = ("input", "clean_input", "untreated_input")


def sample_with(ranges: EffectRanges | None, **options: Any) -> Any:
    return rendered(plan_for(treatment="off_axis_varied@1", effects=ranges, **options), pool()[:2])


def level_db(samples: np.ndarray) -> float:
    return 10 * np.log10(np.mean(np.square(samples, dtype=np.float64)))


def test_names_are_those_of_the_acoustics() -> None:
    assert effects.COLOURS == noise.COLOURS
    assert effects.CODECS == codec.CODECS


def test_no_preset_has_an_effect() -> None:
    names = {*effects.EFFECT_FIELDS, *effects.LEAKAGE_FIELDS}
    for scenario in SCENARIOS.values():
        assert set(effects.EFFECT_FIELDS) <= set(scenario.fields)
        assert ("system" in scenario.roles) == (set(effects.LEAKAGE_FIELDS) <= set(scenario.fields))
        for preset in scenario.presets.values():
            assert not names & set(preset.values)
    assert sample_with(None).room["effects"] == {}


@pytest.mark.parametrize("room", ["none", "quiet_room@1"])
def test_noise_has_the_ratio_and_is_one_realisation(room: str) -> None:
    floor_dbov = None if room == "none" else -70.0
    plain = sample_with(None, room=room, floor_dbov=floor_dbov)
    ranges = EffectRanges(noise_snr_db=(8.0, 20.0), noise_colours=("pink",))
    noisy = sample_with(ranges, room=room, floor_dbov=floor_dbov)
    context = slice(plain.timeline.turns[0].onset, plain.timeline.turns[0].offset)
    added = [getattr(noisy, name).astype(float) - getattr(plain, name) for name in TRACKS]
    for other in added[1:]:
        assert np.max(np.abs(other - added[0])) <= 2, "the same noise, but for the rounding to 16 bits"
    snr_db = noisy.room["effects"]["noise"]["snr_db"]
    assert 8.0 <= snr_db <= 20.0
    assert abs(level_db(plain.clean_input[context]) - level_db(added[0]) - snr_db) <= 0.05


def test_microphone_gain_and_clipping_are_what_is_recorded() -> None:
    plain = sample_with(None)
    loud = sample_with(EffectRanges(microphone_gain_db=(-9.0, 3.0)))
    gain_db = loud.room["effects"]["microphone"]["gain_db"]
    assert -9.0 <= gain_db <= 3.0 and loud.room["effects"]["clipped_share"] == 0.0
    for name in TRACKS:
        wanted = getattr(plain, name).astype(float) * 10 ** (gain_db / 20)
        assert np.max(np.abs(getattr(loud, name) - wanted)) <= 1.5
    clipped = sample_with(EffectRanges(microphone_clip_dbfs=(-24.0, -18.0)))
    limit = 32768 * 10 ** (clipped.room["effects"]["microphone"]["clip_dbfs"] / 20)
    share = float(np.mean(np.abs(plain.input.astype(int)) > limit))
    assert share > 0.001
    assert abs(clipped.room["effects"]["clipped_share"] - share) <= 2 / plain.input.size
    for name in TRACKS:
        assert np.max(np.abs(getattr(clipped, name).astype(int))) <= limit + 1


def test_a_gain_that_would_clip_is_refused_not_clipped() -> None:
    with pytest.raises(AudioError, match="lower the level"):
        sample_with(EffectRanges(microphone_gain_db=(30.0, 30.0)))


@pytest.mark.parametrize("name", codec.CODECS)
def test_every_track_goes_through_the_codec(name: str) -> None:
    plain, coded = sample_with(None), sample_with(EffectRanges(codecs=(name,)))
    recorded = coded.room["effects"]["codec"]
    assert recorded["codec"] == name and recorded["libsndfile"] == soundfile.__libsndfile_version__
    for track in TRACKS:
        before, after = getattr(plain, track), getattr(coded, track)
        assert after.size == before.size and not np.array_equal(before, after)
        assert np.corrcoef(before, after)[0, 1] > 0.7, "in time with what it was"
        if name.startswith("g711"):
            power = np.abs(np.fft.rfft(after.astype(float))) ** 2
            hz = np.fft.rfftfreq(after.size, 1 / 24000)
            assert 10 * np.log10(power[hz > 4_500].sum() / power.sum()) < -40, "a telephone's band"


def rows_of(result: BuildResult) -> list[dict[str, Any]]:
    assert not result.rejects, result.rejects
    return [row for path in sorted(result.folder.glob("*/*/*.parquet")) for row in read_rows(path)]


def pcm(cell: dict[str, Any]) -> np.ndarray:
    return soundfile.read(io.BytesIO(cell["bytes"]), dtype="int16")[0].astype(np.float64)


def test_the_system_leaks_into_the_users_microphone(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    rows = {}
    for name, extra in (
        ("plain", ""),
        ("leaking", "leakage_db = [-24, -16]\nleakage_delay_s = [0.05, 0.2]\n"),
    ):
        text = tone_recipe_text("mt_qa", count=1, room="none", extra={"mt_qa": extra + "cut_off_rate = 0\n"})
        rows[name] = rows_of(tone_build(text, tmp_path / name, only=("mt_qa-en",)))[0]
    before, row = rows["plain"], rows["leaking"]
    leaked, system = pcm(row["input"]) - pcm(before["input"]), pcm(row["system"])
    numbers = json.loads(row["provenance"]["room"])["effects"]["leakage"]
    assert -24 <= numbers["level_db"] <= -16 and 0.05 <= numbers["delay_s"] <= 0.2
    delay = round(numbers["delay_s"] * 24000)

    def spans(role: str, shift: int) -> np.ndarray:
        mask = np.zeros(system.size, dtype=bool)
        for turn in row["turns"]:
            if turn["role"] == role:
                mask[round(turn["onset_s"] * 24000) + shift : round(turn["offset_s"] * 24000) + shift] = True
        return mask

    level = level_db(leaked[spans("system", delay)]) - level_db(pcm(before["input"])[spans("user", 0)])
    assert abs(level - numbers["level_db"]) <= 0.1
    echo = np.corrcoef(leaked[delay:], system[:-delay])[0, 1]
    assert echo > 0.99, "the system's stem, late"
    assert np.array_equal(pcm(before["system"]), system)


def test_the_loudspeaker_stands_by_the_microphone_in_the_room() -> None:
    ranges = EffectRanges(leakage_db=(-30.0, -20.0))
    for number in range(64):
        room = bank_room("quiet_room@1", number)
        drawn = draw_effects(ranges, partial(rng_for, number, "x"), room)
        distance = np.linalg.norm(np.subtract(drawn.loudspeaker.position_m, room.microphone_m))
        assert LOUDSPEAKER_M[0] <= distance <= LOUDSPEAKER_M[1] + 1e-9
        assert all(0 < p < s for p, s in zip(drawn.loudspeaker.position_m, room.size_m, strict=True))


def test_one_effect_never_shifts_another() -> None:
    everything = EffectRanges(
        noise_snr_db=(5.0, 25.0),
        noise_colours=("white", "pink"),
        leakage_db=(-30.0, -20.0),
        microphone_gain_db=(-6.0, 6.0),
        codecs=("opus", "mp3"),
    )
    rng = partial(rng_for, 4, "some/sample")
    whole = draw_effects(everything, rng, None)
    assert draw_effects(EffectRanges(leakage_db=(-30.0, -20.0)), rng, None).leakage == whole.leakage
    assert draw_effects(EffectRanges(codecs=("opus", "mp3")), rng, None).codec == whole.codec
    assert (
        draw_effects(EffectRanges(microphone_gain_db=(-6.0, 6.0)), rng, None).microphone == whole.microphone
    )
    assert draw_effects(EffectRanges(), rng, None).any is False


def refusal(tmp_path: Path, scenario: str, extra: str) -> str:
    from duplexkit.builders.cast import voice_pools
    from duplexkit.builders.jobs import jobs_of, plan_of
    from tests.tone import ToneSpeaker

    path = tmp_path / "recipe.toml"
    path.write_text(tone_recipe_text(scenario, count=1, extra={scenario: extra}), encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        recipe = load_recipe(str(path))
        plan_of(recipe, jobs_of(recipe)[0], voice_pools(recipe, ToneSpeaker(tmp_path)))
    return str(caught.value)


@pytest.mark.parametrize(
    ("scenario", "extra", "said"),
    [
        ("talking_to_others", 'treatment = "off_axis"', "unknown value; did you mean 'off_axis@1'"),
        ("background_speech", 'treatment = "next_rom@1"', "did you mean 'next_room@1'"),
        (
            "talking_to_others",
            'treatment = "off_axis_gain_first@1"\ntarget_db = -8',
            "the level its chain gives, which is reported; take target_db away",
        ),
        ("talking_to_others", 'treatment = "turned_away_room@1"', 'set room = "quiet_room@1"'),
        ("user_interruption", "leakage_db = -20", "leakage_db: unknown key"),
        ("user_interruption", "noise_snr_db = [20, 10]", "an empty range"),
        ("user_interruption", 'noise_colours = "blue"\nnoise_snr_db = 10', "'blue': unknown value"),
        ("user_interruption", 'codecs = ["amr"]', "known: g711_alaw, g711_mulaw, mp3, opus, vorbis"),
        ("user_interruption", "codecs = []", 'wanted a list of names, for example codecs = ["g711_mulaw"]'),
        ("user_interruption", 'noise_colours = ["pink"]', "says nothing without noise_snr_db"),
        ("mt_qa", "leakage_delay_s = 0.1", "says nothing without leakage_db"),
        ("user_interruption", 'noise_snr_db = 10\nnoise_folder = "no/such"', "no .wav file in"),
        ("user_interruption", "microphone_clip_dbfs = 0", "outside what microphone_clip_dbfs may be"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(
    tmp_path: Path, scenario: str, extra: str, said: str
) -> None:
    message = refusal(tmp_path, scenario, f"{extra}\n")
    assert said in message and f"scenarios.{scenario}" in message
