"""Publish, then read back by tag as users do: in fresh processes and caches, by LFS and by Xet."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from duplexkit.builders.build import BuildResult
from duplexkit.builders.flac import to_flac
from tests.hub.server import WRITE_TOKEN, StandIn
from tests.release import copied, described, release_folder

REPO = "me/tones"

READ = """
import hashlib, json, os, sys
from datasets import Audio, load_dataset
repo, config, streaming, *revisions = sys.argv[1:]
found = []
for revision in revisions:
    ds = load_dataset(repo, config, split="test", revision=revision, streaming=streaming == "yes")
    for name in ("input", "clean_input", "untreated_input", "system"):
        ds = ds.cast_column(name, Audio(decode=False))
    rows = list(ds)
    found.append({
        "version": str(ds.info.version),
        "rows": {r["id"]: hashlib.sha256(r["input"]["bytes"]).hexdigest() + json.dumps(r["turns"], sort_keys=True)
                 for r in rows},
        "torch": "torch" in sys.modules,
    })
print(json.dumps(found)); sys.stdout.flush(); os._exit(0)
"""


def environment(hub: StandIn, home: Path, *, xet: bool, offline: bool = False) -> dict[str, str]:
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("HF_")},
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(home),
        "HF_TOKEN": WRITE_TOKEN,
        "HF_HUB_DISABLE_XET": "0" if xet else "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_OFFLINE": "1" if offline else "0",
    }


def python(arguments: list[str], env: dict[str, str], wanted: int = 0) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == wanted, done.stdout + done.stderr
    assert WRITE_TOKEN not in done.stdout + done.stderr
    return done.stderr if wanted else done.stdout


def published(hub: StandIn, folder: Path, version: str, home: Path, *, xet: bool) -> str:
    arguments = ["-m", "duplexkit.publish", str(folder), "--repo", REPO, "--version", version, "--push"]
    return python(arguments, environment(hub, home, xet=xet))


def rows_of(folder: Path, config: str) -> dict[str, str]:
    """Return what `READ` should find, by pyarrow alone."""
    import hashlib

    scenario, _, language = config.partition("-")
    found = {}
    for path in sorted((folder / scenario).glob(f"{language or '*'}/*.parquet")):
        for row in pq.read_table(path).to_pylist():
            said = hashlib.sha256(row["input"]["bytes"]).hexdigest()
            found[row["id"]] = said + json.dumps(row["turns"], sort_keys=True)
    return found


def needs_xet(store: Path) -> None:
    hf_xet = pytest.importorskip("hf_xet", reason="needs the package hf_xet")
    assert hf_xet
    store.mkdir()


@pytest.mark.parametrize("mode", ["lfs", "xet"])
@pytest.mark.slow
def test_every_version_loads_as_it_was(
    mode: str, tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    xet = mode == "xet"
    store = tmp_path / "cas"
    if xet:
        needs_xet(store)
    old = release_folder(tone_build, tmp_path / "v1", "pause_handling", "user_backchannel")
    new = release_folder(
        tone_build, tmp_path / "v2", "pause_handling", "mt_qa", version="1.1.0", seed=6, count=3
    )
    with StandIn(store if xet else None) as hub:
        said = published(hub, old, "1.0.0", tmp_path / "home", xet=xet)
        assert "read back:" in said and "published me/tones v1.0.0" in said
        assert "already published" in published(hub, old, "1.0.0", tmp_path / "home", xet=xet)
        published(hub, new, "1.1.0", tmp_path / "home", xet=xet)
        assert (mode == "lfs") == ("put" in hub.seen) and (mode == "xet") == ("xet" in hub.seen)
        for config in ("pause_handling", "pause_handling-ja"):
            for streaming in ("no", "yes"):
                env = environment(hub, tmp_path / f"fresh-{config}-{streaming}", xet=xet)
                text = python(["-c", READ, REPO, config, streaming, "v1.0.0", "v1.1.0", "main"], env)
                first, second, main = json.loads(text.splitlines()[-1])
                assert first["rows"] == rows_of(old, config) and second["rows"] == rows_of(new, config)
                assert main["rows"] == second["rows"] != first["rows"]
                assert (first["version"], second["version"]) == ("1.0.0", "1.1.0")
                assert not first["torch"]
        env = environment(hub, tmp_path / "differ", xet=xet)
        said = python(["-c", DIFF, f"{REPO}@v1.0.0", f"{REPO}@v1.1.0"], env)
        assert "Configurations added: mt_qa-en, mt_qa-ja." in said and "MAJOR: 1.0.0 -> 2.0.0" in said
        check_reading_helper(hub, tmp_path, old, new, xet=xet)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or WRITE_TOKEN.encode() not in path.read_bytes(), path


DIFF = """
import sys, typer
from duplexkit.cards.commands import add_commands
app = typer.Typer()
add_commands(app)
app(["diff", *sys.argv[1:]])
"""

LOAD = """
import sys
from duplexkit.cards.load import load
repo, version = sys.argv[1:]
for row in load(repo, "pause_handling", "test", version=version):
    print(row["id"], row["input"].dtype, row["input"].shape[0] == round(row["duration_s"] * row["sample_rate_hz"]))
