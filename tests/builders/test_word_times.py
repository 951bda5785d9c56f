"""Words and Japanese morphemes: inside their utterance, in order, apart, and none missing."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from duplexkit.builders.cli import default_cache
from duplexkit.builders.sample import Utterance
from duplexkit.builders.speak import speak_turn
from duplexkit.builders.speakers import Clip, ClipWord, Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.kokoro import clip_words, phonemes, word_spans
from duplexkit.builders.speakers.kokoro_model import FRAME_SAMPLES, SAMPLE_RATE_HZ
from duplexkit.builders.speakers.phonemes import joined
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.conversation import PlannedPause, PlannedTurn, Role, Start, Voice
from duplexkit.scenarios.markup import parse
from tests.tone import RATE, ToneSpeaker


def turn_of(text: str, *, speed: float = 1.0, pauses: tuple[PlannedPause, ...] = (), **more) -> PlannedTurn:
    start = Start(turn=None, distance_s=0.0)
    return PlannedTurn(
        name="turn", role=Role.USER, voice="v", text=text, speed=speed, start=start, move="open", pauses=pauses,
        **more,
    )  # fmt: skip


def spoken(turn: PlannedTurn, language: str, voice: Voice, speaker: Speaker, cache: Path) -> Utterance:
    return speak_turn(
        turn, language=language, voice=voice, speaker=speaker, cache_dir=cache, seed=0,
        sample_rate_hz=SAMPLE_RATE_HZ, count=lambda _: None,
    )  # fmt: skip


def letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def assert_words_are_sound(utterance: Utterance, text: str) -> None:
    shape = utterance.shape
    assert 0 <= shape.onset < shape.offset <= shape.n_samples == utterance.pcm.size
    assert letters("".join(word.text for word in shape.words)) == letters(text), "a word is missing"
    reached = shape.onset
    for word in shape.words:
        assert reached <= word.start < word.stop <= shape.offset, (word, text)
        reached = word.stop
    assert (shape.words[0].start, shape.words[-1].stop) == (shape.onset, shape.offset)


def bank_lines(language: str) -> list[str]:
    """Return every line of the shipped bank, as written."""
    return [
        turn.text
        for name in sorted(SCENARIOS)
        for script in load_scripts(name, language)
        for turn in script.turns
    ]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_seventh_bank_line_whatever_the_networks_durations(language: str) -> None:
    """The durations are drawn; reading rules, word spans and clip words are the engine's own."""
    rng = np.random.default_rng(11)
    lines = bank_lines(language)[::7]
    assert len(lines) >= 100
    for line in lines:
        marked = parse(line)
        breaks = tuple(mark.position for mark in marked.places("pause"))
        groups = phonemes(marked.text, language, readings=marked.readings, breaks=breaks)
        covered = [k for group in groups for k in range(group.start_char, group.stop_char)]
        assert covered == sorted(set(covered)), line
        assert {k for k, char in enumerate(marked.text) if char.isalnum()} <= set(covered), line

        frames = rng.integers(1, 30, size=len(joined(groups)) + 2)
        edges_s = np.concatenate([[0], np.cumsum(frames)]) * FRAME_SAMPLES / SAMPLE_RATE_HZ
        duration_s = float(edges_s[-1])
        lag_s = float(rng.uniform(0.0, 0.08))
        words = clip_words(
            marked.text, groups, word_spans(groups, edges_s), lag_s=lag_s, duration_s=duration_s
        )
        assert [w.text for w in words] == [marked.text[w.start_char : w.stop_char] for w in words]
        times = [t for word in words for t in (word.onset_s, word.offset_s)]
        assert times == sorted(times), line
        assert times[0] >= 0.0 and times[-1] <= duration_s, line


class Misjudging(ToneSpeaker):
    """Knows its words' times badly: each edge is moved, within the clip and in order."""

    def __init__(self, cache_dir: Path, errors_s: list[float]) -> None:
        super().__init__(cache_dir)
        self.version = uuid4().hex  # never another example's clip
        self._errors_s = errors_s

    def speak(self, request: SpeechRequest) -> Clip:
        clip = super().speak(request)
        length_s = clip.samples.size / clip.sample_rate_hz
        edges_s = [t for word in clip.words for t in (word.onset_s, word.offset_s)]
        moved_s = [t + self._errors_s[k % len(self._errors_s)] for k, t in enumerate(edges_s)]
        times_s = iter(np.clip(np.sort(moved_s), 0.0, length_s).tolist())
        return replace(
            clip, words=tuple(replace(w, onset_s=next(times_s), offset_s=next(times_s)) for w in clip.words)
        )


@settings(max_examples=60, deadline=None)
@given(
    errors_s=st.lists(st.floats(-0.4, 0.4), min_size=1, max_size=9),
    parts=st.lists(st.sampled_from(["tea", "I", "marmalade,", "who?", "seven"]), min_size=2, max_size=8),
    pauses_s=st.lists(st.floats(0.0, 1.5), max_size=3),
    max_hush_s=st.none() | st.floats(0.06, 0.5),
)
@example(  # two marks by one silence
    errors_s=[0.25, 0.0, 0.0, -0.25], parts=["tea"] * 4, pauses_s=[0.0, 0.0, 1.0], max_hush_s=None
)
def test_badly_judged_times_still_give_sound_words(
    tmp_path_factory: pytest.TempPathFactory,
    errors_s: list[float],
    parts: list[str],
    pauses_s: list[float],
    max_hush_s: float | None,
) -> None:
    folder = tmp_path_factory.getbasetemp() / "misjudged"
    pauses_s = pauses_s[: len(parts) - 1]
    marked = [f"{part} [pause:list]" if k < len(pauses_s) else part for k, part in enumerate(parts)]
    turn = turn_of(
        " ".join(marked),
        pauses=tuple(PlannedPause(kind="list", length_s=length_s) for length_s in pauses_s),
        max_hush_s=max_hush_s,
    )
    speaker = Misjudging(folder, errors_s)
    made = spoken(turn, "en", speaker.voices()["tone-a"], speaker, folder)
    assert_words_are_sound(made, " ".join(parts))
    reached = 0
    for pause in made.shape.pauses:
        assert reached <= pause.start < pause.stop, "pauses overlap"
        reached = pause.stop
        assert not any(w.start < pause.stop and w.stop > pause.start for w in made.shape.words), (
            "a word in a pause"
        )


