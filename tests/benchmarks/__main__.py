"""Run the benchmarks in an environment of their own, made when it is missing: ``python -m tests.benchmarks``."""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENT = ROOT / "build" / "bench-env"


def main() -> int:
    """Install what `requirements.txt` asks for unless that was done, and run `bench.py`."""
    python = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "python"
    done, wanted = ENVIRONMENT / "requirements.txt", (HERE / "requirements.txt").read_text(encoding="utf-8")
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]
        subprocess.run(install, check=True)
        done.write_text(wanted, encoding="utf-8")
    bench = [python, HERE / "bench.py", "--out", ROOT / "build" / "bench.json", *sys.argv[1:]]
    return subprocess.run(bench, env=os.environ | {"PYTHONPATH": str(ROOT / ".dev")}).returncode


if __name__ == "__main__":
    raise SystemExit(main())
