"""The list of engines: names, options, engines that other packages add."""

import importlib.util
import sys
from pathlib import Path

import pytest

from duplexkit import RecipeError, SpeechError
from duplexkit.builders import speakers
from duplexkit.builders.speakers import engines, make_speaker

PLUGIN = """
from duplexkit.builders.speakers import Engine

class Other:
    engine, version, uses_seed, licence = "other", "1", False, "CC0-1.0"
    def __init__(self, cache_dir, options):
        self.cache_dir, self.options = cache_dir, options

ENGINE = Engine(
    name="other", make=Other, install="pip install other", languages=("fr",), code_licence="MIT",
    weights_licence="CC0-1.0", pauses="none", uses_seed=False, times="aligner",
)
"""


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a distribution with an entry point the way a wheel's files lie."""

    def install(point: str, module: str = PLUGIN) -> None:
        (tmp_path / "other_speech.py").write_text(module)
        info = tmp_path / "other_speech-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-speech\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{speakers.ENTRY_POINTS}]\n{point}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        engines.cache_clear()

    yield install
    engines.cache_clear()
    sys.modules.pop("other_speech", None)


def test_every_engine_of_ours_says_what_it_is() -> None:
    for name in ("kokoro", "hibari", "chattts", "cosyvoice", "openai_speech", "recorded"):
        facts = engines()[name]
        assert facts.name == name
        assert facts.install and facts.code_licence and facts.weights_licence
    assert engines()["chattts"].weights_licence == "CC-BY-NC-4.0"
    assert engines()["chattts"].code_licence == "AGPL-3.0-or-later"


def test_unknown_engine_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(SpeechError, match=r"speech\.engine = 'kokorro'.*did you mean 'kokoro'.*cosyvoice"):
        make_speaker("kokorro", tmp_path)


@pytest.mark.parametrize("engine", ["kokoro", "hibari"])
def test_engines_without_options_refuse_them(engine: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=f"speech.options: engine '{engine}' has no options, got url"):
        make_speaker(engine, tmp_path, {"url": "http://x"})


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        ("openai_speech", {"licence": "x", "voices": {}}, "speech.options.model is missing"),
        ("openai_speech", {"modle": "x"}, r"speech\.options\.modle: .*did you mean 'model'"),
        ("cosyvoice", {"url": "http://127.0.0.1:1"}, "speech.options.voices is missing"),
        ("recorded", {"clips_dir": "x", "language": "en"}, "speech.options.licence is missing"),
        ("recorded", {"licence": "x", "language": "en"}, "wants either clips_dir or dataset"),
    ],
)
def test_wrong_options_name_the_key(engine: str, options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=message):
        make_speaker(engine, tmp_path, options)


@pytest.mark.parametrize("path", ["~nobody-of-that-name/x.wav", "x\0y.wav", "loop/x.wav"])
def test_a_path_that_is_none_names_its_key(path: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for engine, options, key in (
        (
            "cosyvoice",
            {"url": "http://h", "voices": {"a": {"reference_path": path}}},
            "voices.a.reference_path",
        ),
        ("recorded", {"clips_dir": path, "licence": "x", "language": "en"}, "clips_dir"),
        ("chattts", {"source": "custom", "model_dir": path}, "model_dir"),
    ):
        with pytest.raises(RecipeError, match=rf"speech\.options: {key} = .* is no path: "):
            make_speaker(engine, tmp_path, options, tmp_path)


@pytest.mark.parametrize("device", ["tpu9", "", "cuda:", "meta", "cpu "])
def test_a_device_that_is_none_is_named(device: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"speech\.options\.device = '.*': wanted cpu, cuda"):
        make_speaker("chattts", tmp_path, {"device": device})


@pytest.mark.skipif(importlib.util.find_spec("ChatTTS") is not None, reason="the extra chattts is installed")
def test_a_missing_extra_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SpeechError, match=r"'chattts' needs the package 'ChatTTS'.*duplexkit\[chattts\]"):
        make_speaker("chattts", tmp_path)


def test_another_package_adds_an_engine(install_plugin, tmp_path: Path) -> None:
    install_plugin("other = other_speech:ENGINE")
    assert engines()["other"].languages == ("fr",)
    speaker = make_speaker(
        "other", tmp_path, {"model_dir": "m", "n": 3, "voices": {"a": {"x_path": "~/y"}}}, tmp_path
    )
    assert speaker.cache_dir == tmp_path
    assert speaker.options == {
        "model_dir": str(tmp_path / "m"),
        "n": 3,
        "voices": {"a": {"x_path": str(Path.home() / "y")}},
    }


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("other = other_speech:NOTHING", "cannot be loaded.*NOTHING"),
        ("other = other_speech:Other", "wanted a duplexkit.builders.speakers.Engine"),
        ("another = other_speech:ENGINE", "wanted a duplexkit.builders.speakers.Engine of that name"),
    ],
)
def test_a_wrong_entry_point_is_named(install_plugin, point: str, message: str, tmp_path: Path) -> None:
    install_plugin(point)
    with pytest.raises(SpeechError, match=message):
        make_speaker("none_of_ours", tmp_path)


def test_an_entry_point_cannot_take_a_name_of_ours(install_plugin, tmp_path: Path) -> None:
    install_plugin("kokoro = other_speech:ENGINE", PLUGIN.replace('name="other"', 'name="kokoro"'))
    with pytest.raises(SpeechError, match="already an engine of that name"):
        make_speaker("none_of_ours", tmp_path)
