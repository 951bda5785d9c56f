"""What made a dataset: our version and state of the code, and the libraries that decide its bytes."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__

_DECIDE_BYTES = (
    "numpy",
    "scipy",
    "soundfile",
    "soxr",
    "pedalboard",
    "pyroomacoustics",
    "onnxruntime",
    "pyarrow",
)


def generator() -> dict[str, Any]:
    """Return the facts for a manifest; commit and dirty are None where the code is no git checkout."""
    root = Path(__file__).resolve().parents[1]
    commit = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no") if commit else None
    return {
        "name": "duplexkit",
        "version": __version__,
        "commit": commit,
        "dirty": None if changed is None else bool(changed),
        "libraries": {name: version(name) for name in _DECIDE_BYTES},
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
