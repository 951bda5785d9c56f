"""Recordings to rows: segments, labels, FDB's rules, review, annotations only, and Q from listeners."""

import base64
import io
import json
import re
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile
import typer
from typer.testing import CliRunner

from duplexkit import DuplexkitError, RecipeError, ReleaseError
from duplexkit.builders.commands_annotate import add_commands
from duplexkit.builders.schema import COLUMNS, arrow_schema
from duplexkit.builders.write import read_rows
from tests.builders.two_channels import RATE_HZ, recording, write

app = typer.Typer()
add_commands(app)


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(result.exception, DuplexkitError):
        raise result.exception
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def rows_in(folder):
    return [row for path in sorted(folder.rglob("*.parquet")) for row in read_rows(path)]


def decoded(cell):
    pcm, rate = soundfile.read(io.BytesIO(cell["bytes"]), dtype="int16")
    return pcm, rate


def chatting(length_s=300.0, seed=3):
    """Turns of 1.5-4 s of two speakers, gaps of 0.2-1 s, a token now and then."""
    rng = np.random.default_rng(seed)
    spans, at, speaker = {0: [], 1: []}, 0.4, 0
    while at + 5 < length_s:
        end = round(at + rng.uniform(1.5, 4.0), 3)
        spans[speaker].append((round(at, 3), end))
        at, speaker = end + rng.uniform(0.2, 1.0), 1 - speaker
    return spans


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat")
    spans = chatting()
    write(folder / "calls" / "call one.wav", recording(spans, 300.0, rate_hz=8000), 8000)
    run(
        folder / "calls",
        "--language",
        "en",
        "--licence",
        "CC-BY-4.0",
        "--attribution",
        "us",
        "--out",
        folder / "out",
    )
    return spans, rows_in(folder / "out"), folder / "out"


def test_segments_are_about_two_minutes_and_split_nothing(chat):
    spans, rows, _ = chat
    assert [row["id"].split("/")[:2] for row in rows] == [["chat", "en"]] * len(rows)
    bounds = [tuple(map(float, re.search(r"one\.([\d.]+)-([\d.]+)/0$", row["id"]).groups())) for row in rows]
    assert len(bounds) == 2
    assert bounds[0][0] == 0.0 and bounds[-1][1] == pytest.approx(300.0, abs=0.01)
    for _, cut in bounds[:-1]:
        assert 60 <= cut <= 180
        assert not any(a < cut < b for each in spans.values() for a, b in each)
    assert sum(row["duration_s"] for row in rows) == pytest.approx(300.0, abs=0.01)


def test_rows_fit_the_schema_and_hold_both_sides(chat):
    _, rows, folder = chat
    schemas = [pq.read_schema(path).names for path in folder.rglob("*.parquet")]
    assert schemas == [arrow_schema(24_000).names]
    assert len(rows) == 2
    for row in rows:
        assert list(row) == [column.name for column in COLUMNS]
        for side in ("input", "system"):
            pcm, rate = decoded(row[side])
            assert rate == row["sample_rate_hz"] == 24_000
            assert pcm.size == round(row["duration_s"] * 24_000)
        assert row["script"]["licence"] == "CC-BY-4.0"
        assert {voice["attribution"] for voice in row["provenance"]["voices"]} == {"us"}


def test_shifts_of_segments_are_the_known_ones(chat):
    spans, rows, _ = chat
    known = sorted((a, b, c) for c, each in spans.items() for a, b in each)
    assert len(rows) == 2
    for row in rows:
        start_s = json.loads(row["provenance"]["room"])["source_start_s"]
        shifts = [e for e in row["events"] if e["kind"] == "shift"]
        inside = [t for t in known if start_s <= t[0] < start_s + row["duration_s"]]
        wanted = [(a[1] - start_s, b[0] - start_s, b[2]) for a, b in pairwise(inside)]
        assert len(shifts) == len(wanted) > 20
        for event, (end_s, onset_s, channel) in zip(shifts, wanted, strict=True):
            assert event["role"] == ("user" if channel == 1 else "system")
            assert abs(event["onset_s"] - end_s) <= 0.06 and abs(event["offset_s"] - onset_s) <= 0.06
            assert event["expected_if_silent"] == ("respond" if channel == 0 else "none")
            assert event["score_to_s"] <= row["duration_s"] + 1e-9
        m3 = [e for e in row["m3_events"] if e["kind"] == "TURN_SHIFT"]
        assert len(m3) == len(shifts)


