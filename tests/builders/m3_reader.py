"""M3-DuplexBench as its files are described: a reader and the timing rules. Shares no code with the exporter."""

import json
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Event = tuple[str, float, float]
Word = tuple[float, float, str]


@dataclass(frozen=True)
class Dialogue:
    name: str
    rate: int
    channels: NDArray[np.int16]
    events: dict[str, list[Event]]
    words: dict[str, list[Word]]

    @property
    def turns(self) -> dict[str, list[tuple[float, float]]]:
        return {c: [(s, e) for k, s, e in listed if k == "TURN"] for c, listed in self.events.items()}


def read_wav(path: Path) -> tuple[NDArray[np.int16], int]:
    with wave.open(str(path), "rb") as file:
        assert file.getnchannels() == 2 and file.getsampwidth() == 2
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return samples.reshape(-1, 2).T, file.getframerate()


def read_dialogues(place: Path) -> list[Dialogue]:
    dialogues = []
    for path in sorted(place.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            channels, rate = read_wav(place / "audio" / f"{data['id']}.wav")
            words: dict[str, list[Word]] = {"0": [], "1": []}
            for row in (place / "txt_align" / f"{data['id']}.txt").read_text(encoding="utf-8").splitlines():
                fields = row.split("\t")
                assert len(fields) == 4
                words[fields[0]].append((float(fields[1]), float(fields[2]), fields[3]))
            events = {
                channel: [(e["event"], float(e["time"][0]), float(e["time"][1])) for e in listed]
                for channel, listed in data["events"].items()
            }
            dialogues.append(Dialogue(data["id"], rate, channels, events, words))
    return dialogues


def reference_answer(dialogue: Dialogue, start: float) -> str:
    """Return the answer whose first word starts exactly at `start`, as far as words touch exactly."""
    words = sorted(dialogue.words["0"])
    at = next(i for i, word in enumerate(words) if word[0] == start)
    said = [words[at][2]]
    while at + 1 < len(words) and words[at + 1][0] == words[at][1]:
        at += 1
        said.append(words[at][2])
    return " ".join(said)


def scored(dialogue: Dialogue) -> list[tuple[str, Event]]:
    """Return the events of the user's turns at which the system is scored.

    A shift at whose start the system is already inside a TURN is dropped (bounds inclusive), as is a hold
    during which it is inside one. A barge-in counts where the system is inside a TURN at its start.
    """
    system = dialogue.turns["0"]

    def inside(at: float) -> bool:
        return any(start <= at <= end for start, end in system)

    ends = {end for _, end in dialogue.turns["1"]}
    starts = {start for start, _ in dialogue.turns["1"]}
    found = [
        ("SHIFT", e)
        for e in dialogue.events["0"]
        if e[0] == "TURN_SHIFT" and e[1] in ends and not inside(e[1])
    ]
    found += [
        ("HOLD", e)
        for e in dialogue.events["1"]
        if e[0] == "TURN_HOLD" and not inside(e[1]) and not inside(e[2])
    ]
    found += [
        ("BARGE_IN", e)
        for e in dialogue.events["1"]
        if e[0] == "BARGE_IN" and e[1] in starts and inside(e[1])
    ]
    found += [("BC", e) for e in dialogue.events["1"] if e[0] == "BC" and inside(e[1])]
    return found


def timing_score(kind: str, event: Event, output: list[tuple[float, float]], n_words: int) -> bool:
    """Return whether the model's speech (stretches on the dialogue's clock) is timed well at an event.

    SHIFT: it starts at most 0.4 s before and 10 s after the user's end. HOLD: nothing, or something of less
    than 1.0 s and fewer than 4 words. BARGE_IN: it falls silent within 10 s. BC (of the user): it speaks on, at
    least 1 s longer than the token.
    """
    _, start, end = event
    if kind == "SHIFT":
        return any(start - 0.4 <= at <= start + 10.0 for at, _ in output) and not any(
            at < start - 0.4 < stop for at, stop in output
        )
    if kind == "HOLD":
        during = [(max(a, start), min(b, end)) for a, b in output if a < end and b > start]
        return not during or (sum(b - a for a, b in during) < 1.0 and n_words < 4)
    speaking = [(a, b) for a, b in output if a <= start <= b]
    if kind == "BC":
        return bool(speaking) and speaking[0][1] > end + 1.0
    return bool(speaking) and speaking[0][1] < start + 10.0
