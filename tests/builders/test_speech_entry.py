"""An entry of the speech cache: damaged, renamed or swapped, it is spoken again."""

import hashlib
import io
import json
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from duplexkit.builders.cli import main
from duplexkit.builders.speakers import Clip, ClipWord, SpeechRequest
from duplexkit.builders.speech_cache import entry_path, get_or_speak, is_whole, request_key
from duplexkit.builders.speech_entry import clip_in, entry_bytes
from tests.tone import ToneSpeaker

KEY, OTHER = "a" * 64, "b" * 64
FLIPS = (0x01, 0x08, 0x80, 0xFF)


def a_clip() -> Clip:
    samples = np.random.default_rng(3).standard_normal(60).astype(np.float32)
    word = ClipWord(text="yes", start_char=0, stop_char=3, onset_s=0.0, offset_s=0.002)
    return Clip(samples=samples, sample_rate_hz=24_000, words=(word,), word_time_source="tones")


def old_entry(clip: Clip) -> bytes:
    """Return what caches hold that were filled before entries bore keys."""
    samples, file = io.BytesIO(), io.BytesIO()
    np.save(samples, clip.samples)
    meta = {
        "sample_rate_hz": clip.sample_rate_hz,
        "word_time_source": clip.word_time_source,
        "words": None if clip.words is None else [asdict(word) for word in clip.words],
        "sha256": hashlib.sha256(samples.getvalue()).hexdigest(),
    }
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samples.npy", samples.getvalue())
        archive.writestr("meta.json", json.dumps(meta))
    return file.getvalue()


def same(one: Clip, other: Clip) -> bool:
    return np.array_equal(one.samples, other.samples) and (
        replace(one, samples=other.samples) == replace(other, samples=other.samples)
    )


def test_a_clip_comes_back_under_its_key_and_no_other() -> None:
    clip = a_clip()
    data = entry_bytes(clip, KEY)
    assert data == entry_bytes(clip, KEY), "the same clip, the same bytes"
    found = clip_in(data, KEY)
    assert found is not None and same(found, clip)
    assert clip_in(data, OTHER) is None
    without_words = replace(clip, words=None)
    found = clip_in(entry_bytes(without_words, KEY), KEY)
    assert found is not None and same(found, without_words)


def test_any_byte_that_is_flipped_is_damage() -> None:
    data = entry_bytes(a_clip(), KEY)
    for place in range(len(data)):
        for flip in FLIPS:
            bad = bytearray(data)
            bad[place] ^= flip
            assert clip_in(bytes(bad), KEY) is None, (place, flip)


def test_a_file_that_is_cut_or_grown_is_damaged() -> None:
    data = entry_bytes(a_clip(), KEY)
    assert not any(clip_in(data[:n], KEY) or clip_in(data[n:], KEY) for n in range(1, len(data)))
    assert clip_in(b"", KEY) is None
    assert clip_in(data + b"\0", KEY) is None and clip_in(b"\0" + data, KEY) is None


def test_an_old_entry_is_read_and_gives_its_own_clip_or_none() -> None:
    clip = a_clip()
    data = old_entry(clip)
    found = clip_in(data, KEY)
    assert found is not None and same(found, clip)
    n_damaged = 0
    for place in range(len(data)):
        for flip in FLIPS:
            bad = bytearray(data)
            bad[place] ^= flip
            read = clip_in(bytes(bad), KEY)
            assert read is None or same(read, clip), (place, flip)
            n_damaged += read is None
    assert n_damaged > 0.8 * len(data) * len(FLIPS), "the rest is dates and rights, which are not read"
    assert not any(clip_in(data[:n], KEY) for n in range(len(data)))


@pytest.mark.parametrize("content", ["[]", "null", "3", '"x"', "{}", "{", '{"words": 3}'])
def test_what_an_entry_says_of_itself_must_have_its_form(content: str) -> None:
    file = io.BytesIO()
    samples = io.BytesIO()
    np.save(samples, a_clip().samples)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samples.npy", samples.getvalue())
        archive.writestr("meta.json", content)
    assert clip_in(file.getvalue(), KEY) is None


def asked(text: str, cache: Path) -> tuple[ToneSpeaker, SpeechRequest, Path]:
    speaker = ToneSpeaker(cache)
    request = SpeechRequest(text=text, language="en", voice=speaker.voices()["tone-a"])
    return speaker, request, entry_path(cache, "tone", request_key(speaker, request))


def spoken(text: str, cache: Path) -> tuple[str, Clip]:
    counted: list[str] = []
    speaker, request, _ = asked(text, cache)
    _, clip = get_or_speak(cache, speaker, request, counted.append)
    return counted[0], clip


@pytest.mark.parametrize("is_old", [False, True])
def test_clips_that_changed_places_are_spoken_again(tmp_path: Path, is_old: bool) -> None:
    texts = ("Wait, stop.", "Go on then.")
    paths = [asked(text, tmp_path)[2] for text in texts]
    clips = [spoken(text, tmp_path)[1] for text in texts]
    if is_old:
        for path, clip in zip(paths, clips, strict=True):
            path.write_bytes(old_entry(clip))
        assert [spoken(text, tmp_path)[0] for text in texts] == ["cached", "cached"], "old entries stay valid"
    first, second = (path.read_bytes() for path in paths)
    paths[0].write_bytes(second)
    paths[1].write_bytes(first)
    for text, clip in zip(texts, clips, strict=True):
        how, found = spoken(text, tmp_path)
        assert how == "spoken" and same(found, clip)
    assert [spoken(text, tmp_path)[0] for text in texts] == ["cached", "cached"]


@pytest.mark.parametrize("place", [6, 8, 10, 26, -20, -64, -1, "directory"])
def test_a_flipped_bit_is_found_by_build_and_prune(
    tmp_path: Path, place: int | str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Wait, stop."
    path = asked(text, tmp_path)[2]
    _, clip = spoken(text, tmp_path)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 10 if place == "directory" else place] ^= 0x08
    path.write_bytes(data)
    assert not is_whole(path)
    assert main(["cache", "--cache", str(tmp_path), "prune", "--damaged"]) == 0
    assert "1 of 1 clips" in capsys.readouterr().out
    how, found = spoken(text, tmp_path)
    assert how == "spoken" and same(found, clip)
