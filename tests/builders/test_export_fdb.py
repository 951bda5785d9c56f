"""Full-Duplex-Bench: folders as its scripts read them, levels at its rate, and what an oracle scores there."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duplexkit.acoustics.level import from_pcm16, span_level_dbov
from duplexkit.builders.flac import from_flac
from tests.builders import exported as ex
from tests.builders import fdb_reader as fdb

RATE = 16000
STEP = 1 / RATE
"""Times are written to 1e-6 s, but none lies behind the last sample."""
V15 = {
    "user_interruption": "user_interruption",
    "user_backchannel": "user_backchannel",
    "talking_to_others": "talking_to_other",
    "background_speech": "background_speech",
}
V1 = {
    "pause_handling": "synthetic_pause_handling",
    "smooth_turn_taking": "synthetic_turn_taking",
    "backchannel": "synthetic_backchannel",
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fdb")
    same = ex.changed(ex.everything(), place / "same", ex.by_their_rule)
    ex.run(same, place / "out", "fdb")
    return place / "out"


@pytest.fixture(scope="module")
def v1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fdb-v1")
    same = ex.changed(ex.interruptions(), place / "same", ex.by_their_rule)
    ex.run(same, place / "out", "fdb")
    return place / "out"


def pairs(out: Path, folder: Path) -> list[tuple[ex.Row, Path]]:
    rows = ex.rows(folder)
    return [(rows[row_id], out / place) for row_id, place in ex.places(out).items()]


def test_tasks_have_their_published_names_and_folders_count_from_0(out: Path, v1: Path) -> None:
    for language in ex.LANGUAGES:
        for version, names in (("v1_0", V1), ("v1_5", V15)):
            assert {p.name for p in (out / language / version).iterdir() if p.is_dir()} == set(names.values())
            for name in names.values():
                listed = fdb.numbered(out / language / version / name)
                assert [path.name for path in listed] == [str(i) for i in range(len(listed))]
        assert fdb.numbered(v1 / language / "v1_0" / "synthetic_user_interruption")
    assert ex.findings(out, "fdb") == [] and ex.findings(v1, "fdb") == []


def test_rows_by_numbers_of_our_own_never_get_a_published_name(tmp_path: Path) -> None:
    ex.run(ex.everything(), tmp_path / "out", "fdb")
    names = {path.name for path in tmp_path.glob("out/*/v1_?/*") if path.is_dir()}
    assert names == {
        "synthetic_own_pause_handling",
        "synthetic_turn_taking",
        "synthetic_backchannel",
        *(f"synthetic_own_{name}" for name in V15.values()),
    }
    assert ex.findings(tmp_path / "out", "fdb") == []


def test_rows_that_a_rule_would_punish_stay_out_with_the_reason(tmp_path: Path) -> None:
    tailed = ex.dataset("pause_handling", extra='preset = "tailed"\n')
    with pytest.raises(Exception, match="counts any answer in a pause file"):
        ex.run(tailed, tmp_path / "tailed", "fdb")
    done = ex.run(ex.interruptions(), tmp_path / "stop", "fdb")
    stops = [r for r in ex.rows(ex.interruptions()).values() if r["events"][-1]["intent"] == "stop"]
    assert stops and done.n_written == 8 - len(stops)
    (reason,) = done.skipped
    assert "only asks for silence" in reason and done.skipped[reason] == len(stops)


def test_a_reader_of_the_description_recovers_every_event(out: Path, v1: Path) -> None:
    seen = set()
    for row, folder in [*pairs(out, ex.everything()), *pairs(v1, ex.interruptions())]:
        read = fdb.read_sample(folder)
        wanted = {
            "pause_handling": [e for e in row["events"] if e["kind"] == "pause"],
            "backchannel": [],
        }.get(row["scenario"], row["events"][-1:])
        assert len(read.spans) == len(wanted)
        for (start, end), event in zip(read.spans, wanted, strict=True):
            assert (start, end) == pytest.approx((event["onset_s"], event["offset_s"]), abs=STEP)
        if read.texts:
            assert read.texts == [turn["text"] for turn in row["turns"]]
        words = [w for turn in row["turns"] for w in turn["words"]]
        if read.words:
            assert [w[0] for w in read.words] == [w["text"] for w in words]
            got = [t for w in read.words for t in w[1:]]
            assert got == pytest.approx([t for w in words for t in (w["onset_s"], w["offset_s"])], abs=STEP)
        seen.add((row["scenario"], row["language"]))
    assert len(seen) == 14


def test_ground_truth_transcripts_say_so_and_leave_the_event_out_of_the_clean_one(out: Path) -> None:
    for language, join in (("en", " "), ("ja", "")):
        for path in out.glob(f"{language}/v1_5/*/*/input.json"):
            said, clean = (
                json.loads((path.parent / n).read_text("utf-8")) for n in ("input.json", "clean_input.json")
            )
            labels = json.loads((path.parent / "metadata.json").read_text("utf-8"))
            assert said["transcript_source"] == clean["transcript_source"] == "ground_truth"
            assert clean["text"] == labels["context_text"]
            assert said["text"] == join.join([labels["context_text"], labels["current_turn_text"]])
            assert said["chunks"][: len(clean["chunks"])] == clean["chunks"]


def test_levels_are_those_of_the_row_at_16_khz(out: Path) -> None:
    """Bright words resampled lose more than dull ones: the difference of levels must stay, within 0.1 dB."""
    n = 0
    for row, folder in pairs(out, ex.everything()):
        if row["clean_input"] is None:
            continue
        n += 1
        heard, clean = (fdb.read_wav(folder / name) for name in ("input.wav", "clean_input.wav"))
        differences = []
        for rate, a, b in (
            (RATE, from_pcm16(heard), from_pcm16(clean)),
            (24000, from_flac(row["input"]), from_flac(row["clean_input"])),
        ):
            context, event = row["turns"][0], row["events"][-1]
            spans = [(round(x["onset_s"] * rate), round(x["offset_s"] * rate)) for x in (context, event)]
            assert a is not None and b is not None
            differences.append(span_level_dbov(a - b, [spans[1]]) - span_level_dbov(b, [spans[0]]))
        assert differences[0] == pytest.approx(differences[1], abs=0.02)
        assert heard.size == clean.size == -(
            -round(row["duration_s"] * 24000) * 2 // 3
        ) or heard.size == round(row["duration_s"] * RATE)
    assert n == sum(place.count("v1_5") for place in ex.places(out).values()) >= 15


def test_a_bright_event_keeps_its_level_against_a_dull_context(tmp_path: Path) -> None:
    """Noise up to 12 kHz loses a third of its power at 16 kHz (1.76 dB), a tone of 300 Hz nothing."""
    from duplexkit.acoustics.level import to_pcm16
    from duplexkit.builders.flac import to_flac

    def bright(stream: Any) -> Any:
        for row in stream:
            clean = from_flac(row["clean_input"])
            assert clean is not None
            event = row["events"][-1]
            start, stop = (round(event[edge] * 24000) for edge in ("onset_s", "offset_s"))
            noise = np.random.default_rng(3).normal(0, 0.02, stop - start).astype(np.float32)
            heard = clean.copy()
            heard[start:stop] += noise
            yield {**row, "input": {"bytes": to_flac(to_pcm16(heard), 24000), "path": "x.flac"}}

    folder = ex.changed(ex.dataset("background_speech", "talking_to_others"), tmp_path / "bright", bright)
    ex.run(folder, tmp_path / "out", "fdb")
    for row, sample in pairs(tmp_path / "out", folder):
        event = row["events"][-1]
        heard, clean = (from_pcm16(fdb.read_wav(sample / n)) for n in ("input.wav", "clean_input.wav"))
        span = (round(event["onset_s"] * RATE), round(event["offset_s"] * RATE))
        assert span_level_dbov(heard - clean, [span]) == pytest.approx(20 * np.log10(0.02), abs=0.1)


NOISE = "noise_snr_db = [0.0, 0.0]\nnoise_colours = ['white']\n"
CODEC = "codecs = ['g711_mulaw']\n"


@pytest.mark.parametrize("effect", [NOISE, CODEC], ids=["noise", "codec"])
def test_rows_with_effects_keep_the_events_level_under_them(effect: str, tmp_path: Path) -> None:
    """At 0 dB white noise is half of the user's span: its lost third must not be made up by the voice."""
    folder = ex.dataset("user_backchannel", "talking_to_others", extra=effect)
    ex.run(folder, tmp_path / "out", "fdb")
    assert ex.findings(tmp_path / "out", "fdb") == []
    for row, sample in pairs(tmp_path / "out", folder):
        if row["scenario"] != "talking_to_others":
            continue
        levels = []
        for rate, heard, clean in (
            (RATE, *(from_pcm16(fdb.read_wav(sample / n)) for n in ("input.wav", "clean_input.wav"))),
            (24000, from_flac(row["input"]), from_flac(row["clean_input"])),
        ):
            event = row["events"][-1]
            span = (round(event["onset_s"] * rate), round(event["offset_s"] * rate))
            levels.append(span_level_dbov(heard - clean, [span]))
            quiet = (round(row["turns"][0]["offset_s"] * rate) + rate, round(event["onset_s"] * rate) - rate)
            levels.append(span_level_dbov(clean, [quiet]) if effect == NOISE else 0.0)
        assert levels[0] == pytest.approx(levels[2], abs=0.02)
        if effect == NOISE:  # down to two thirds, less the filter's slope
            assert levels[1] - levels[3] == pytest.approx(-1.76, abs=0.3)


