"""M3-DuplexBench: channels, float-exact times, reference answers that are not cut, and what an oracle scores."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.export.m3 import RATE_HZ, Words, without_gaps
from duplexkit.builders.export.m3_labels import as_intended, by_rule
from duplexkit.builders.flac import from_flac
from duplexkit.scenarios.events import label
from tests.builders import exported as ex
from tests.builders import m3_reader as m3

CHANNEL = {"system": "0", "user": "1"}


@pytest.fixture(scope="module")
def folder() -> Path:
    return ex.dataset(
        "mt_qa", count=4, extra="backchannel_rate = 0.5\nbarge_in_rate = 0.5\ncut_off_rate = 0.2\n"
    )


@pytest.fixture(scope="module")
def out(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("m3") / "out"
    ex.run(folder, place, "m3", dataset="tones")
    return place


def pairs(out: Path, folder: Path) -> list[tuple[ex.Row, m3.Dialogue]]:
    rows = ex.rows(folder)
    dialogues = {
        d.name: d
        for language in ex.LANGUAGES
        for d in m3.read_dialogues(out / "data" / language / "task" / "tones")
    }
    return [(rows[row_id], dialogues[Path(place).name]) for row_id, place in ex.places(out).items()]


def test_everything_validates_and_only_dialogues_go_in(out: Path, folder: Path, tmp_path: Path) -> None:
    assert ex.findings(out, "m3") == []
    assert len(pairs(out, folder)) == 8
    done = ex.run(ex.everything(), tmp_path / "all", "m3")
    assert done.n_written == 4 and set(done.skipped.values()) == {28}


def test_a_reader_of_the_description_recovers_every_event(out: Path, folder: Path) -> None:
    kinds = set()
    for row, dialogue in pairs(out, folder):
        for role, channel in CHANNEL.items():
            wanted = sorted(
                (e["kind"], e["onset_s"], e["offset_s"]) for e in row["m3_events"] if e["role"] == role
            )
            assert sorted(dialogue.events[channel]) == wanted, "equal as floats"
            starts = [start for _, start, _ in dialogue.events[channel]]
            assert starts == sorted(starts)
            kinds |= {kind for kind, _, _ in wanted}
    assert {"TURN", "TURN_SHIFT", "SHORTPAUSE", "BC", "BARGE_IN"} <= kinds


def test_channel_1_is_the_user_and_both_keep_their_level(out: Path, folder: Path) -> None:
    for row, dialogue in pairs(out, folder):
        assert dialogue.rate == RATE_HZ
        for role, track in (("user", "input"), ("system", "system")):
            samples = from_flac(row[track])
            assert samples is not None
            said = [t for t in row["turns"] if t["role"] == role]
            levels = []
            for rate, signal in ((24000, samples), (RATE_HZ, dialogue.channels[int(CHANNEL[role])] / 32768)):
                energy = [signal[round(t["onset_s"] * rate) : round(t["offset_s"] * rate)] for t in said]
                levels.append(10 * np.log10(np.mean(np.concatenate(energy).astype(float) ** 2)))
            assert levels[0] == pytest.approx(levels[1], abs=0.02)


def test_a_shift_starts_at_a_turns_end_as_a_float_and_its_word_is_there(out: Path, folder: Path) -> None:
    n = 0
    for _, dialogue in pairs(out, folder):
        for channel, other in (("0", "1"), ("1", "0")):
            for kind, start, end in dialogue.events[channel]:
                if kind == "TURN_SHIFT":
                    n += 1
                    assert start in {e for _, e in dialogue.turns[other]}
                    assert end in {s for s, _ in dialogue.turns[channel]}
                    assert end in {word[0] for word in dialogue.words[channel]}
    assert n > 20


def test_reference_answers_are_whole_without_gaps_and_cut_with_them(
    out: Path, folder: Path, tmp_path: Path
) -> None:
    ex.run(folder, tmp_path / "gaps", "m3", dataset="tones", gap_free=False)
    whole = cut = 0
    for place in (out, tmp_path / "gaps"):
        assert ex.findings(place, "m3") == []
        for row, dialogue in pairs(place, folder):
            answers = {
                round(t["onset_s"], 2): " ".join(w["text"] for w in t["words"])
                for t in row["turns"]
                if t["role"] == "system"
            }
            for kind, _, start in dialogue.events["0"]:
                if kind != "TURN_SHIFT":
                    continue
                wanted = next(text for at, text in answers.items() if abs(at - start) < 0.011)
                got = m3.reference_answer(dialogue, start)
                if place == out:
                    assert got == wanted
                    whole += 1
                else:
                    cut += got != wanted
    assert whole > 10 and cut == whole, "every answer of tones has a gap after its first word"


def test_japanese_words_are_morphemes_without_spaces(out: Path, folder: Path) -> None:
    for row, dialogue in pairs(out, folder):
        for role, channel in CHANNEL.items():
            words = [w["text"] for t in row["turns"] if t["role"] == role for w in t["words"]]
            assert sorted(word[2] for word in dialogue.words[channel]) == sorted(words)
            if row["language"] == "ja":
                assert all(" " not in word and "　" not in word for word in words)


def test_intended_labels_keep_a_short_answer_as_a_turn() -> None:
    """A "Yes." of 0.5 s is a BC by the rule, and the shift to it is gone; it was meant as an answer."""

    def turn(role: str, onset_s: float, offset_s: float) -> dict[str, object]:
        return {"role": role, "onset_s": onset_s, "offset_s": offset_s}

    def event(
        kind: str, role: str, onset_s: float, offset_s: float, turn: int, **more: object
    ) -> dict[str, object]:
        event = {"kind": kind, "role": role, "onset_s": onset_s, "offset_s": offset_s, "turn": turn}
        return {"fto_s": None, "system_stop_s": None, **event, **more}

    row = {
        "turns": [turn("user", 0.0, 2.0), turn("system", 2.3, 2.8), turn("user", 2.7, 5.0)],
        "events": [
            event("shift", "system", 2.0, 2.3, 1, fto_s=0.3),
            event("shift", "user", 2.7, 2.8, 2, fto_s=-0.1),
            event("hold", "user", 3.5, 4.2, 2),
        ],
        "m3_events": [{"kind": "BC", "role": "system", "onset_s": 2.3, "offset_s": 2.8}],
    }
    assert [(e.kind, e.start_cs, e.end_cs) for e in by_rule(row)["0"]] == [("BC", 230, 280)]
    intended = as_intended(row)
    assert [(e.kind, e.start_cs, e.end_cs) for e in intended["0"]] == [
        ("TURN_SHIFT", 200, 230),
        ("TURN", 230, 280),
    ]
    assert [(e.kind, e.start_cs, e.end_cs) for e in intended["1"]] == [
        ("TURN", 0, 200),
        ("TURN", 270, 350),
        ("TURN_SHIFT", 280, 270),  # overlapping: its start is the giving turn's end
        ("TURN_HOLD", 350, 420),
        ("TURN", 420, 500),
    ]


def test_intended_labels_validate(folder: Path, tmp_path: Path) -> None:
    ex.run(folder, tmp_path / "out", "m3", labels="intended")
    assert ex.findings(tmp_path / "out", "m3") == []


def model(dialogue: m3.Dialogue, kind: str, event: m3.Event) -> list[tuple[float, float]]:
    """Return when a model speaks that behaves as expected at one event."""
    _, start, end = event
    if kind == "SHIFT":
        return [(start + 0.2, start + 5.0)]
    if kind == "HOLD":
        return []
    began, ended = max((s, e) for s, e in dialogue.turns["0"] if s <= start <= e)
    if kind == "BC":
        return [(began, max(ended, end + 1.5))]
    return [(began, start + 0.5), (end + 0.3, end + 5.0)]


def test_an_oracle_is_timed_perfectly_and_the_others_as_they_deserve(out: Path, folder: Path) -> None:
    seen: set[str] = set()
    for row, dialogue in pairs(out, folder):
        whole = [(0.0, row["duration_s"] + 20.0)]
        for kind, event in m3.scored(dialogue):
            seen.add(kind)
            assert m3.timing_score(kind, event, model(dialogue, kind, event), 0)
            assert m3.timing_score(kind, event, [], 0) is (kind == "HOLD")
            assert m3.timing_score(kind, event, whole, 100) is (kind == "BC")
    assert {"SHIFT", "BARGE_IN", "BC"} <= seen


def test_holds_are_scored_too(tmp_path: Path) -> None:
    folder = ex.dataset("mt_qa", count=6, extra="hold_rate = 1.0\nhesitation_rate = 0.0\n")
    ex.run(folder, tmp_path / "out", "m3", dataset="tones")
    labelled = [
        e["kind"] for row in ex.rows(folder).values() for e in row["m3_events"] if e["kind"] == "TURN_HOLD"
    ]
    assert labelled, "the dialogues of the bank hold"
    n = 0
    for _, dialogue in pairs(tmp_path / "out", folder):
        for kind, event in m3.scored(dialogue):
            if kind == "HOLD":
                n += 1
                assert m3.timing_score(kind, event, model(dialogue, kind, event), 0)
                assert m3.timing_score(kind, event, [], 0)
                assert not m3.timing_score(kind, event, [(0.0, 1000.0)], 100)
    assert n > 0


SIDE = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 60)), min_size=1, max_size=12)
"""Words of one side in centiseconds: the gap before each, and its length."""


@given(SIDE, SIDE)
def test_closing_gaps_moves_no_event_of_the_rule(
    system: list[tuple[int, int]], user: list[tuple[int, int]]
) -> None:
    """Without gaps inside its units a dialogue has the same TURNs, BCs and relations, and no SHORTPAUSE."""
    words: Words = {}
    for channel, side in (("0", system), ("1", user)):
        at, said = 0, []
        for gap, length in side:
            said.append((at + gap, at + gap + length, "w"))
            at += gap + length
        words[channel] = said
    before = label({channel: [(a, b) for a, b, _ in said] for channel, said in words.items()})
    closed = without_gaps(words, before)
    after = label({channel: [(a, b) for a, b, _ in said] for channel, said in closed.items()})
    for channel in words:
        assert [e for e in before[channel] if e.kind != "SHORTPAUSE"] == list(after[channel])
        assert [w[0] for w in closed[channel]] == [w[0] for w in words[channel]]
    assert without_gaps(closed, after) == closed


def test_lines_have_two_decimals(out: Path) -> None:
    times = [
        t
        for path in out.rglob("*.jsonl")
        for line in path.read_text("utf-8").splitlines()
        for listed in json.loads(line)["events"].values()
        for event in listed
        for t in event["time"]
    ]
    assert len(times) > 100
    assert [t for t in times if round(t, 2) != t] == []
