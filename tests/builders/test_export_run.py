"""Exporting: choices, refusals, interruption and resumption, memory, the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duplexkit import DuplexkitError, InputError, ReleaseError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.export import FORMATS, fdb, webdataset
from duplexkit.builders.export.format import Options, file_id
from duplexkit.builders.export.run import export
from duplexkit.builders.export.source import open_source
from tests.builders import exported as ex
from tests.hub.server import StandIn
from tests.release import release_folder
from tests.test_publish_load import environment, published, python


def tree(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_a_folder_that_is_not_empty_is_refused_and_replaced_only_when_asked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    ex.run(ex.interruptions(), out, "fdb")  # empty: may be used
    (out / "mine.txt").write_text("keep")
    with pytest.raises(ReleaseError, match=r"not empty.*--overwrite"):
        ex.run(ex.interruptions(), out, "fdb")
    assert (out / "mine.txt").exists()
    ex.run(ex.interruptions(), out, "fdb", overwrite=True)
    assert not (out / "mine.txt").exists() and not list(tmp_path.glob("out.*"))


def test_configurations_and_splits_choose_rows(tmp_path: Path) -> None:
    source = open_source(str(ex.everything()), configs=("mt_qa-ja", "backchannel"), splits=("test",))
    assert sorted({shard.config for shard in source.shards}) == [
        "backchannel-en",
        "backchannel-ja",
        "mt_qa-ja",
    ]
    assert source.n_rows == 6
    with pytest.raises(InputError, match=r"--config mt_qu: .* mt_qa"):
        open_source(str(ex.everything()), configs=("mt_qu",))
    with pytest.raises(InputError, match=r"--split dev: .* holds test"):
        open_source(str(ex.everything()), splits=("dev",))
    with pytest.raises(ReleaseError, match="no finished dataset"):
        open_source(str(tmp_path))
    with pytest.raises(InputError, match="no such folder, and no owner/name@tag"):
        open_source("no/such/folder")


class StoppedError(Exception):
    """The power goes off."""


@pytest.mark.parametrize("to", FORMATS)
def test_an_interrupted_export_goes_on_and_gives_the_same_files(
    to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webdataset, "SAMPLES_PER_SHARD", 8)
    folder = ex.everything()
    ex.run(folder, tmp_path / "whole", to)

    def stop(done: int, total: int) -> None:
        if done == 20:
            raise StoppedError

    with pytest.raises(StoppedError):
        export(
            open_source(str(folder)),
            tmp_path / "out",
            FORMATS[to],
            Options(author_q=to == "fdb"),
            overwrite=False,
            progress=stop,
        )
    assert not (tmp_path / "out").exists()
    sounds = [
        path for path in (tmp_path / "out.partial" / "export").rglob("*") if path.suffix in (".wav", ".tar")
    ]
    before = {path: path.stat().st_mtime_ns for path in sounds if ".tmp" not in str(path)}
    assert before
    ex.run(folder, tmp_path / "out", to)
    for path, at in before.items():
        now = tmp_path / "out" / path.relative_to(tmp_path / "out.partial" / "export")
        assert now.stat().st_mtime_ns == at, "what was there was not made again"
    whole, out = tree(tmp_path / "whole"), tree(tmp_path / "out")
    assert set(whole) == set(out)
    assert all(whole[name] == out[name] for name in whole if not name.endswith(".gz"))
    assert ex.findings(tmp_path / "out", to) == []


def test_a_sample_folder_that_was_being_written_is_no_obstacle(tmp_path: Path) -> None:
    """Full-Duplex-Bench's samples are folders, written beside: one may be left where the power went off."""
    source, options = open_source(str(ex.dataset("smooth_turn_taking"))), Options(author_q=True)

    def run(progress: Callable[[int, int], None]) -> None:
        export(source, tmp_path / "out", FORMATS["fdb"], options, overwrite=False, progress=progress)

    def stop(done: int, total: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        run(stop)
    (sample,) = tmp_path.glob("out.partial/export/*/v1_0/*/0")
    left = sample.with_name(".1.tmp")
    left.mkdir()
    (left / ".input.wav.7.tmp").write_bytes(b"half")
    run(lambda done, total: None)
    assert ex.findings(tmp_path / "out", "fdb") == []
    assert not list((tmp_path / "out").rglob(".*"))


def test_what_another_export_left_is_not_taken(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise StoppedError

    for options in (Options(gap_free=False), Options(gap_free=True)):
        with pytest.raises(StoppedError):
            export(
                open_source(str(ex.dataset("mt_qa"))),
                tmp_path / "out",
                FORMATS["m3"],
                options,
                overwrite=False,
                progress=stop,
            )
        (mark,) = tmp_path.glob("out.partial/export/data/*/task/*/txt_align")
        (mark / "of this run.txt").write_text("")
        if options.gap_free:
            assert len(list(mark.iterdir())) == 2, "the first run's folder went"


def test_progress_counts_every_row_and_choices_are_checked(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    source = open_source(str(ex.everything()))
    export(
        source,
        tmp_path / "o",
        FORMATS["m3"],
        Options(),
        overwrite=False,
        progress=lambda *step: seen.append(step),
    )
    assert seen == [(i, 32) for i in range(1, 33)]
    for wrong, message in (
        (Options(labels="all"), "--labels all"),
        (Options(transcripts="x"), "--transcripts x"),
    ):
        with pytest.raises(ReleaseError, match=message):
            export(
                source,
                tmp_path / "p",
                FORMATS["m3"],
                wrong,
                overwrite=False,
                progress=lambda done, total: None,
            )


@pytest.mark.parametrize(
    ("to", "given", "message"),
    [
        ("fdb", {"rate_hz": 24_000}, "--rate 24000: fdb does not take it .*--transcripts"),
        ("moshi", {"rate_hz": 24_000}, "--rate 24000: moshi does not take it .*none of these"),
        ("nemo", {"rate_hz": 16_000}, "--rate 16000: nemo"),
        ("webdataset", {"rate_hz": 16_000}, "--rate 16000: webdataset"),
        ("m3", {"transcripts": "asr:tiny.en"}, "--transcripts asr:tiny.en: m3 does not take it"),
        ("lhotse", {"transcripts": "asr:tiny.en"}, "--transcripts asr:tiny.en: lhotse .*takes: --rate"),
        ("rttm", {"labels": "intended"}, "--labels intended: rttm"),
        ("textgrid", {"gap_free": False}, "--keep-gaps: textgrid"),
        ("audacity", {"author_q": True}, "--author-q: audacity"),
    ],
)
def test_a_choice_that_a_format_does_not_heed_is_refused(
    to: str, given: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ReleaseError, match=message):
        ex.run(ex.dataset("mt_qa"), tmp_path / "out", to, **given)
    assert not list(tmp_path.iterdir())


def by_cc_by(stream: Iterator[ex.Row]) -> Iterator[ex.Row]:
    for row in stream:
        voices = [
            {**voice, "licence": "CC-BY-4.0", "attribution": f"{voice['voice']} by Ada"}
            for voice in row["provenance"]["voices"]
        ]
        yield {
            **row,
            "script": {**row["script"], "source": "Bank of Bob", "licence": "CC-BY-SA-4.0"},
            "provenance": {**row["provenance"], "voices": voices},
        }


@pytest.mark.parametrize("to", FORMATS)
def test_licences_and_whom_to_name_go_along(to: str, tmp_path: Path) -> None:
    folder = ex.changed(ex.dataset("mt_qa", "smooth_turn_taking"), tmp_path / "in", by_cc_by)
    ex.run(folder, tmp_path / "out", to)
    content = json.loads((tmp_path / "out" / "export.json").read_text("utf-8"))
    recipe = json.loads((folder / "manifest.json").read_text("utf-8"))["recipe"]
    assert content["dataset"] == {key: recipe[key] for key in ("name", "version", "licence")}
    written = [ex.rows(folder)[row_id] for row_id in content["samples"].values()]
    voices = {voice["voice"] for row in written for voice in row["provenance"]["voices"]}
    parts = {(part["kind"], part["name"]): part for part in content["parts"]}
    assert {name for kind, name in parts if kind == "voice"} == voices and voices
    text = (tmp_path / "out" / "ATTRIBUTION.txt").read_text("utf-8")
    for voice in voices:
        assert parts["voice", voice]["licence"] == "CC-BY-4.0"
        assert f"voice {voice} (CC-BY-4.0); {voice} by Ada" in text
    assert parts["text", "Bank of Bob"]["samples"] == len(written)
    assert "text Bank of Bob (CC-BY-SA-4.0)" in text
    assert [p.relative_to(tmp_path / "out") for p in tmp_path.glob("out/**/ATTRIBUTION.txt")] == [
        Path("ATTRIBUTION.txt")
    ]
    assert ex.findings(tmp_path / "out", to) == []


def test_parts_of_rows_that_are_left_out_are_not_named(tmp_path: Path) -> None:
    folder = ex.dataset("mt_qa", "smooth_turn_taking")
    ex.run(folder, tmp_path / "out", "m3")
    content = json.loads((tmp_path / "out" / "export.json").read_text("utf-8"))
    sources = {row["script"]["source"] for row in ex.rows(folder).values() if row["scenario"] == "mt_qa"}
    assert {part["name"] for part in content["parts"] if part["kind"] == "text"} == sources
    (engine,) = (part for part in content["parts"] if part["kind"] == "engine")
    assert engine["samples"] == len(content["samples"]) == 4


def test_rows_without_a_tasks_event_or_without_sound_are_left_out_with_the_reason(tmp_path: Path) -> None:
    def bare(stream: Iterator[ex.Row]) -> Iterator[ex.Row]:
        for i, row in enumerate(stream):
            yield {**row, "events": []} if i % 2 else {**row, "input": None}

    folder = ex.changed(ex.everything(), tmp_path / "in", bare)
    done = ex.run(folder, tmp_path / "out", "fdb")
    rows = ex.rows(folder)
    assert {rows[row_id]["scenario"] for row_id in ex.places(tmp_path / "out")} == {"backchannel"}
    n_silent = sum(row["input"] is None for row in rows.values())
    reasons = " ".join(done.skipped)
    assert done.n_written + sum(done.skipped.values()) == len(rows)
    assert [n for reason, n in done.skipped.items() if "annotations only" in reason] == [n_silent]
    for event in ("barge_in", "pause", "shift", "side_talk", "background_speech"):
        assert f"it has no {event}, which" in reasons


@pytest.mark.parametrize("to", sorted(FORMATS.keys() - {"fdb"}))  # that one numbers its folders
def test_two_rows_of_one_file_name_are_refused(to: str, tmp_path: Path) -> None:
    def renamed(stream: Iterator[ex.Row]) -> Iterator[ex.Row]:
        for i, row in enumerate(stream):
            yield {**row, "id": f"mt_qa/{row['language']}/a{'-/'[i % 2]}b/0"}

    folder = ex.changed(ex.dataset("mt_qa"), tmp_path / "in", renamed)
    with pytest.raises(ReleaseError, match=r"'mt_qa/en/a-b/0' and 'mt_qa/en/a/b/0'"):
        ex.run(folder, tmp_path / "out", to)
    assert not (tmp_path / "out").exists()


def test_ids_are_file_names() -> None:
    assert file_id("mt_qa/ja/qa.1 x/0") == "mt_qa-ja-qa-1-x-0"


def test_a_sample_folder_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise StoppedError

    monkeypatch.setattr(fdb, "put_json", fail)
    with pytest.raises(StoppedError):
        ex.run(ex.interruptions(), tmp_path / "out", "fdb")
    (task,) = tmp_path.glob("out.partial/export/*/*/*")
    assert [path.name for path in task.iterdir()] == [".0.tmp"]


# --- command line


@pytest.fixture
def command() -> Iterator[CliRunner]:
    import typer

    from duplexkit.builders.commands_export import add_commands

    app = typer.Typer()
    add_commands(app)

    class Runner(CliRunner):
        def __call__(self, *args: str) -> tuple[int, str]:
            result = self.invoke(app, list(args))
            if isinstance(result.exception, DuplexkitError):
                return 2, str(result.exception)
            assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
            return result.exit_code, result.output

    yield Runner()


def test_the_commands(command: CliRunner, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    code, said = command("export", str(ex.everything()), "--to", "m3", out, "--config", "mt_qa-ja")  # type: ignore[operator]
    assert code == 0 and "2 samples for m3" in said
    code, said = command("export", "--check", out, "--to", "m3")  # type: ignore[operator]
    assert code == 0 and "0 findings" in said
    code, said = command("import", "m3", out, "--out", out + "-rows")  # type: ignore[operator]
    assert code == 0 and "2 rows; next: duplexkit check" in said
    assert {row["language"] for row in ex.rows(Path(out + "-rows")).values()} == {"ja"}
    assert "exists" in command("import", "m3", out, "--out", out + "-rows")[1]  # type: ignore[operator]
    next(tmp_path.glob("out/data/ja/task/*/txt_align/*")).unlink()
    code, said = command("export", "--check", out, "--to", "m3")  # type: ignore[operator]
    assert code == 1 and "missing-file" in said
    assert command("export", "--check", out, "--to", "m4") == (  # type: ignore[operator]
        2,
        f"--to m4: wanted one of {', '.join(FORMATS)}; did you mean m3?",
    )
    assert command("export", out, "--to", "m3")[0] == 2  # type: ignore[operator]
    assert command("export", "--check", out + "x", "--to", "m3")[0] == 2  # type: ignore[operator]
    assert command("import", "m9", out, "--out", out + "i")[0] == 2  # type: ignore[operator]


# --- from the Hub


@pytest.mark.slow
def test_a_release_is_exported_by_its_tag(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    folder = release_folder(tone_build, tmp_path / "v1", "user_backchannel", "mt_qa")
    with StandIn() as hub:
        published(hub, folder, "1.0.0", tmp_path / "home", xet=False)
        env = environment(hub, tmp_path / "fresh", xet=False)
        for where, message in (
            ("me/tones@v9.9.9", "no such folder, and the Hub did not give it"),
            ("me/nothing@v1.0.0", "no such folder, and the Hub did not give it"),
        ):
            refused = python(["-c", _MEASURE, where, str(tmp_path / "no"), "m3"], env, wanted=1)
            assert message in refused
        python(["-c", _MEASURE, "me/tones@v1.0.0", str(tmp_path / "out"), "m3"], env)
    ex.run(folder, tmp_path / "local", "m3")
    assert tree(tmp_path / "out").keys() == tree(tmp_path / "local").keys()
    sounds = sorted(path.relative_to(tmp_path / "out") for path in tmp_path.glob("out/**/*.wav"))
    assert len(sounds) == 4
    for path in sounds:
        assert (tmp_path / "out" / path).read_bytes() == (tmp_path / "local" / path).read_bytes()


# --- memory

_MEASURE = """
import json, sys
from pathlib import Path
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.format import Options
from duplexkit.builders.export.run import export
from duplexkit.builders.export.source import open_source
done = export(open_source(sys.argv[1]), Path(sys.argv[2]), FORMATS[sys.argv[3]], Options(),
              overwrite=False, progress=lambda done, total: None)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps([done.n_written, int(status["VmHWM"].split()[0]) / 1024]))  # ru_maxrss would be the parent's
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("to", "scenario"), [("fdb", "user_interruption"), ("m3", "mt_qa"), ("webdataset", "mt_qa")]
)
def test_memory_stays_flat_from_100_to_1000_samples(to: str, scenario: str, tmp_path: Path) -> None:
    folder = ex.interruptions() if scenario == "user_interruption" else ex.dataset("mt_qa", count=4)
    peaks = []
    for n in (100, 1000):

        def many(stream: Iterator[ex.Row], n: int = n) -> Iterator[ex.Row]:
            (row,) = (row for row, _ in zip(stream, range(1), strict=False))
            for i in range(n // 2):  # of each of two languages
                yield {**row, "id": f"{row['id'].rsplit('/', 1)[0]}/{i}"}

        short = ex.changed(folder, tmp_path / f"{n}", many)
        done = subprocess.run(
            [sys.executable, "-c", _MEASURE, str(short), str(tmp_path / f"out-{n}"), to],
            capture_output=True,
            text=True,
            env=os.environ,
            check=True,
        )
        n_written, peak_mib = json.loads(done.stdout)
        assert n_written == n
        peaks.append(peak_mib)
    print(f"{to}: {peaks[0]:.0f} MiB for 100 samples, {peaks[1]:.0f} MiB for 1000")
    assert peaks[1] - peaks[0] < 50
