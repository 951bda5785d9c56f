import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyroomacoustics as pra
import pytest

from duplexkit import AudioError
from duplexkit.acoustics.room import (
    N_ROOMS,
    RoomParams,
    Talker,
    absorption,
    bank_room,
    draw_room,
    facing,
    rir_bank,
    room_rir,
    through_room,
)

RATE_HZ = 24_000
ROOM = RoomParams(
    size_m=(5.0, 4.0, 2.7),
    rt60_s=0.4,
    microphone_m=(2.5, 2.0, 1.2),
    user=Talker(position_m=(3.2, 2.0, 1.2), facing_deg=180.0),
)


def distance_m(room, talker=None):
    return float(np.linalg.norm(np.subtract((talker or room.user).position_m, room.microphone_m)))


def test_the_direct_sound_is_sample_0_in_200_rooms():
    """Against a free field (order 0) by pyroomacoustics itself, lead left in: its peak says where it must be."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        room = draw_room(rng)
        place = tuple(rng.uniform((0.3, 0.3, 0.5), np.subtract(room.size_m, (0.3, 0.3, 0.3))))
        room = replace(room, user=Talker(position_m=place), max_order=3)
        if distance_m(room) < 0.3:
            continue
        rir = room_rir(room, sample_rate_hz=RATE_HZ)
        # a direct sound of 1 / d, at sample 0 and nowhere else near: half a sample off it would be 0.64 / d
        assert rir[0] * distance_m(room) == pytest.approx(1.0, abs=0.05)
        free = pra.AnechoicRoom(3, fs=RATE_HZ)
        free.set_sound_speed(343.0)
        free.add_source(list(place))
        free.add_microphone(list(room.microphone_m))
        free.compute_rir()
        lead = int(np.argmax(np.abs(free.rir[0][0])))
        assert abs(lead - 40 - distance_m(room) / 343.0 * RATE_HZ) <= 0.5 + 1e-6


def test_the_free_field_is_a_single_pulse():
    alone = room_rir(replace(ROOM, max_order=0), sample_rate_hz=RATE_HZ)
    assert alone[0] == pytest.approx(1 / 0.7, rel=0.02)
    # what follows is the causal high-pass alone: 2nd order Butterworth at 40 Hz falls to -sqrt(2) w at once
    assert np.max(np.abs(alone[1:])) < 1.1 * alone[0] * np.sqrt(2) * 2 * np.pi * 40 / RATE_HZ


def test_reflections_come_when_the_geometry_says():
    """First-order images of a shoe box, computed here by hand."""
    rir = room_rir(replace(ROOM, max_order=1, rt60_s=0.8), sample_rate_hz=RATE_HZ)
    reflected = np.sqrt(1.0 - absorption(replace(ROOM, rt60_s=0.8)))
    source, microphone = np.array(ROOM.user.position_m), np.array(ROOM.microphone_m)
    for axis in range(3):
        for wall in (0.0, ROOM.size_m[axis]):
            image = source.copy()
            image[axis] = 2 * wall - source[axis]
            away = float(np.linalg.norm(image - microphone))
            at = (away - 0.7) / 343.0 * RATE_HZ
            near = rir[max(0, int(at) - 3) : int(at) + 5]
            assert np.max(np.abs(near)) > 0.5 * reflected / away
    assert rir.size < 1_000


def test_the_decay_is_what_the_walls_are_made_for():
    room = replace(ROOM, rt60_s=0.25, max_order=40)
    energy = np.cumsum(room_rir(room, sample_rate_hz=RATE_HZ)[::-1].astype(float) ** 2)[::-1]
    level_db = 10 * np.log10(energy / energy[0])
    five, twenty_five = (int(np.argmax(level_db < -x)) for x in (5, 25))
    t20_s = 3 * (twenty_five - five) / RATE_HZ
    assert t20_s == pytest.approx(
        0.25, rel=0.25
    )  # Sabine is an estimate; image sources decay a little slower


def test_no_build_up_below_the_room():
    rir = room_rir(ROOM, sample_rate_hz=RATE_HZ)
    assert abs(float(rir.sum())) < 0.5 * float(rir[0])


def test_distance_makes_the_level():
    near = room_rir(replace(ROOM, max_order=0), sample_rate_hz=RATE_HZ)
    far = room_rir(
        replace(ROOM, max_order=0), talker=Talker(position_m=(3.9, 2.0, 1.2)), sample_rate_hz=RATE_HZ
    )
    assert far[0] / near[0] == pytest.approx(0.5, rel=0.02)  # -6 dB per doubling


def test_turning_away_is_the_directivity_table_in_a_free_field():
    outside = replace(ROOM, max_order=0)
    towards = Talker(position_m=ROOM.user.position_m, facing_deg=180.0, directivity="speech")
    away = replace(towards, facing_deg=0.0)
    spectra = [
        np.abs(np.fft.rfft(room_rir(outside, talker=talker, sample_rate_hz=RATE_HZ), 24_000))
        for talker in (towards, away)
    ]
    change_db = 20 * np.log10(spectra[1] / spectra[0])
    for hz, wanted_db in ((250, -5.1), (1_000, -7.2), (2_000, -13.5), (4_000, -19.6)):
        assert change_db[hz] == pytest.approx(wanted_db, abs=1.0)


def test_bits_are_stable_with_and_without_the_cache(tmp_path):
    speech = replace(ROOM, user=replace(ROOM.user, directivity="speech"))
    for room in (ROOM, speech):
        plain = room_rir(room, sample_rate_hz=RATE_HZ)
        first = room_rir(room, sample_rate_hz=RATE_HZ, cache_dir=tmp_path)
        second = room_rir(room, sample_rate_hz=RATE_HZ, cache_dir=tmp_path)
        assert plain.tobytes() == first.tobytes() == second.tobytes()
    assert len(list(tmp_path.glob("rir-*.npy"))) == 2 and not list(tmp_path.glob("*.tmp"))


@pytest.mark.slow
def test_bits_do_not_depend_on_the_process_or_its_threads():
    code = (
        "import hashlib, sys; from duplexkit.acoustics.room import bank_room, room_rir; "
        "rir = room_rir(bank_room('quiet_room@1', 5), sample_rate_hz=24000); "
        "print(hashlib.sha256(rir.tobytes()).hexdigest())"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OMP_NUM_THREADS": threads},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "4")
    }
    here = hashlib.sha256(room_rir(bank_room("quiet_room@1", 5), sample_rate_hz=24_000).tobytes())
    assert hashes == {here.hexdigest() + "\n"}


def test_the_package_is_left_as_it_was():
    before = [pra.constants.get(name) for name in ("num_threads", "rir_hpf_enable")]
    room_rir(replace(ROOM, rt60_s=0.41), sample_rate_hz=RATE_HZ)
    assert [pra.constants.get(name) for name in ("num_threads", "rir_hpf_enable")] == before


def test_the_cache_is_read(tmp_path):
    room_rir(ROOM, sample_rate_hz=RATE_HZ, cache_dir=tmp_path)
    (path,) = tmp_path.glob("rir-*.npy")
    np.save(path, np.array([0.5], np.float32))
    np.testing.assert_array_equal(room_rir(ROOM, sample_rate_hz=RATE_HZ, cache_dir=tmp_path), [0.5])
    # another number, another file
    other = room_rir(replace(ROOM, rt60_s=0.5), sample_rate_hz=RATE_HZ, cache_dir=tmp_path)
    assert other.size > 1


def test_a_caller_cannot_spoil_what_the_next_one_gets():
    first = room_rir(ROOM, sample_rate_hz=RATE_HZ)
    first[:] = 0.0
    assert room_rir(ROOM, sample_rate_hz=RATE_HZ)[0] > 1.0


@pytest.mark.slow
def test_the_bank_is_the_same_everywhere(tmp_path):
    one = rir_bank(sample_rate_hz=RATE_HZ, cache_dir=tmp_path)
    assert len({rir.tobytes() for _, rir in one}) == len(one) == N_ROOMS
    rng = np.random.default_rng(3)
    banked = dict(one)
    for _ in range(20):
        room = draw_room(rng)
        assert room_rir(room, sample_rate_hz=RATE_HZ).tobytes() == banked[room].tobytes()


def test_the_rooms_of_a_preset_are_fixed():
    drawn = {draw_room(np.random.default_rng(seed)) for seed in range(400)}
    assert drawn == {bank_room("quiet_room@1", number) for number in range(N_ROOMS)}
    with pytest.raises(AudioError, match="number is 64"):
        bank_room("quiet_room@1", 64)


def test_drawn_rooms_keep_to_their_preset():
    rng = np.random.default_rng(1)
    for _ in range(100):
        room = draw_room(rng)
        assert 0.3 <= room.rt60_s <= 0.6 and 0.45 <= distance_m(room) <= 0.95
        assert room.user.facing_deg == pytest.approx(facing(room.user.position_m, towards=room.microphone_m))


def test_convolution_is_convolution():
    x, h = np.array([1.0, 2.0, -1.0], np.float32), np.array([0.5, 0.0, 0.25], np.float32)
    np.testing.assert_allclose(through_room(x, h), [0.5, 1.0, -0.25, 0.5, -0.25], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rt60_s": 0.05}, r"rt60_s 0\.05 .* needs absorption"),
        ({"microphone_m": (6.0, 1.0, 1.0)}, "microphone_m at"),
        ({"max_order": -1}, "max_order is -1"),
        ({"user": Talker(position_m=(1.0, 4.5, 1.0))}, "user at"),
    ],
)
def test_impossible_rooms_are_refused(change, message):
    with pytest.raises(AudioError, match=message):
        replace(ROOM, **change)


def test_impossible_talkers_are_refused():
    with pytest.raises(AudioError, match="talker at"):
        room_rir(ROOM, talker=Talker(position_m=(9.0, 1.0, 1.0)), sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="both at"):
        room_rir(ROOM, talker=Talker(position_m=ROOM.microphone_m), sample_rate_hz=RATE_HZ)
    with pytest.raises(AudioError, match="'cellar@1' is unknown"):
        draw_room(np.random.default_rng(0), name="cellar@1")