class Joined(ToneSpeaker):
    """Says "onions", a silence, and then "and those" in one breath, the one as a voice rises into a word."""

    LENGTHS: ClassVar[dict[str, int]] = {"onions": 9600, "and": 2000, "those": 5000}

    def __init__(self, cache_dir: Path, early_s: float) -> None:
        """`early_s`: how much too early the engine judges the start of "and"."""
        super().__init__(cache_dir)
        self.version = str(early_s)
        self._early_s = early_s

    def speak(self, request: SpeechRequest) -> Clip:
        tones = {
            word: (0.25 * np.cos(np.arange(n) * 0.1)).astype(np.float32) for word, n in self.LENGTHS.items()
        }
        tones["and"][:400] *= np.linspace(0.05, 1.0, 400, dtype=np.float32)
        hush, ends = np.zeros(7200, np.float32), np.zeros(4800, np.float32)
        pieces = [ends, tones["onions"], hush, tones["and"], tones["those"], ends]
        edges = np.cumsum([0, *(piece.size for piece in pieces)])[[1, 2, 3, 4, 4, 5]] / RATE
        edges[2] -= self._early_s
        starts = [request.text.index(word) for word in tones]
        words = tuple(
            ClipWord(
                text=word,
                start_char=a,
                stop_char=a + len(word),
                onset_s=edges[2 * i],
                offset_s=edges[2 * i + 1],
            )
            for i, (word, a) in enumerate(zip(tones, starts, strict=True))
        )
        return Clip(
            samples=np.concatenate(pieces),
            sample_rate_hz=RATE,
            words=words,
            word_time_source="token_durations",
        )


@pytest.mark.parametrize("early_s", [0.0, 0.05, 0.1])
def test_a_pause_that_the_engine_did_not_make_stands_after_its_word(tmp_path: Path, early_s: float) -> None:
    """The quiet rise of "and" after a silence is no place for the pause behind "and"."""
    turn = turn_of("onions, and [pause:list] those", pauses=(PlannedPause(kind="list", length_s=0.8),))
    speaker = Joined(tmp_path, early_s)
    made = spoken(turn, "en", speaker.voices()["tone-a"], speaker, tmp_path)
    (pause,) = made.shape.pauses
    onions, and_, those = made.shape.words
    assert and_.stop == pause.start and those.start == pause.stop
    assert and_.stop - and_.start >= Joined.LENGTHS["and"] // 2
    assert and_.start - onions.stop == pytest.approx(7200, abs=240)
    assert pause.stop - pause.start == pytest.approx(0.8 * RATE, abs=480)


@pytest.fixture(scope="module")
def kokoro_in_users_cache() -> tuple[Speaker, Path]:
    """The embedded voice, with the user's own speech cache: some ten minutes of speech, spoken once."""
    return make_speaker("kokoro", default_cache()), default_cache()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_hundred_bank_lines_by_the_embedded_voice(
    language: str, kokoro_in_users_cache: tuple[Speaker, Path]
) -> None:
    speaker, cache = kokoro_in_users_cache
    lines = list(pytest.importorskip("duplexkit.tools.word_lag").texts_of("bank", language))
    assert len(lines) >= 100
    for name, text in lines:
        made = spoken(turn_of(text), language, speaker.voices()[name], speaker, cache)
        assert made.word_time_source == "token_durations"
        assert_words_are_sound(made, parse(text).text)


@pytest.mark.slow
def test_english_word_starts_agree_with_pocketsphinx(kokoro_in_users_cache: tuple[Speaker, Path]) -> None:
    """The bar, on voices the lag was not fitted on: 25 ms about the aligner's own bias, 95 % within 60 ms."""
    pytest.importorskip("pocketsphinx")
    word_lag = pytest.importorskip("duplexkit.tools.word_lag")
    word_aligners = pytest.importorskip("duplexkit.tools.word_aligners")
    speaker, cache = kokoro_in_users_cache
    distances_s: list[float] = []
    for name, text in word_lag.texts_of("bank", "en"):
        made = spoken(turn_of(text), "en", speaker.voices()[name], speaker, cache)
        samples = made.pcm.astype(np.float32) / 32_768
        found = word_aligners.sphinx_onsets_s(text, samples, made.sample_rate_hz)
        if found is not None:
            own_s = [word.start / made.sample_rate_hz for word in made.shape.words]
            distances_s += [a - b for a, b in zip(list(found.values())[1:], own_s[1:], strict=True)]
    assert len(distances_s) > 800
    rest_s = np.abs(np.array(distances_s) - np.median(distances_s))
    assert abs(np.median(distances_s)) < 0.03
    assert rest_s.mean() <= 0.025 and np.percentile(rest_s, 95) <= 0.060, word_lag.spread(distances_s)