def test_the_card_of_recordings_is_written_by_the_same_command(chat):
    from duplexkit.cards.summarize import summarize

    summary = summarize(chat[2])
    assert summary.scenarios == ("chat",)
    assert summary.configs["chat-en"]["test"].n_rows == 2


def test_annotations_only(chat, tmp_path):
    calls = chat[2].parent / "calls"
    run(calls, "--language", "en", "--licence", "none", "--annotations-only", "--out", tmp_path / "out")
    rows = rows_in(tmp_path / "out")
    assert len(rows) == 2
    for bare, full in zip(rows, chat[1], strict=True):
        assert bare["input"] is None and bare["system"] is None
        assert (bare["id"], bare["m3_events"]) == (full["id"], full["m3_events"])
        assert "call one" in bare["script"]["source"]


def test_transcripts_become_turns_with_words(tmp_path):
    write(tmp_path / "in" / "a.wav", recording({0: [(0.5, 2.5), (5.0, 7.0)], 1: [(2.8, 4.6)]}, 8.0))
    (tmp_path / "in" / "a.txt").write_text(
        "0\t0.50\t2.50\thello\n1\t2.80\t4.60\tyes\n0\t5.00\t7.00\tbye\n", encoding="utf-8"
    )
    run(
        tmp_path / "in",
        "--language",
        "en",
        "--licence",
        "CC0-1.0",
        "--user-channel",
        "0",
        "--out",
        tmp_path / "out",
    )
    (row,) = rows_in(tmp_path / "out")
    assert [(t["role"], t["text"], t["onset_s"]) for t in row["turns"]] == [
        ("user", "hello", 0.5),
        ("system", "yes", 2.8),
        ("user", "bye", 5.0),
    ]
    assert row["turns"][0]["words"] == [{"text": "hello", "onset_s": 0.5, "offset_s": 2.5}]
    assert [
        (e["kind"], e["role"], e["onset_s"], e["offset_s"]) for e in row["m3_events"] if e["role"] == "system"
    ] == [
        ("TURN_SHIFT", "system", 2.5, 2.8),
        ("TURN", "system", 2.8, 4.6),
    ]


# --- Full-Duplex-Bench's rules -------------------------------------------------------------------------------

PAUSES = {
    0: [
        (1.0, 4.0), (4.7, 8.0),  # fits: a pause of 0.7 s in a turn of 7 s
        (20.0, 23.0), (23.7, 27.0),  # the other one speaks inside
        (40.0, 42.0), (42.6, 44.5),  # shorter than 5 s
        (60.0, 60.5), (61.2, 67.0),  # the piece before the pause may be a backchannel
        (80.0, 87.0),  # no pause
    ],
    1: [(24.5, 25.0), (100.0, 103.0)],
}  # fmt: skip


@pytest.fixture
def paused(tmp_path):
    write(tmp_path / "in" / "a.wav", recording(PAUSES, 105.0))
    return tmp_path