"""


def check_reading_helper(hub: StandIn, tmp_path: Path, old: Path, new: Path, *, xet: bool) -> None:
    """`load` gives the version asked for, also offline with another one in the cache; or an error."""
    home = tmp_path / "reader"
    for version, folder in (("1.0.0", old), ("1.1.0", new)):
        text = python(["-c", LOAD, REPO, version], environment(hub, home, xet=xet))
        assert text.split("\n")[:-1] == [f"{id_} float32 True" for id_ in rows_of(folder, "pause_handling")]
    for version, folder in (("1.0.0", old), ("1.1.0", new)):
        text = python(["-c", LOAD, REPO, version], environment(hub, home, xet=xet, offline=True))
        assert text.split("\n")[:-1] == [f"{id_} float32 True" for id_ in rows_of(folder, "pause_handling")]
    text = python(["-c", LOAD, REPO, "1.2.0"], environment(hub, home, xet=xet, offline=True), wanted=1)
    assert "ReleaseError: me/tones v1.2.0: not to be had here" in text


@pytest.mark.slow
def test_a_label_fix_sends_under_one_percent(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    """Measured by what Xet's local store grows by: new labels < 1 %, one row less < 2 %."""
    store = tmp_path / "cas"
    needs_xet(store)
    base = release_folder(tone_build, tmp_path / "v1", "talking_to_others", count=44)
    shard = base / "talking_to_others/en/test-00000-of-00001.parquet"
    rows = [with_noise(row) for row in pq.read_table(shard).to_pylist()]
    rewrite(base, shard.relative_to(base).as_posix(), rows)
    described(base, version="1.0.0")
    relabelled = [
        {**row, "events": [{**event, "expected_if_silent": "none"} for event in row["events"]]}
        for row in rows
    ]
    with StandIn(store) as hub:
        published(hub, base, "1.0.0", tmp_path / "home", xet=True)
        for version, changed, limit in (("2.0.0", relabelled, 0.01), ("3.0.0", rows[:11] + rows[12:], 0.02)):
            before = xorb_bytes(store)
            folder = copied(base, tmp_path / version, version=version)
            rewrite(folder, shard.relative_to(base).as_posix(), changed)
            described(folder, version=version)
            published(hub, folder, version, tmp_path / "home", xet=True)
            share = (xorb_bytes(store) - before) / shard.stat().st_size
            print(f"{version}: {share:.3%} of {shard.stat().st_size} bytes sent")
            assert share < limit, f"{version}: {share:.2%} of {shard.stat().st_size} bytes sent"


def with_noise(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose FLAC is as large as speech's (about 20 kB a second); tones take far less."""
    rng = np.random.default_rng(int.from_bytes(row["id"].encode()[-4:], "big"))
    tracks = {}
    for name in ("input", "clean_input", "untreated_input"):
        samples, rate = soundfile.read(io.BytesIO(row[name]["bytes"]), dtype="int16")
        noisy = (samples // 2 + rng.normal(0, 60, samples.size)).astype(np.int16)
        tracks[name] = {**row[name], "bytes": to_flac(noisy, rate)}
    return {**row, **tracks}


def xorb_bytes(store: Path) -> int:
    """Return how many bytes of content the local store holds."""
    return sum(
        path.stat().st_size
        for path in store.rglob("*")
        if path.is_file() and path.suffix not in (".mdb", ".redb") and "shard" not in path.parent.name
    )


def rewrite(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    """Write other rows into a shard, by the release writer, and say so in the manifest."""
    from duplexkit.builders.write import sha256_of, write_split

    path = folder / name
    (written,) = write_split(
        path.parent, path.name.split("-")[0], iter(rows), int(str(rows[0]["sample_rate_hz"]))
    )
    assert written == path
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    seconds = sum(float(str(row["duration_s"])) for row in rows)
    manifest["files"][name].update(
        sha256=sha256_of(path), bytes=path.stat().st_size, rows=len(rows), seconds=seconds
    )
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
