"""COMETKiwi: how good one language's script is as a translation of the other's, without a reference."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ... import EngineError
from .measure import Measure, Measured, NotMeasured, SpokenClip, Tools, Value

_INSTALL = (
    "install it in an environment of its own, whose comet-score is then found on PATH: "
    "pip install unbabel-comet==2.2.7 'setuptools<81' 'sentencepiece<0.2.3'"
)


class _Rater:
    """A model in a process of COMET's environment; it ends when nothing holds this any more.

    COMET asks for older releases of numpy, huggingface_hub and transformers than duplexkit, so no environment
    holds both.
    """

    def __init__(self, name: str) -> None:
        program = shutil.which("comet-score")
        if program is None:
            raise NotMeasured(f"there is no COMET (comet-score) on PATH; {_INSTALL} (docs/quality.md)")
        python = Path(program).resolve().with_name("python")
        worker = Path(__file__).with_name("comet_worker.py")
        try:
            self._process = subprocess.Popen(
                [str(python), "-I", str(worker), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        except OSError as error:
            raise NotMeasured(f"no Python beside {program} ({error}); {_INSTALL}") from None
        about = self._answer()
        if "error" in about:
            raise NotMeasured(
                f"the COMET model {name!r} is not to be had ({about['error']}); accept its licence on the Hub and log "
                "in there (hf auth login), or name a checkpoint file with --comet (it takes the tokenizer of "
                "microsoft/infoxlm-large from the Hub all the same)"
            )
        shown = Path(name).name if Path(name).is_file() else name
        self.version = f"unbabel-comet {about['version']} {shown}, weights {about['weights']}"

    def scores(self, pairs: Sequence[dict[str, str]]) -> list[float]:
        """Return the score of each pair.

        Raises
        ------
        EngineError
            If COMET fails.
        """
        assert self._process.stdin is not None
        try:
            print(json.dumps(pairs), file=self._process.stdin, flush=True)
        except OSError:
            raise EngineError(f"comet: its process has ended, exit code {self._process.wait()}") from None
        answer = self._answer()
        if "error" in answer:
            raise EngineError(f"comet: {answer['error']}")
        return list(answer["scores"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return {"error": f"its process has ended, exit code {self._process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer


@cache
def _rater(name: str) -> _Rater:
    return _Rater(name)


def _version(tools: Tools) -> str:
    return _rater(tools.comet).version


def _run(clips: tuple[SpokenClip, ...], tools: Tools) -> Measured:
    """Rate the texts of a pair: the clips of the first language, then as many of the second."""
    half = len(clips) // 2
    pairs = [{"src": a.text, "mt": b.text} for a, b in zip(clips[:half], clips[half:], strict=True)]
    if not pairs:
        return Measured(values={"comet_kiwi": None}, weight=0.0)
    scores = _rater(tools.comet).scores(pairs)
    return Measured(values={"comet_kiwi": sum(scores) / len(scores)}, weight=len(pairs))


COMET = Measure(
    name="comet",
    scope="pair",
    values=(
        Value(
            name="comet_kiwi",
            unit="0 to 1",
            meaning="estimated quality of the translation, mean over the turns of a script in two languages",
            better="high",
            pooling="pooled",
        ),
    ),
    source="Rei et al. 2022, CometKiwi",
    cost=0.2,
    version=_version,
    run=_run,
    programs=("comet-score",),
    load=lambda tools: _rater(tools.comet),
    install=_INSTALL,
)
