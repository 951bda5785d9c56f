"""The tasks of Full-Duplex-Bench v1 and v1.5: which scenario belongs to which folder, and what a folder holds.

Sources: ``dataset/README.md``, ``evaluation/README.md`` and the evaluation scripts of Full-Duplex-Bench.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RATE_HZ = 16_000
"""What the evaluation assumes (its voice activity detector is called without a rate)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task: the bare name of its folder, its version, and the files of one sample.

    `kind` and `role` are those of its event in our rows, `stem` is the name of the event's own clip.
    `published` is the name of FDB's folder of synthetic speech, or the name an analogue of a human set gets.
    """

    name: str
    version: str
    scenario: str
    published: str
    json_files: tuple[str, ...]
    kind: str
    role: str
    stem: str = ""

    @property
    def has_clean(self) -> bool:
        """Return whether a sample has the same input without the event."""
        return self.version == "v1_5"


_OVERLAP = ("metadata.json", "input.json", "clean_input.json")

TASKS: tuple[Task, ...] = (
    Task(
        name="pause_handling",
        version="v1_0",
        scenario="pause_handling",
        published="synthetic_pause_handling",
        json_files=("pause.json", "transcription.json"),
        kind="pause",
        role="user",
    ),
    Task(
        name="turn_taking",
        version="v1_0",
        scenario="smooth_turn_taking",
        published="synthetic_turn_taking",
        json_files=("turn_taking.json", "transcription.json"),
        kind="shift",
        role="system",
    ),
    Task(
        name="backchannel",
        version="v1_0",
        scenario="backchannel",
        published="synthetic_backchannel",
        json_files=("transcription.json",),
        kind="shift",
        role="system",
    ),
    Task(
        name="user_interruption",
        version="v1_0",
        scenario="user_interruption",
        published="synthetic_user_interruption",
        json_files=("interrupt.json",),
        kind="barge_in",
        role="user",
        stem="interrupt.wav",
    ),
    Task(
        name="user_interruption",
        version="v1_5",
        scenario="user_interruption",
        published="user_interruption",
        json_files=_OVERLAP,
        kind="barge_in",
        role="user",
        stem="interrupt.wav",
    ),
    Task(
        name="user_backchannel",
        version="v1_5",
        scenario="user_backchannel",
        published="user_backchannel",
        json_files=_OVERLAP,
        kind="backchannel",
        role="user",
        stem="backchannel.wav",
    ),
    Task(
        name="talking_to_other",
        version="v1_5",
        scenario="talking_to_others",
        published="talking_to_other",
        json_files=_OVERLAP,
        kind="side_talk",
        role="user",
        stem="current_turn.wav",
    ),
    Task(
        name="background_speech",
        version="v1_5",
        scenario="background_speech",
        published="background_speech",
        json_files=_OVERLAP,
        kind="background_speech",
        role="other",
        stem="background.wav",
    ),
)

PREFIXES = ("synthetic_", "own_", "candor_", "icc_")
"""What may stand before a task's bare name."""


def task_of_row(row: Mapping[str, Any], *, author_q: bool = False) -> tuple[Task | None, str]:
    """Return the task of a row and its folder's name; no task: the second says why.

    Rows by FDB's own rule get FDB's own names, analogues of its human sets ``synthetic_*``, rows built by
    numbers of our own ``synthetic_own_*``; imported rows go back under the name they had. A distribution that
    is an author's needs `author_q`.
    """
    version = "v1_0" if row["preset"].rstrip("+") in ("fdb-v1", "fdb-v1_0") else "v1_5"
    fitting = [task for task in TASKS if task.scenario == row["scenario"]]
    task = next((t for t in fitting if t.version == version), fitting[0] if len(fitting) == 1 else None)
    if task is None:
        return None, f"Full-Duplex-Bench has no task for {row['scenario']}"
    if task.name == "pause_handling" and any(event["kind"] == "shift" for event in row["events"]):
        return None, (
            "its input goes on after the last word, and Full-Duplex-Bench counts any answer in a pause file "
            "as an interruption"
        )
    kinds = [event["kind"] for event in row["events"]]
    if task.stem and kinds and kinds[-1] != task.kind:
        return None, f"its event is a {kinds[-1]}, and Full-Duplex-Bench's {task.name} has none such"
    if task.name != "backchannel" and task.kind not in kinds:
        return None, f"it has no {task.kind}, which Full-Duplex-Bench's {task.name} is about"
    if "transcription.json" in task.json_files and not any(turn["words"] for turn in row["turns"]):
        return None, "it is a recording without a transcript, and Full-Duplex-Bench reads the user's words"
    if task.stem and row["events"][-1]["expected_if_speaking"] == "stop":
        return None, (
            "its interruption only asks for silence, and Full-Duplex-Bench counts silence after an interruption "
            "as a failure"
        )
    if task.name == "backchannel" and not row["backchannel_q"]:
        return None, "it has no listeners' distribution, which Full-Duplex-Bench compares a model with"
    if task.name == "backchannel" and not author_q and str(row["q_source"]).startswith("author"):
        return None, (
            "its backchannel places were marked by an author: not human timing, which Full-Duplex-Bench compares "
            "a model with (--author-q exports them all the same)"
        )
    if row["fdb_relation"] == "published":  # imported: back under the name it came from
        return task, row["script"]["id"].removeprefix(f"{row['preset']}-").rpartition("-")[0]
    if row["fdb_relation"] == "own":
        return task, f"synthetic_own_{task.name}"
    return task, task.published


def task_of_folder(name: str, version: str, files: set[str]) -> Task | None:
    """Return the task of a folder.

    Parameters
    ----------
    name
        The task folder's name, with any prefix.
    version
        Name of the folder above it: decides between the two interruption tasks where it is v1_0 or v1_5.
    files
        Names of the files of all its samples: decide where the folder above says nothing.
    """
    bare = name
    while any(bare.startswith(prefix) for prefix in PREFIXES):
        bare = bare.split("_", 1)[1]
    bare = {"smooth_turn_taking": "turn_taking", "talking_to_others": "talking_to_other"}.get(bare, bare)
    fitting = [task for task in TASKS if task.name == bare]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    if version not in ("v1_0", "v1_5"):
        version = "v1_5" if files & {"metadata.json", "clean_input.wav"} else "v1_0"
    return next(task for task in fitting if task.version == version)
