"""A published version, read back as a user would: by tag, in a fresh cache and a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ... import ReleaseError
from ...builders.built import read_manifest
from .secrets import scrub

LIMIT_S = 600

_CACHES = ("HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_XET_CACHE", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")

_SMOKE = """
import os, sys
from datasets import Audio, load_dataset
repo, config, split, tag, rows, version = sys.argv[1:]
ds = load_dataset(repo, config, split=split, revision=tag)
for name, kind in list(ds.features.items()):
    if isinstance(kind, Audio):
        ds = ds.cast_column(name, Audio(decode=False))
assert len(ds) == int(rows), f"{len(ds)} rows, wanted {rows}"
assert str(ds.info.version) == version, f"version {ds.info.version}, wanted {version}"
assert ds[0]["input"]["bytes"][:4] == b"fLaC", "no FLAC"
sys.stdout.flush()
os._exit(0)
"""


def smoke_load(folder: Path, repository: str, version: str) -> str:
    """Load the smallest configuration by tag in a fresh cache, in a process of its own; return what was read.

    Raises
    ------
    ReleaseError
        If it does not load, or holds other rows or another version. The tag stands then: what is wrong is
        with reading, every byte was verified before.
    """
    shards = read_manifest(folder)["files"]
    config = min(shards.values(), key=lambda facts: facts["bytes"])["config"]
    of_config = [facts for facts in shards.values() if facts["config"] == config]
    split = of_config[0]["split"]
    n_rows = sum(facts["rows"] for facts in of_config if facts["split"] == split)
    error = _run([repository, config, split, f"v{version}", str(n_rows), version])
    if error:
        raise ReleaseError(
            f"{repository} v{version} stands, but {config}/{split} does not load from it: {scrub(error)}; "
            f"look at it before you announce it"
        )
    return f"read back: {config}/{split} by tag in a fresh cache, {n_rows} rows"


def _run(arguments: list[str]) -> str:
    """Return the last line of the error of a fresh process that loads; "" if all is well."""
    from huggingface_hub import constants

    with tempfile.TemporaryDirectory(prefix="duplexkit-smoke-") as home:
        environment = {
            **{name: value for name, value in os.environ.items() if name not in _CACHES},
            "HF_HOME": home,
            "HF_TOKEN_PATH": constants.HF_TOKEN_PATH,
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        }
        try:
            done = subprocess.run(
                [sys.executable, "-c", _SMOKE, *arguments],
                capture_output=True,
                text=True,
                env=environment,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return f"no end after {LIMIT_S} s"
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