def test_input_is_clean_input_outside_the_event(out: Path) -> None:
    for row, folder in pairs(out, ex.everything()):
        if row["clean_input"] is not None:
            heard, clean = (fdb.read_wav(folder / name) for name in ("input.wav", "clean_input.wav"))
            differs = np.flatnonzero(heard != clean) / RATE
            event = row["events"][-1]
            assert event["onset_s"] - 0.021 <= differs[0] and differs[-1] <= event["audible_end_s"] + 1e-3


def test_the_clips_of_v1_make_the_input_again(v1: Path) -> None:
    """One inference client plays context, 7 s, interrupt and 15 s instead of the input."""
    for folder in v1.glob("*/v1_0/*/*"):
        heard, context, interrupt = (
            fdb.read_wav(folder / name) for name in ("input.wav", "context.wav", "interrupt.wav")
        )
        made = np.concatenate([context, np.zeros(7 * RATE, "<i2"), interrupt, np.zeros(15 * RATE, "<i2")])
        assert made.size == heard.size
        start, end = json.loads((folder / "interrupt.json").read_text("utf-8"))[0]["timestamp"]
        differs = np.flatnonzero(made != heard) / RATE  # only what lies round the labelled edges
        edges = (context.size / RATE, start, end)
        assert all(min(abs(at - edge) for edge in edges) <= 0.021 for at in differs)
        assert np.array_equal(made[: context.size], heard[: context.size])


