"""What importing the builder costs: heavy packages wait until they are needed."""

from collections.abc import Callable

HEAVY = (
    "torch",
    "pyroomacoustics",
    "datasets",
    "openai",
    "scipy.signal",
    "onnx",
    "onnxruntime",
    "pedalboard",
)


def test_importing_the_builder_is_light(run_python: Callable[[str], str]) -> None:
    said = run_python(
        "import sys\nimport duplexkit.builders.build\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    assert said.strip() == "[]"
