"""Full-Duplex-Bench as its files are described: a reader and the scoring rules. Shares no code with the exporter."""

import json
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE = 16000
Samples = NDArray[np.int16]
Chunk = tuple[str, float, float]


def read_wav(path: Path) -> Samples:
    with wave.open(str(path), "rb") as file:
        assert file.getframerate() == RATE and file.getnchannels() == 1 and file.getsampwidth() == 2
        return np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")


def write_wav(path: Path, samples: NDArray[np.float64]) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((samples * 32767).astype("<i2").tobytes())


def read_json(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))


def chunks(path: Path) -> list[Chunk]:
    content = read_json(path)
    listed = content["chunks"] if isinstance(content, dict) else content
    if listed and "item" in listed[0]:
        listed = listed[0]["item"]
    return [(c["text"], *map(float, c["timestamp"])) for c in listed]


@dataclass(frozen=True)
class Read:
    """What a sample folder says: kind of event, its span, texts, words."""

    spans: list[tuple[float, float]]
    texts: list[str]
    words: list[Chunk]
    clean_words: list[Chunk]


def read_sample(folder: Path) -> Read:
    if (folder / "pause.json").exists():
        items = read_json(folder / "pause.json")
        assert all(item["text"] == "[PAUSE]" for item in items)
        return Read([tuple(i["timestamp"]) for i in items], [], chunks(folder / "transcription.json"), [])
    if (folder / "turn_taking.json").exists():
        items = read_json(folder / "turn_taking.json")
        assert [item["text"] for item in items] == ["[TURN-TAKING]"]
        return Read([tuple(items[0]["timestamp"])], [], chunks(folder / "transcription.json"), [])
    if (folder / "interrupt.json").exists():
        item = read_json(folder / "interrupt.json")[0]
        return Read([tuple(item["timestamp"])], [item["context"], item["interrupt"]], [], [])
    if (folder / "metadata.json").exists():
        item = read_json(folder / "metadata.json")
        return Read(
            [tuple(item["timestamps"])],
            [item["context_text"], item["current_turn_text"]],
            chunks(folder / "input.json"),
            chunks(folder / "clean_input.json"),
        )
    return Read([], [], chunks(folder / "transcription.json"), [])


def numbered(root: Path) -> list[Path]:
    """Return the sample folders as the scripts list them; anything else at the root crashes them."""
    listed = [path for path in root.iterdir() if not path.name.endswith((".DS_Store", ".md"))]
    assert all(path.is_dir() and path.name.isdigit() for path in listed), listed
    assert all(not any(inner.is_dir() for inner in path.iterdir()) for path in listed)
    return sorted(listed, key=lambda path: int(path.name))


def voiced(samples: Samples, merge_s: float) -> list[tuple[float, float]]:
    """Return the stretches of sound, gaps of up to `merge_s` closed: an energy detector in frames of 10 ms."""
    n = samples.size // 160
    frames = samples[: n * 160].reshape(n, 160).astype(np.float64)
    loud = np.flatnonzero(np.sqrt((frames**2).mean(axis=1)) > 100)
    spans: list[list[float]] = []
    for at in loud / 100:
        if spans and at - spans[-1][1] <= merge_s + 1e-9:
            spans[-1][1] = at + 0.01
        else:
            spans.append([at, at + 0.01])
    return [(a, b) for a, b in spans]


def is_turn(words: list[Chunk]) -> int:
    """Return 1 where the model took the turn: not if it spoke for less than 1 s and at most 3 words."""
    if not words:
        return 0
    return 0 if words[-1][2] - words[0][1] < 1.0 and len(words) <= 3 else 1


def pause_score(folder: Path) -> int:
    return is_turn(chunks(folder / "output.json"))


def turn_taking_score(folder: Path) -> tuple[int, float]:
    words = chunks(folder / "output.json")
    end = read_json(folder / "turn_taking.json")[0]["timestamp"][0]
    return is_turn(words), max(0.0, words[0][1] - end) if words else float("inf")


def interruption_score(folder: Path) -> tuple[int, float]:
    """The recogniser crops the output at the user's end, so only what is said after it counts."""
    end = read_json(folder / "interrupt.json")[0]["timestamp"][1]
    words = [chunk for chunk in chunks(folder / "output.json") if chunk[2] > end]
    return is_turn(words), max(0.0, words[0][1] - end) if words else float("inf")


def backchannel_score(folder: Path, distribution: dict[str, list[float]]) -> tuple[int, int, float]:
    """Return turn taken, number of backchannels, and the Jensen-Shannon divergence of their times."""
    truth = np.asarray(distribution[folder.name])
    words = chunks(folder / "output.json")
    said = np.zeros(truth.size)
    turn = n = 0
    for start, end in voiced(read_wav(folder / "output.wav"), 0.0):
        inside = [w for w in words if start - 0.05 <= w[1] <= end + 0.05]
        if end - start > 3.0:
            turn = 1
        elif end - start < 1.0 and len(inside) <= 2:
            n += 1
            said[min(int(start / 0.2), truth.size - 1)] += 1
    if not said.any():
        return turn, 0, 1.0
    p, q = truth / truth.sum(), said / said.sum()
    middle = (p + q) / 2

    def divergence(a: NDArray[np.float64]) -> float:
        own = a > 0
        return float(np.sum(a[own] * np.log2(a[own] / middle[own])))

    return turn, n, (divergence(p) + divergence(q)) / 2


def overlap_behaviour(folder: Path) -> str:
    """Return what the model did, by the timing rule (gaps of up to 0.6 s user, 0.5 s model are closed).

    ``respond``: it spoke at the event, fell silent during it and spoke again after its end; ``resume``: it
    spoke on; ``silent``: it did not speak at all; ``stopped``: it fell silent and stayed so.
    """
    start, end = read_json(folder / "metadata.json")["timestamps"]
    model = voiced(read_wav(folder / "output.wav"), 0.5)
    if not model:
        return "silent"
    at_event = [span for span in model if span[0] < start < span[1]]
    after = [span for span in model if span[0] >= end]
    if at_event and at_event[0][1] > end:
        return "resume"
    return "respond" if after else "stopped"
