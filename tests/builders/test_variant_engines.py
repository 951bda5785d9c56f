"""Variants and engines: another one, another version, and ones that take no speed or need a second try."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from duplexkit import EngineError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.cli import main
from duplexkit.builders.differences import differences
from duplexkit.builders.said import all_said
from duplexkit.builders.speak import speak_turn
from duplexkit.builders.speakers import engines
from duplexkit.builders.variant import Asked
from duplexkit.scenarios.conversation import PlannedTurn, Role, Start
from tests.builders.test_build import rows_of
from tests.builders.test_variant import made
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]


class Shouter(ToneSpeaker):
    """Two of its voices clip at normal speed: what they say is tried again, slower."""

    engine, version = "shouter", "1"

    def speak(self, request):
        clip = super().speak(request)
        if request.speed == 1.0 and request.voice.id in ("tone-a", "tone-b"):
            return replace(clip, samples=clip.samples.clip(-0.1, 0.1))
        return clip


class Service(ToneSpeaker):
    """Takes no speed, and clips each text of two of its voices the first time it is asked for it."""

    engine, version = "service", "1"
    takes_speed = False
    asked: ClassVar[list[tuple[str, str, int]]] = []

    def speak(self, request):
        assert request.speed == 1.0
        who = request.voice.id, request.text
        known = any(one[:2] == who for one in self.asked)
        self.asked.append((*who, request.seed))
        clip = super().speak(request)
        shout = not known and request.voice.id in ("tone-a", "tone-b")
        return replace(clip, samples=clip.samples.clip(-0.1, 0.1)) if shout else clip


@pytest.mark.parametrize("uses_seed", [True, False])
def test_an_engine_that_takes_no_speed_is_really_asked_again(
    tone_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uses_seed: bool
) -> None:
    monkeypatch.setitem(engines(), "service", replace(engines()["tone"], name="service", make=Service))
    monkeypatch.setattr(Service, "uses_seed", uses_seed)
    monkeypatch.setattr(Service, "version", f"seed={uses_seed}")
    Service.asked.clear()
    text = tone_recipe_text("background_speech", count=4).replace('"tone"', '"service"')
    base = tone_build(text, tmp_path / "base")
    assert not base.rejects
    said = list(all_said(base.folder))
    assert any(any(one.tries) for one in said) and not all(all(one.tries) for one in said)
    assert {
        turn["speed"] for row in rows_of(base.folder).values() for turn in row["provenance"]["turns"]
    } == {1.0}
    assert len(set(Service.asked)) == len(Service.asked)
    if not uses_seed:
        assert {seed for _, _, seed in Service.asked} == {0, 1}, "first tries serve all samples"
    n = len(Service.asked)
    result = made(base.folder, tmp_path / "out", tmp_path / "empty", Asked(treatments=("closed_door@1",)))
    assert len(Service.asked) == n and result.n_spoken == 0


def test_a_length_that_is_not_kept_is_left_to_an_engine_without_speed(tmp_path: Path) -> None:
    speaker = Service(tmp_path)
    turn = PlannedTurn(
        name="event",
        role=Role.USER,
        voice="tone-c",
        text="one two three",
        speed=1.0,
        start=Start(turn=None, distance_s=0.0),
        move="open",
        length_s=(1.2, 90.0),  # at speed 1 it lasts 0.99 s
    )
    for speaker, is_fitted in ((Service(tmp_path), False), (ToneSpeaker(tmp_path), True)):
        counts: list[str] = []
        utterance = speak_turn(
            turn,
            language="en",
            voice=speaker.voices()["tone-c"],
            speaker=speaker,
            cache_dir=tmp_path,
            seed=0,
            sample_rate_hz=24000,
            count=counts.append,
        )
        lasts_s = (utterance.shape.offset - utterance.shape.onset) / 24000
        assert (len(counts) > 1, lasts_s >= 1.2, utterance.provenance["speed"] < 1.0) == (is_fitted,) * 3


def test_a_sample_that_needed_a_second_try_is_kept_as_it_came_out(
    tone_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines(), "shouter", replace(engines()["tone"], name="shouter", make=Shouter))
    text = tone_recipe_text("background_speech", count=4).replace('"tone"', '"shouter"')
    base = tone_build(text, tmp_path / "base")
    tries = [said.tries for said in all_said(base.folder)]
    assert any(map(any, tries)) and not all(map(all, tries)), "some turns were tried again, some were not"
    result = made(base.folder, tmp_path / "out", tmp_path / "empty", Asked(treatments=("closed_door@1",)))
    assert result.n_spoken == 0 and list(rows_of(result.folder)) == list(rows_of(base.folder))
    assert [said.turns for said in all_said(result.folder)] == [s.turns for s in all_said(base.folder)]


class Chime(ToneSpeaker):
    """Another engine: the tones upside down."""

    engine, version = "chime", "1"

    def speak(self, request):
        clip = super().speak(request)
        return replace(clip, samples=-clip.samples)


@pytest.fixture
def chime(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = engines()["tone"]
    monkeypatch.setitem(engines(), "chime", replace(facts, name="chime", make=Chime))


def test_another_engine(tone_build: Build, tmp_path: Path, chime: None) -> None:
    base = tone_build(tone_recipe_text("user_interruption", "mt_qa"), tmp_path / "base").folder
    result = made(base, tmp_path / "out", tmp_path / "cache", Asked(engine="chime"))
    told = differences(base, result.folder)
    assert told["ids"] == {"same": 8, "parallel": 0, "new": [], "missing": []}
    assert told["columns"]["input"] == {"same": 0, "changed": 8}
    assert told["columns"]["split"] == {"same": 8, "changed": 0}
    assert not {"text", "intent", "role"} & set(told["columns"]["turns"]["fields"])
    assert {row["provenance"]["engine"] for row in rows_of(result.folder).values()} == {"chime"}


def test_what_a_service_will_cost_is_shown_before(
    tone_build: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tone_recipe_text("user_backchannel", count=3).replace('["en", "ja"]', '["en"]')
    base = tone_build(text, tmp_path / "base").folder
    options = {
        "model": '"tts"',
        "licence": '"CC0-1.0"',
        "usd_per_million_chars": "2000.0",
        "voices.nova.languages": '["en"]',
        "voices.onyx.languages": '["en"]',
    }
    asked = [arg for key, value in options.items() for arg in ("--set", f"speech.options.{key}={value}")]
    cache = str(tmp_path / "empty")
    assert main(["variant", str(base), "--engine", "openai_speech", *asked, "--cache", cache]) == 0
    n = sum(len(turn["text"]) for row in rows_of(base).values() for turn in row["turns"])
    shown = capsys.readouterr().out
    assert f"to be spoken by openai_speech ({n} characters, about ${n * 2e-3:.2f})" in shown


def test_another_version_of_the_engine_does_not_mix_in(
    tone_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tone_build(tone_recipe_text("pause_handling"), tmp_path / "base").folder
    monkeypatch.setattr(ToneSpeaker, "version", "2")
    asked = Asked(overrides=("scenarios.pause_handling.pause_s=[1.9, 2.0]",))
    with pytest.raises(EngineError, match=r"spoken by tone 1; here is 2.*--engine tone"):
        made(base, tmp_path / "out", tmp_path / "empty", asked)
    result = made(base, tmp_path / "out", tmp_path / "empty", replace(asked, engine="tone"))
    assert result.n_spoken > 0