def test_pause_handling_takes_what_fits_and_says_why_not(paused):
    said = run(paused / "in", "--select", "pause_handling", "--licence", "CC0-1.0", "--out", paused / "out")
    (row,) = rows_in(paused / "out")
    assert (row["scenario"], row["fdb_relation"], row["system"], row["m3_events"]) == (
        "pause_handling",
        "same-rule",
        None,
        None,
    )
    assert row["duration_s"] == pytest.approx(7.0, abs=0.1)  # ends with the last speech
    (pause,) = row["events"]
    assert pause["kind"] == "pause"
    assert pause["onset_s"] == pytest.approx(3.0, abs=0.06)
    assert pause["offset_s"] == pytest.approx(3.7, abs=0.06)
    for reason in (
        "the other speaker is active",
        "the turn is shorter than 5 s",
        "the speech beside the pause may be a backchannel",
        "no inner pause",
    ):
        assert reason in said


def test_smooth_turn_taking_appends_five_seconds(tmp_path):
    spans = {0: [(1.0, 6.0)], 1: [(6.25, 11.0), (30.0, 35.0)]}
    write(tmp_path / "in" / "a.wav", recording(spans, 40.0))
    run(tmp_path / "in", "--select", "smooth_turn_taking", "--licence", "CC0-1.0", "--out", tmp_path / "out")
    (row,) = rows_in(tmp_path / "out")
    pcm, rate = decoded(row["input"])
    assert row["duration_s"] == pytest.approx(10.0, abs=0.1)
    assert not pcm[-5 * rate :].any() and pcm[-5 * rate - 480 : -5 * rate].any()
    (shift,) = row["events"]
    assert (shift["kind"], shift["role"]) == ("shift", "system")
    assert shift["fto_s"] == pytest.approx(0.25, abs=0.06)
    answer, _ = decoded(row["system"])
    assert answer[-4 * rate :].any()


# --- review --------------------------------------------------------------------------------------------------


def reviewed(page):
    return dict(re.findall(r'<section data-id="([^"]+)" data-sha256="([0-9a-f]{64})">', page))


def test_the_page_is_self_contained_and_its_decisions_are_part_of_the_recipe(paused):
    page, file = paused / "review.html", paused / "decisions.json"
    run(paused / "in", "--select", "pause_handling", "--review", page)
    html = page.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!data:)', html) and "http" not in html
    (name, sha256), *none = reviewed(html).items()
    assert none == []
    assert html.count("<svg") == 1 and "<rect" in html  # one side, its pause marked
    sound = base64.b64decode(re.search(r"data:audio/flac;base64,([^\"]+)", html).group(1))
    pcm, rate = soundfile.read(io.BytesIO(sound))
    assert rate == 24_000 and pcm.shape[0] / rate == pytest.approx(7.0, abs=0.1)

    file.write_text(
        json.dumps({"decisions": {name: {"keep": True, "reason": "", "sha256": sha256}}}), encoding="utf-8"
    )
    run(
        paused / "in",
        "--select",
        "pause_handling",
        "--licence",
        "x",
        "--decisions",
        file,
        "--out",
        paused / "kept",
    )
    recipe = json.loads((paused / "kept" / "manifest.json").read_text(encoding="utf-8"))["recipe"]
    assert recipe["review"]["kept"] == [name]
    assert len(rows_in(paused / "kept")) == 1

    rejected = {name: {"keep": False, "reason": "noise or cross-talk", "sha256": sha256}}
    file.write_text(json.dumps({"decisions": rejected}), encoding="utf-8")
    with pytest.raises(ReleaseError, match="nothing is left"):
        run(
            paused / "in",
            "--select",
            "pause_handling",
            "--licence",
            "x",
            "--decisions",
            file,
            "--out",
            paused / "x",
        )
    assert not (paused / "x").exists()


