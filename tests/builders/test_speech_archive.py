"""Archives of clips: damaged and swapped ones, and what a build says of the one it was given."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from duplexkit import ReleaseError, SpeechError
from duplexkit.builders.cache_care import bytes_from, entries
from duplexkit.builders.cli import main
from duplexkit.builders.commands_speech import write_archive
from duplexkit.builders.speech_archive import clips_of_archive, clips_of_cache, export_clips, import_clips
from tests.builders.test_speech_cache import fill
from tests.builders.test_speech_entry import a_clip, old_entry
from tests.conftest import tone_recipe_text

Parts = list[tuple[str, bytes]]


def parts_of(archive: Path) -> Parts:
    """Return what an archive holds, what it says of itself first."""
    with zipfile.ZipFile(archive) as file:
        names = sorted(file.namelist(), key=lambda name: name != "archive.json")
        return [(name, file.read(name)) for name in names]


def put(archive: Path, parts: Parts) -> None:
    with zipfile.ZipFile(archive, "w") as file:
        for name, data in parts:
            file.writestr(name, data)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    fill(tmp_path / "cache", 2)
    export_clips(clips_of_cache(tmp_path / "cache"), tmp_path / "cache", tmp_path / "a.zip")
    return tmp_path / "a.zip"


def test_two_clips_that_changed_places_are_refused(archive: Path, tmp_path: Path) -> None:
    head, (one, first), (other, second) = parts_of(archive)
    put(archive, [head, (one, second), (other, first)])
    with pytest.raises(SpeechError, match=r"a\.zip: the clip tone/.* is damaged, or is another one"):
        import_clips(archive, tmp_path / "there")
    assert not list(entries(tmp_path / "there"))


def test_an_archive_of_old_entries_is_read(archive: Path, tmp_path: Path) -> None:
    head, *clips = parts_of(archive)
    put(archive, [head, *((name, old_entry(a_clip())) for name, _ in clips)])
    assert import_clips(archive, tmp_path / "there") == (2, 0)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("[]", r"archive\.json: the content is \[\], wanted an object"),
        ("null", "wanted an object"),
        ('"x"', "wanted an object"),
        ("{", "no speech archive of duplexkit"),
        ('{"format": 1}', "clips is missing"),
        ('{"format": 1, "clips": "2"}', 'clips is "2", wanted a whole number'),
        ('{"format": 1, "clips": 3}', "2 clips, but it was written with 3"),
    ],
)
def test_an_archive_that_says_something_odd_of_itself(
    archive: Path, tmp_path: Path, head: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(archive, [("archive.json", head.encode()), *parts_of(archive)[1:]])
    assert main(["cache", "--cache", str(tmp_path / "there"), "import", str(archive)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"duplexkit: {archive}") and said.count("\n") == 1
    with pytest.raises(SpeechError, match=message):
        clips_of_archive(archive)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_clip_that_stands_twice_is_refused(archive: Path, tmp_path: Path) -> None:
    parts = parts_of(archive)
    put(archive, [parts[0], parts[1], parts[1]])
    with pytest.raises(SpeechError, match="stands in it twice"):
        import_clips(archive, tmp_path / "there")


def test_any_damage_to_an_archive_is_refused_or_does_no_harm(archive: Path, tmp_path: Path) -> None:
    """Every byte that is no sound is flipped, and some of the sound: no other error, and no wrong clip."""
    whole = archive.read_bytes()
    good = {entry.path.stem: entry.path.read_bytes() for entry in entries(tmp_path / "cache")}
    sound = {
        place
        for data in good.values()
        for place in range(whole.index(data) + 200, whole.index(data) + len(data) - 400)
    }
    places = [p for p in range(len(whole)) if p not in sound or p % 20_011 == 0]
    there, n_refused = tmp_path / "there", 0
    for i, place in enumerate(places):
        bad = bytearray(whole)
        bad[place] ^= (0x01, 0x08, 0x80, 0xFF)[i % 4]
        archive.write_bytes(bad)
        try:
            import_clips(archive, there)
        except SpeechError:
            n_refused += 1
        for entry in entries(there):
            assert entry.path.read_bytes() == good[entry.path.stem], place
        shutil.rmtree(there, ignore_errors=True)
    assert len(places) > 1000 and n_refused > 0.8 * len(places)
    for n in range(0, len(whole), len(whole) // 50):
        archive.write_bytes(whole[:n])
        with pytest.raises(SpeechError, match="no speech archive of duplexkit, or a damaged one"):
            import_clips(archive, there)


@pytest.fixture
def build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    recipe = tmp_path / "r.toml"
    recipe.write_text(tone_recipe_text("user_interruption", count=1))

    def run(out: str, *more: str) -> tuple[int, str, str]:
        code = main(
            ["build", str(recipe), "--out", str(tmp_path / out), "--cache", str(tmp_path / "c"), "--workers", "1",
             *more]
        )  # fmt: skip
        said = capsys.readouterr()
        return code, said.out.replace("\n", " "), said.err.replace("\n", " ")

    return run


def test_a_build_says_what_an_archive_that_was_there_lacks(
    build: Callable[..., tuple[int, str, str]], archive: Path, tmp_path: Path
) -> None:
    before = archive.read_bytes()
    code, out, err = build("out", "--speech-archive", str(archive))
    assert code == 0 and "2 clips taken" in out and "4 utterances spoken" in out
    assert f"{archive}: lacks 4 of the 4 clips that {tmp_path / 'out'} listened to" in err
    assert "it stays as it was" in err and archive.read_bytes() == before
    new = tmp_path / "new.zip"
    code, out, err = build("again", "--speech-archive", str(new))
    assert code == 0 and "4 clips written" in out and "lacks" not in err and len(clips_of_archive(new)) == 4
    assert out.index("from the cache") < out.index("clips written"), "the summary comes first"


@pytest.mark.parametrize("name", ["r.toml/x.zip", "r.toml/more/x.zip", f"{'a' * 300}.zip"])
def test_an_archive_that_cannot_be_written_is_refused_before_anything_is_spoken(
    build: Callable[..., tuple[int, str, str]], tmp_path: Path, name: str
) -> None:
    code, _, err = build("out", "--speech-archive", str(tmp_path / name))
    assert code == 2 and err.startswith(f"duplexkit: {tmp_path / name}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.toml"]


def test_a_build_stands_when_its_archive_cannot_be_written_in_the_end(
    build: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    assert build("out")[0] == 0
    (tmp_path / "file").write_text("")
    with pytest.raises(ReleaseError, match=r"file/x\.zip cannot be written: "):
        write_archive(tmp_path / "file" / "x.zip", tmp_path / "c", tmp_path / "out")


def test_a_variant_reports_whatever_the_cache_has_of_its_clips(
    build: Callable[..., tuple[int, str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build("out")[0] == 0
    arguments = [
        "variant",
        str(tmp_path / "out"),
        "--set",
        "scenarios.user_interruption.wait_s=5",
        "--workers",
        "1",
    ]
    archive = tmp_path / "v.zip"
    empty = [
        "--cache",
        str(tmp_path / "empty"),
        "--out",
        str(tmp_path / "v1"),
        "--speech-archive",
        str(archive),
    ]
    assert main([*arguments, *empty]) == 0
    said = capsys.readouterr()
    assert "0 utterances spoken" in said.out and (tmp_path / "v1" / "variant.json").is_file()
    assert f"v.zip: not written: {tmp_path / 'empty'} has none of the 4 clips" in said.err.replace("\n", " ")
    assert not archive.exists()
    next(iter(entries(tmp_path / "c"))).path.unlink()
    part = ["--cache", str(tmp_path / "c"), "--out", str(tmp_path / "v2"), "--speech-archive", str(archive)]
    assert main([*arguments, *part]) == 0
    said = capsys.readouterr()
    assert "3 clips written" in said.out and "lacks 1 of the 4 clips" in said.err
    assert len(clips_of_archive(archive)) == 3


@pytest.mark.parametrize("command", [["export", "x.zip"], ["prune"]])
def test_an_engine_that_nobody_knows_is_refused(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "cache", 1)
    for name in ("hibri", "../cache"):
        assert main(["cache", "--cache", "cache", *command, "--engine", name]) == 2
        assert f"--engine {name}: unknown engine" in capsys.readouterr().err
    assert main(["cache", "--cache", "cache", "export", "x.zip", "--engine", "kokoro"]) == 2
    assert "no clips by kokoro; there is nothing to write" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_size_has_a_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(tmp_path / "cache", 1)
    for text in ("9" * 400 + "GB", "9" * 5000 + "B", "nanGB", "1e3MB"):
        assert bytes_from(text) is None
        assert main(["cache", "--cache", str(tmp_path / "cache"), "prune", "--to-size", text]) == 2
        assert "wanted a size such as 500MB" in capsys.readouterr().err
    assert bytes_from("1.5GB") == 1_500_000_000 and bytes_from("999999999999999GB") == 999999999999999 * 10**9
    assert main(["cache", "--cache", str(tmp_path / "cache"), "prune", "--older-than-days", "nan"]) == 2
