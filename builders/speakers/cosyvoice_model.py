"""A CosyVoice model in this process: upstream's own code, from its repository or an installed package."""

from __future__ import annotations

import hashlib
import inspect
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import EngineError, RecipeError, SpeechError
from ...scenarios.reason import reason_of
from .cosyvoice_request import CosyRequest, check_reference
from .options import needed
from .wav import Sound

INSTALL = (
    "clone the CosyVoice repository with its submodules, install its requirements, and name the clone "
    "(speech.options.repo_dir, or --repo)"
)
_CLASSES = {"cosyvoice3.yaml": "CosyVoice3", "cosyvoice2.yaml": "CosyVoice2", "cosyvoice.yaml": "CosyVoice"}
_PROMPT_RATE_HZ = 16_000
_WEIGHTS = ("*.pt", "*.onnx")
_HEAD_BYTES = 1 << 20


class CosyModel:
    """The model. One thread at a time may use it.

    Parameters
    ----------
    model_dir : Path
        Folder with ``cosyvoice3.yaml``, ``cosyvoice2.yaml`` or ``cosyvoice.yaml`` and the weights.
    repo_dir : Path, optional
        A clone of upstream's repository; left out if its package can be imported.

    Raises
    ------
    RecipeError
        If a folder is not what it must be.
    EngineError
        If upstream's code cannot be imported, or does not load the model.
    """

    uses_seed = True
    takes_speed = True

    def __init__(self, model_dir: Path, repo_dir: Path | None = None) -> None:
        kind = next((name for name in _CLASSES if (model_dir / name).is_file()), None)
        if kind is None:
            raise RecipeError(f"{model_dir} is no CosyVoice model: it has none of {', '.join(_CLASSES)}")
        if repo_dir is not None:
            if not (repo_dir / "cosyvoice" / "cli" / "cosyvoice.py").is_file():
                raise RecipeError(
                    f"{repo_dir} is no clone of CosyVoice: cosyvoice/cli/cosyvoice.py is missing"
                )
            sys.path[:0] = [str(repo_dir), str(repo_dir / "third_party" / "Matcha-TTS")]
        code = needed("cosyvoice.cli.cosyvoice", engine="cosyvoice", install=INSTALL)
        make = getattr(code, "AutoModel", None) or getattr(code, _CLASSES[kind], None)
        if make is None:
            raise EngineError(f"this version of CosyVoice cannot load {kind}: it has no {_CLASSES[kind]}")
        try:
            self._model: Any = make(model_dir=str(model_dir))
        except (OSError, RuntimeError, ValueError, KeyError, AssertionError) as error:
            raise EngineError(
                f"the CosyVoice model in {model_dir} cannot be loaded: {reason_of(error)}"
            ) from error
        self.sample_rate_hz = int(self._model.sample_rate)
        self.model = f"{_CLASSES[kind]}:{model_digest(model_dir)[:12]}:{code_digest(code)[:8]}"
        self._prompt_takes_path = "prompt_wav" in _parameters(self._model.inference_zero_shot)

    def speakers(self) -> tuple[str, ...]:
        """Return the speaker ids that the model knows by itself."""
        for name in ("list_available_spks", "list_avaliable_spks"):  # upstream's older spelling
            if hasattr(self._model, name):
                return tuple(map(str, getattr(self._model, name)()))
        return ()

    def speak(self, request: CosyRequest) -> Sound:
        """Return the spoken text: all the pieces the model splits it into, joined.

        Raises
        ------
        SpeechError
            If the model does not know the speaker id, or gives no sound.
        """
        torch = import_module("torch")
        torch.manual_seed(request.seed)  # upstream draws from torch's global generator and takes no other
        if request.reference:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "reference.wav"
                path.write_bytes(request.reference)
                parts = self._pieces(request, self._prompt(torch, request, path))
        else:
            known = self.speakers()
            if request.speaker_id not in known:
                raise SpeechError(
                    f"the model has no speaker {request.speaker_id!r}; {', '.join(known) or 'none'}"
                )
            parts = self._pieces(request, None)
        if not parts or not sum(part.size for part in parts):
            raise SpeechError(f"the CosyVoice model gave no sound for {request.text!r}")
        return Sound(samples=np.concatenate(parts), sample_rate_hz=self.sample_rate_hz)

    def _prompt(self, torch: Any, request: CosyRequest, path: Path) -> Any:
        """Return the reference as this version wants it: a path, or 16 kHz samples of shape (1, n)."""
        if self._prompt_takes_path:
            return str(path)
        from ...acoustics.resample import resample

        sound = check_reference(request.reference, "the reference")
        dense = resample(sound.samples, from_rate_hz=sound.sample_rate_hz, to_rate_hz=_PROMPT_RATE_HZ)
        return torch.from_numpy(dense).unsqueeze(0)

    def _pieces(self, request: CosyRequest, prompt: Any) -> list[NDArray[np.float32]]:
        model, text = self._model, request.text
        if prompt is None:
            call, given = model.inference_sft, [text, request.speaker_id]
        elif request.instruct:
            if not hasattr(model, "inference_instruct2"):
                raise SpeechError("this CosyVoice model takes no instructions with a reference")
            call, given = model.inference_instruct2, [text, request.instruct, prompt]
        elif request.reference_text:
            call, given = model.inference_zero_shot, [text, request.reference_text, prompt]
        else:
            call, given = model.inference_cross_lingual, [text, prompt]
        wanted = {"stream": False, "speed": request.speed, "text_frontend": request.text_frontend}
        taken = _parameters(call)
        if "speed" not in taken and request.speed != 1.0:
            raise SpeechError(f"this version of CosyVoice takes no speed, and {request.speed} was asked for")
        pieces = call(*given, **{key: value for key, value in wanted.items() if key in taken})
        return [
            np.asarray(piece["tts_speech"].detach().cpu().numpy(), dtype=np.float32).reshape(-1)
            for piece in pieces
        ]


def model_digest(model_dir: Path) -> str:
    """Return a SHA-256 of the model: sizes, beginnings and ends of its weights, and its settings whole."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in (*_CLASSES, *_WEIGHTS) for path in model_dir.glob(pattern)):
        size = path.stat().st_size
        digest.update(f"{path.name} {size} ".encode())
        with path.open("rb") as file:
            digest.update(file.read(_HEAD_BYTES))
            file.seek(max(0, size - _HEAD_BYTES))
            digest.update(file.read(_HEAD_BYTES))
    return digest.hexdigest()


def code_digest(module: ModuleType) -> str:
    """Return a SHA-256 of upstream's code: all modules of the package that `module` is in, by name."""
    top = Path(str(module.__file__)).parents[module.__name__.count(".") - 1]
    digest = hashlib.sha256()
    for path in sorted(top.rglob("*.py")):
        digest.update(
            f"{path.relative_to(top).as_posix()} {path.stat().st_size} ".encode() + path.read_bytes()
        )
    return digest.hexdigest()


def _parameters(call: Any) -> set[str]:
    return set(inspect.signature(call).parameters)