def test_both_sides_are_drawn_and_heard(tmp_path):
    write(tmp_path / "in" / "a.wav", recording({0: [(1.0, 6.0)], 1: [(6.25, 11.0)]}, 20.0))
    run(tmp_path / "in", "--select", "smooth_turn_taking", "--review", tmp_path / "p.html")
    html = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 2
    sound = base64.b64decode(re.search(r"base64,([^\"]+)", html).group(1))
    assert soundfile.info(io.BytesIO(sound)).channels == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, n: {}, "1 of 1 excerpts have no decision"),
        (lambda d, n: {**d, "other": d[n]}, "1 decisions are about excerpts that are not here: other"),
        (lambda d, n: {n: {**d[n], "sha256": "0"}}, "the sound is not what was reviewed"),
        (lambda d, n: {n: {**d[n], "keep": False}}, "is rejected without a reason"),
        (lambda d, n: {n: {**d[n], "keep": "yes"}}, "keep = 'yes'; wanted true or false"),
        (lambda d, n: {n: 3}, "wanted keep, reason and sha256"),
    ],
)
def test_decisions_that_do_not_fit_are_refused(change, message, paused):
    page, file = paused / "review.html", paused / "decisions.json"
    run(paused / "in", "--select", "pause_handling", "--review", page)
    ((name, sha256),) = reviewed(page.read_text(encoding="utf-8")).items()
    good = {name: {"keep": True, "reason": "", "sha256": sha256}}
    file.write_text(json.dumps({"decisions": change(good, name)}), encoding="utf-8")
    with pytest.raises(RecipeError, match=message):
        run(
            paused / "in",
            "--select",
            "pause_handling",
            "--licence",
            "x",
            "--decisions",
            file,
            "--out",
            paused / "x",
        )


# --- listeners -----------------------------------------------------------------------------------------------


def test_q_comes_from_the_listeners_with_their_number(tmp_path):
    responses = {0: [(0.2, 59.0)], 1: [(10.25, 10.5)], 2: [(10.3, 10.6), (30.05, 30.3)], 3: [(40.0, 43.0)]}
    write(tmp_path / "in" / "x.wav", recording(responses, 60.0))
    run(
        tmp_path / "in",
        "--layout",
        "icc",
        "--language",
        "en",
        "--licence",
        "CC0-1.0",
        "--out",
        tmp_path / "out",
    )
    (row,) = rows_in(tmp_path / "out")
    assert (row["scenario"], row["q_source"]) == ("backchannel", "listeners, n = 3")
    q = np.array(row["backchannel_q"])
    assert q.size == 300
    assert np.flatnonzero(q).tolist() == [51, 150]  # 10.2-10.4 s and 30.0-30.2 s; 3 s of speech is no token
    assert q[51] == pytest.approx(2 / 3) and q[150] == pytest.approx(1 / 3)
    assert [(e["kind"], e["onset_s"], round(e["q"], 4)) for e in row["events"]] == [
        ("trp", 10.2, 0.6667),
        ("trp", 30.0, 0.3333),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--layout", "wav"], "--layout wav: wanted one of plain"),
        ([], "give either --out"),
        (["--out", "x", "--review", "y.html"], "give either --out"),
        (["--out", "x"], "--licence is missing"),
        (["--review", "y.txt"], "wanted the name of an .html file"),
        (
            ["--out", "x", "--licence", "y", "--select", "pauses"],
            "did you mean 'pause_handling'|unknown selection",
        ),
        (["--out", "x", "--licence", "y", "--speakers", "a"], "wanted two names, as A,B"),
        (["--out", "x", "--licence", "y", "--layout", "candor", "--columns", "a"], "wanted OURS=THEIRS"),
    ],
)
def test_wrong_options_are_refused(arguments, message, paused, monkeypatch):
    monkeypatch.chdir(paused)
    with pytest.raises(RecipeError, match=message):
        run(paused / "in", *arguments)
    assert not (paused / "x").exists()


def test_an_existing_folder_is_not_overwritten(paused):
    (paused / "out").mkdir()
    with pytest.raises(ReleaseError, match="exists"):
        run(paused / "in", "--licence", "x", "--out", paused / "out")


def test_rates_of_the_recordings_are_real():
    assert recording({0: []}, 1.0).shape == (1, RATE_HZ)
