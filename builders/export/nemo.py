"""NeMo duplex speech to speech: cuts of the user's side at 16 kHz with the agent's side at 22.05 kHz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .files import wav_unless_there
from .format import Options, Outcome, Row, file_id
from .levels import tracks_at
from .lhotse import Lists, recording, samples_at

USER_RATE_HZ = 16_000
AGENT_RATE_HZ = 22_050

SPEAKERS = {"user": "user", "system": "agent"}
"""Names by which NeMo tells input from output."""


def write(rows: Iterable[Row], folder: Path, options: Options) -> Iterator[Outcome]:
    """Write ``cuts-{split}.jsonl.gz``, ``user/{id}.wav`` and ``agent/{id}.wav``; paths relative to the folder."""
    with ExitStack() as stack:
        lists = Lists(stack)
        for row in rows:
            if row["system"] is None:
                yield Outcome(id=row["id"], skipped="it has no reference of the system's side to learn from")
                continue
            name = file_id(row["id"])
            sides = {}
            for side, track, rate_hz in (("user", "input", USER_RATE_HZ), ("agent", "system", AGENT_RATE_HZ)):
                path = Path(side) / f"{name}.wav"
                wav_unless_there(
                    folder / path,
                    rate_hz,
                    lambda row=row, track=track, rate_hz=rate_hz: [tracks_at(row, rate_hz)[track]],  # type: ignore[misc]
                )
                sides[side] = recording(
                    name if side == "user" else f"{name}-agent",
                    path,
                    rate_hz=rate_hz,
                    n_samples=samples_at(row, rate_hz),
                    channels=[0],
                )
            lists.add(folder / f"cuts-{row['split']}.jsonl.gz", _cut(row, name, sides))
            yield Outcome(id=row["id"], place=f"user/{name}.wav")


def _cut(row: Row, name: str, sides: dict[str, dict[str, Any]]) -> dict[str, Any]:
    turns = sorted((t for t in row["turns"] if t["role"] in SPEAKERS), key=lambda t: t["onset_s"])
    return {
        "id": name,
        "start": 0,
        "duration": sides["user"]["duration"],
        "channel": 0,
        "supervisions": [
            {
                "id": f"{name}-{i:03d}",
                "recording_id": name,
                "start": round(turn["onset_s"], 8),
                "duration": round(turn["offset_s"] - turn["onset_s"], 8),
                "channel": 0,
                "text": turn["spoken_text"],
                "language": row["language"],
                "speaker": SPEAKERS[turn["role"]],
            }
            for i, turn in enumerate(turns)
        ],
        "recording": sides["user"],
        "custom": {"target_audio": sides["agent"], "row_id": row["id"]},
        "type": "MonoCut",
    }
