"""Broken input is answered in words: no command shows Python's own, and none fails without an answer."""

import re
from pathlib import Path

import pytest

from duplexkit.builders.cli import main

PYTHONS = re.compile(
    r"Traceback|<class|<function|<module|NoneType|PosixPath|WindowsPath|\[Errno|\w+Error\b|\bException\b|"
    r"list ind|string ind|not subscriptable|has no attribute|unhashable|dict_keys|is not iterable|object at 0x"
)

BROKEN: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n \n",
    "junk": bytes(range(256)) * 4,
    "zeros": bytes(100),
    "not-utf8": "id\tübung\n".encode("latin-1"),
    "null": b"null\n",
    "number": b"5\n",
    "nan": b"NaN\n",
    "text": b'"text"\n',
    "list": b"[1, 2]\n",
    "lists": b"[[[]]]\n",
    "object": b"{}\n",
    "cut": b'{"id": "a", "turns": [{"ro',
    "deep": b"[" * 100_000,
    "wrong-types": b'{"id": 5, "turns": 7, "events": [1], "decisions": 3, "tables": 3, "splits": 1, "format": "x"}\n',
    "nulls": b'{"id": null, "turns": [null], "events": {"0": [null], "1": [5]}, "decisions": {"a": null}}\n',
    "tables": b'{"events": {"0": 1}, "id": "a", "turns": [{"role": "user"}], "decisions": {"a": {"keep": 1}}}\n',
    "infinite": b'{"id": "a", "events": {"0": [{"event": "TURN", "time": [NaN, 1e999]}], "1": []}}\n',
    "columns": b"a,b\n1\n1,2,3,4\n",
    "toml": b"[splits]\ntest = 5\n[speech]\n",
    "toml-list": b"splits = [[splits]]\n",
}

MODEL = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--timeout-s", "1"]
OWNED = ["--source", "me", "--licence", "CC0-1.0"]

COMMANDS: dict[str, tuple[str, list[str]]] = {
    "build": (".toml", ["build", "FILE", "--out", "o", "--cache", "c"]),
    "voices": (".toml", ["voices", "--recipe", "FILE", "--cache", "c"]),
    "select": (".toml", ["select", ".", "--splits", "FILE", "--out", "o"]),
    "decisions": (".json", ["annotate", ".", "--out", "../o", "--licence", "CC0-1.0", "--decisions", "FILE"]),
    "events of words": (".txt", ["events", "FILE"]),
    "events of M3": (".jsonl", ["events", "FILE"]),
    "events of sound": (".wav", ["events", "FILE"]),
    "fit": (".jsonl", ["timing", "fit", "FILE", "--out", "p.json"]),
    "fit of sound": (".flac", ["timing", "fit", "FILE", "--out", "p.json"]),
    "show": (".json", ["timing", "show", "FILE"]),
    "lint": (".jsonl", ["scripts", "lint", "FILE", "--scenario", "mt_qa", "--language", "en"]),
    "import json": (
        ".json",
        ["scripts", "import", "FILE", "--scenario", "backchannel", "--language", "en", *OWNED],
    ),
    "import csv": (
        ".csv",
        ["scripts", "import", "FILE", "--scenario", "backchannel", "--language", "en", *OWNED],
    ),
    "rewrite": (".jsonl", ["scripts", "rewrite", "FILE", *MODEL, *OWNED, "--out", "o"]),
    "translate": (".jsonl", ["scripts", "translate", "FILE", *MODEL, "--out", "o"]),
    "drafts": (".jsonl", ["scripts", "accept", "FILE", "review.tsv", "--language", "en"]),
    "review": (".tsv", ["scripts", "accept", "drafts.jsonl", "FILE", "--language", "en"]),
    "archive": (".zip", ["cache", "--cache", "c", "import", "FILE"]),
    "plain": (".wav", ["annotate", ".", "--out", "../o", "--licence", "CC0-1.0"]),
    "icc": (".wav", ["annotate", ".", "--layout", "icc", "--out", "../o", "--licence", "CC0-1.0"]),
    "magicdata": (
        ".txt",
        ["annotate", ".", "--layout", "magicdata", "--out", "../o", "--licence", "CC0-1.0"],
    ),
    "measure": (
        ".wav",
        ["check", ".", "--measure", "pitch", "--language", "en", "--cache", "c", "--workers", "1"],
    ),
}
"""Ending of the broken file, and the command that reads it."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_broken_files_are_answered_in_words(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    ending, arguments = COMMANDS[command]
    for name, content in BROKEN.items():
        path = Path(f"broken{ending}")
        path.write_bytes(content)
        code = main([path.name if part == "FILE" else part for part in arguments])
        said = capsys.readouterr()
        everything = said.out + said.err
        assert code in (1, 2), (name, everything)
        assert not PYTHONS.search(everything), (name, everything)
        assert said.err.startswith("duplexkit: ") or "error" in said.out, (name, everything)
        assert not Path("o").exists() and not Path("../o").exists() and not list(Path().glob("*.partial"))


@pytest.mark.parametrize("form", ["fdb", "m3", "candor", "topiocqa"])
def test_broken_files_of_other_layouts(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    import numpy as np
    import soundfile

    sound = np.full((16000, 1), 0.1, dtype=np.float32)
    for name, content in BROKEN.items():
        if form == "fdb":
            sample = Path("v1.0/synthetic_pause_handling/1")
            sample.mkdir(parents=True, exist_ok=True)
            soundfile.write(sample / "input.wav", sound, 16000)
            for file in ("transcription.json", "pause.json"):
                (sample / file).write_bytes(content)
            arguments = ["import", "fdb", "v1.0", "--out", "o"]
        elif form == "m3":
            place = Path("data/en/chat/calls")
            for folder in ("audio", "txt_align"):
                (place / folder).mkdir(parents=True, exist_ok=True)
            soundfile.write(place / "audio" / "a.wav", np.hstack([sound, sound]), 16000)
            (place / "txt_align" / "a.txt").write_bytes(content)
            (place / "test.jsonl").write_bytes(content)
            arguments = ["import", "m3", "data", "--out", "o"]
        elif form == "candor":
            place = Path("calls/one")
            for folder in ("processed", "transcription"):
                (place / folder).mkdir(parents=True, exist_ok=True)
            soundfile.write(place / "processed" / "one.wav", np.hstack([sound, sound]), 16000)
            (place / "processed" / "channel_map.json").write_bytes(content)
            (place / "transcription" / "transcript_backbiter.csv").write_bytes(
                b"speaker,start,stop,utterance\na,0,1,hello\nb,1,2,yes\n"
                if content != BROKEN["columns"]
                else content
            )
            arguments = ["annotate", "calls", "--layout", "candor", "--out", "o", "--licence", "CC0-1.0"]
        else:
            Path("topics.jsonl").write_bytes(content)
            Path("recipe.toml").write_text(
                'name = "q"\nversion = "1.0.0"\nseed = 1\nlanguages = ["en"]\nlicence = "CC0-1.0"\n[speech]\n'
                'engine = "tone"\n[scenarios.mt_qa]\ncount = 1\nsource = "topiocqa:topics.jsonl"\n'
            )
            arguments = ["build", "recipe.toml", "--out", "o", "--cache", "c", "--workers", "1"]
        code = main(arguments)
        said = capsys.readouterr().err
        assert code in (1, 2) and said.startswith("duplexkit: "), (name, said)
        assert not PYTHONS.search(said), (name, said)
        assert not Path("o").exists() and not list(Path().glob("*.partial")), name
