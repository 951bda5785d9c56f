"""The commands `events` and `timing`, on word files and on recordings with known bounds."""

import json
from itertools import pairwise

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from duplexkit import AudioError, DuplexkitError, RecipeError
from duplexkit.builders.commands_timing import add_commands
from duplexkit.builders.timing_sources import audio_events
from duplexkit.scenarios.quantile_law import law_of, wasserstein_distance
from duplexkit.scenarios.timing import load_profile
from tests.builders.two_channels import RATE_HZ, recording, write

app = typer.Typer()
add_commands(app)


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(result.exception, DuplexkitError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def turns(seed, length_s=60.0):
    """Known turns of two speakers over a minute: gaps from -0.3 to 1.2 s, turns of 1.5 to 4 s."""
    rng = np.random.default_rng(seed)
    spans, at, speaker = {0: [], 1: []}, 0.5, 0
    while at + 4.2 < length_s:
        end = at + rng.uniform(1.5, 4.0)
        spans[speaker].append((round(at, 4), round(end, 4)))
        at, speaker = end + rng.uniform(-0.3, 1.2), 1 - speaker
    return spans


def shifts(spans):
    listed = sorted((on, off, c) for c, each in spans.items() for on, off in each)
    return [(a[1], b[0]) for a, b in pairwise(listed)]


@pytest.mark.parametrize("seed", range(4))
def test_a_minute_of_two_channels_every_shift_is_found_within_60_ms(seed, tmp_path):
    spans = turns(seed)
    path = write(tmp_path / "call.wav", recording(spans, 60.0, seed))
    labelled = audio_events(path)
    found = sorted(
        (e.start_cs / 100, e.end_cs / 100)
        for each in labelled.values()
        for e in each
        if e.kind == "TURN_SHIFT"
    )
    wanted = sorted(shifts(spans))
    assert len(found) == len(wanted) >= 12
    for (end, onset), (known_end, known_onset) in zip(found, wanted, strict=True):
        assert abs(end - known_end) <= 0.06
        assert abs(onset - known_onset) <= 0.06


def test_events_of_a_word_file(tmp_path):
    path = tmp_path / "talk.txt"
    path.write_text("1\t0.00\t3.25\ta\n0\t3.45\t6.22\tb\n1\t6.47\t8.01\tc\n", encoding="utf-8")
    (line,) = run("events", path).splitlines()
    assert json.loads(line) == {
        "id": "talk",
        "events": {
            "0": [{"event": "TURN_SHIFT", "time": [3.25, 3.45]}, {"event": "TURN", "time": [3.45, 6.22]}],
            "1": [
                {"event": "TURN", "time": [0.0, 3.25]},
                {"event": "TURN_SHIFT", "time": [6.22, 6.47]},
                {"event": "TURN", "time": [6.47, 8.01]},
            ],
        },
    }


def test_events_of_a_recording(tmp_path):
    spans = {0: [(1.0, 3.0)], 1: [(3.2, 5.0)]}
    path = write(tmp_path / "call.wav", recording(spans, 6.0))
    (line,) = run("events", path).splitlines()
    kinds = [(c, e["event"]) for c, each in json.loads(line)["events"].items() for e in each]
    assert kinds == [("0", "TURN"), ("1", "TURN_SHIFT"), ("1", "TURN")]


def test_fit_from_recordings_and_show(tmp_path):
    paths = [write(tmp_path / f"call{s}.wav", recording(turns(s), 60.0, s)) for s in range(2)]
    out = tmp_path / "mine.json"
    said = run("timing", "fit", *paths, "--out", out, "--language", "en")
    profile = load_profile(str(out))
    known = [b - a for s in range(2) for a, b in shifts(turns(s))]
    table = profile.tables["user_to_system"]
    assert table.n == len(known)
    assert wasserstein_distance(known, law_of(table.quantiles)) < 0.1
    assert "below 200" in said and "a law was fitted" in said
    assert "mine" in run("timing", "show", out)
    with pytest.raises(RecipeError, match="exists"):
        run("timing", "fit", *paths, "--out", out)


def test_fit_from_m3_lines_equals_fit_from_the_words_they_came_from(tmp_path):
    words, lines = tmp_path / "words", tmp_path / "m3.jsonl"
    words.mkdir()
    rng = np.random.default_rng(0)
    for i in range(40):
        at, rows = 0.0, []
        for k in range(12):
            rows.append(f"{1 - k % 2}\t{at:.2f}\t{at + 2:.2f}\tw\n")
            at += 2 + rng.uniform(-0.3, 1.0)
        (words / f"{i}.txt").write_text("".join(rows), encoding="utf-8")
    files = sorted(words.glob("*.txt"))
    lines.write_text(run("events", *files), encoding="utf-8")
    for name, sources in (("a", files), ("b", [lines])):
        run("timing", "fit", *sources, "--out", tmp_path / f"{name}.json", "--roles", "system,user")
    a, b = (load_profile(str(tmp_path / f"{name}.json")) for name in "ab")
    assert a.tables == b.tables
    assert (a.tables["system_to_user"].n, a.tables["user_to_system"].n) == (200, 240)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--roles", "both"), "--roles both: wanted equal"),
        (("--variable", "gap"), "--variable gap: wanted shift or fto"),
    ],
)
def test_wrong_options_are_refused(arguments, message, tmp_path):
    path = write(tmp_path / "call.wav", recording(turns(0), 60.0))
    with pytest.raises(RecipeError, match=message):
        run("timing", "fit", path, "--out", tmp_path / "x.json", *arguments)


def test_what_is_no_dialogue_is_refused_by_file(tmp_path):
    mono = write(tmp_path / "mono.wav", recording({0: [(0.5, 2.0)]}, 3.0))
    with pytest.raises(AudioError, match=r"mono.wav: 1 channel; wanted two, one speaker in each"):
        run("events", mono)
    quiet = recording({0: [(0.5, 2.0)], 1: []}, 3.0)
    quiet[1] = 0.0
    with pytest.raises(AudioError, match=r"quiet.wav: channel 1 is empty"):
        run("events", write(tmp_path / "quiet.wav", quiet))
    (tmp_path / "no.wav").write_bytes(b"no sound")
    with pytest.raises(AudioError, match="no sound file that can be read"):
        run("events", tmp_path / "no.wav")
    (tmp_path / "no.pdf").write_bytes(b"no sound")
    with pytest.raises(RecipeError, match="unknown kind of file"):
        run("events", tmp_path / "no.pdf")
    with pytest.raises(DuplexkitError, match="no such file"):
        run("events", tmp_path / "gone.wav")


def test_the_recording_has_the_rate_it_was_written_at(tmp_path):
    assert recording({0: [(0.0, 0.5)], 1: []}, 1.0).shape == (2, RATE_HZ)
