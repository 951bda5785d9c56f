"""COMET in its own environment, whose packages exclude duplexkit's: a model's name as argument, JSON lines in and out.

`comet.py` starts this file with the other environment's Python. The first line out says which model it is, or why
there is none; then each line in, a list of pairs {"src": ..., "mt": ...}, gives a list of scores.
"""

from __future__ import annotations

import json
import logging
import os
import runpy
import signal
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

_FETCHED = runpy.run_path(str(Path(__file__).with_name("fetched.py")))


def main() -> int:
    """Answer until nothing more comes in; return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for duplexkit, whose end ends this
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what libraries print is no answer

        def answer(what: object) -> None:
            print(json.dumps(what), file=answers, flush=True)

        try:
            model = _model(sys.argv[1])
            _scores(model, [{"src": "One.", "mt": "One."}])
            version = import_module("comet").__version__
            answer({"version": version, "weights": _FETCHED["weights_of"](model)})
            for line in sys.stdin:
                answer({"scores": _scores(model, json.loads(line))})
        except Exception as error:  # it is raised in duplexkit
            answer({"error": _FETCHED["reason_of"](error) or type(error).__name__})
            return 1
    return 0


def _model(name: str) -> Any:
    """Return the model of a checkpoint file, or of a Hub id that COMET's own loader fetches."""
    warnings.simplefilter("ignore")
    comet = import_module("comet")
    logging.disable(logging.WARNING)
    return comet.load_from_checkpoint(_checkpoint(name, comet))


def _checkpoint(name: str, comet: Any) -> str:
    path = Path(name).absolute()
    if path.is_file():
        beside = path.parent.parent / "hparams.yaml"
        if not beside.is_file():
            raise FileNotFoundError(f"{beside} is missing; wanted a model's folder as downloaded")
        return str(path)
    try:
        return str(comet.download_model(name))
    except KeyError as error:  # it asks the Hub, then an older place, and speaks of that one only
        older = error.__context__
        raise (older.__context__ if older is not None else None) or error from None


def _scores(model: Any, pairs: list[dict[str, str]]) -> list[float]:
    found = model.predict(pairs, batch_size=8, gpus=0, progress_bar=False)
    return [float(score) for score in found["scores"]]


if __name__ == "__main__":
    sys.exit(main())