def test_the_stem_of_v15_is_the_event_alone(out: Path) -> None:
    stems = {"interrupt.wav", "backchannel.wav", "current_turn.wav", "background.wav"}
    for folder in out.glob("*/v1_5/*/*"):
        (name,) = stems & {path.name for path in folder.iterdir()}
        heard, clean, stem = (fdb.read_wav(folder / n) for n in ("input.wav", "clean_input.wav", name))
        alone = heard.astype(int) - clean
        first = int(np.flatnonzero(alone)[0])
        at = int(np.flatnonzero(stem)[0])
        assert np.array_equal(alone[first : first + stem.size - at], stem[at:])
        assert np.abs(stem.astype(int)).sum() == np.abs(alone).sum(), "all of it"


def test_the_distribution_lies_beside_the_task_with_a_key_per_folder(out: Path) -> None:
    for language in ex.LANGUAGES:
        root = out / language / "v1_0" / "synthetic_backchannel"
        shares = json.loads((root.parent / "synthetic_backchannel_gt_distribution.json").read_text("utf-8"))
        assert set(shares) == {path.name for path in fdb.numbered(root)}
        for row, folder in pairs(out, ex.everything()):
            if folder.parent == root:
                assert shares[folder.name] == pytest.approx(row["backchannel_q"], abs=1e-6)
                assert len(shares[folder.name]) == -(-int(row["duration_s"] * 1000) // 200)


# --- models that behave as expected, that are silent, that always talk


def oracle(row: ex.Row) -> list[tuple[float, float]]:
    """Return when a model speaks that does at each event what the row expects, 0.3 s after it."""
    spans: list[tuple[float, float]] = []
    speaking: float | None = None
    for event in sorted(row["events"], key=lambda e: e["onset_s"]):
        wanted = event["expected_if_silent"] if speaking is None else event["expected_if_speaking"]
        if wanted == "respond":
            speaking = event["offset_s"] + 0.3
        elif wanted == "stop_and_respond":
            assert speaking is not None
            spans.append((speaking, event["onset_s"] + 0.15))
            speaking = event["offset_s"] + 0.3
        elif wanted == "backchannel_welcome":
            middle = (event["onset_s"] + event["offset_s"]) / 2
            spans.append((middle - 0.15, middle + 0.15))
        else:
            assert wanted in ("none", "keep_talking", "no_takeover")
    if speaking is not None and row["scenario"] != "backchannel":
        spans.append((speaking, row["duration_s"]))
    return spans


def play(folder: Path, spans: list[tuple[float, float]], duration_s: float) -> None:
    """Write what a model leaves: its sound, and its words, each 0.3 s."""
    samples = np.zeros(round(duration_s * RATE))
    words = []
    for start, stop in spans:
        a, b = round(start * RATE), min(round(stop * RATE), samples.size)
        samples[a:b] = 0.3 * np.sin(2 * np.pi * 440 * np.arange(b - a) / RATE)
        n = max(1, round((stop - start) / 0.3))
        edges = np.linspace(start, min(stop, duration_s), n + 1)
        words += [{"text": "word", "timestamp": [float(x), float(y)]} for x, y in itertools.pairwise(edges)]
    fdb.write_wav(folder / "output.wav", samples)
    (folder / "output.json").write_text(json.dumps({"text": "", "chunks": words}), encoding="utf-8")


Model = Callable[[ex.Row], list[tuple[float, float]]]
MODELS: dict[str, Model] = {
    "oracle": oracle,
    "silent": lambda row: [],
    "talking": lambda row: [(0.0, row["duration_s"])],
}


def scores(out: Path, folder: Path, model: str) -> dict[str, set[Any]]:
    found: dict[str, set[Any]] = {}
    for row, sample in pairs(out, folder):
        play(sample, MODELS[model](row), row["duration_s"])
        name = sample.parent.name
        if name == "synthetic_pause_handling":
            score: Any = fdb.pause_score(sample)
        elif name == "synthetic_turn_taking":
            score = fdb.turn_taking_score(sample)[0]
        elif name == "synthetic_user_interruption":
            score = fdb.interruption_score(sample)[0]
        elif name == "synthetic_backchannel":
            path = sample.parent.with_name("synthetic_backchannel_gt_distribution.json")
            turn, n, divergence = fdb.backchannel_score(sample, json.loads(path.read_text("utf-8")))
            wanted = sum(e["kind"] == "trp" for e in row["events"])
            score = (turn, n == wanted, divergence < 0.6, divergence == 1.0)
        else:
            score = fdb.overlap_behaviour(sample)
        found.setdefault(name, set()).add(score)
        for written in ("output.wav", "output.json"):
            (sample / written).unlink()
    return found


def test_an_oracle_scores_perfectly_on_every_task(out: Path, v1: Path) -> None:
    assert scores(out, ex.everything(), "oracle") == {
        "synthetic_pause_handling": {0},
        "synthetic_turn_taking": {1},
        "synthetic_backchannel": {(0, True, True, False)},
        "user_interruption": {"respond"},
        "user_backchannel": {"resume"},
        "talking_to_other": {"resume"},
        "background_speech": {"resume"},
    }
    assert scores(v1, ex.interruptions(), "oracle") == {"synthetic_user_interruption": {1}}


def test_an_oracle_answers_without_delay_beyond_its_own(out: Path, v1: Path) -> None:
    for place, folder, name, score in (
        (out, ex.everything(), "synthetic_turn_taking", fdb.turn_taking_score),
        (v1, ex.interruptions(), "synthetic_user_interruption", fdb.interruption_score),
    ):
        for row, sample in pairs(place, folder):
            if sample.parent.name == name:
                play(sample, oracle(row), row["duration_s"])
                assert score(sample)[1] == pytest.approx(0.3, abs=1e-5)
                for written in ("output.wav", "output.json"):
                    (sample / written).unlink()


def test_silence_and_endless_talk_get_what_the_rules_give_them(out: Path, v1: Path) -> None:
    assert scores(out, ex.everything(), "silent") == {
        "synthetic_pause_handling": {0},
        "synthetic_turn_taking": {0},
        "synthetic_backchannel": {(0, False, False, True)},
        **{key: {"silent"} for key in V15.values()},
    }
    assert scores(out, ex.everything(), "talking") == {
        "synthetic_pause_handling": {1},
        "synthetic_turn_taking": {1},
        "synthetic_backchannel": {(1, False, False, True)},
        **{key: {"resume"} for key in V15.values()},
    }
    assert scores(v1, ex.interruptions(), "silent") == {"synthetic_user_interruption": {0}}


@pytest.mark.slow
def test_twenty_samples_a_task_and_language_validate(tmp_path: Path) -> None:
    folder = ex.changed(ex.many(20), tmp_path / "same", ex.by_their_rule)
    done = ex.run(folder, tmp_path / "out", "fdb")
    stops = done.skipped.pop(next(r for r in done.skipped if "only asks for silence" in r))
    assert done.n_written == 7 * 2 * 20 - stops
    assert ex.findings(tmp_path / "out", "fdb") == []


@pytest.mark.slow
@pytest.mark.extras("quality")
def test_transcripts_of_a_recogniser_on_request(tmp_path: Path) -> None:
    folder = ex.dataset("user_interruption", count=1, extra='preset = "fdb-v1.5"\n')
    ex.run(folder, tmp_path / "out", "fdb", transcripts="asr:tiny.en")
    for path in tmp_path.glob("out/en/v1_5/*/*/input.json"):
        assert json.loads(path.read_text("utf-8"))["transcript_source"] == "asr:tiny.en"


def test_an_authors_places_need_a_flag(tmp_path: Path) -> None:
    tones = ex.everything()
    without = ex.run(tones, tmp_path / "without", "fdb", author_q=False)
    assert not list((tmp_path / "without").glob("*/v1_0/*backchannel*"))
    assert any("not human timing" in reason for reason in without.skipped)
    ex.run(tones, tmp_path / "with", "fdb", author_q=True)
    (note,) = (tmp_path / "with").glob("en/v1_0/*backchannel_q_source.json")
    assert "not human timing" in note.read_text()
