"""NeMo's rules on a folder of duplex cuts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ... import ReleaseError
from ..json_file import Form, misfit
from .check_lhotse import check_recording
from .format import Finding
from .nemo import AGENT_RATE_HZ, SPEAKERS, USER_RATE_HZ
from .reading import Report

_CUT: Form = {
    "duration": float,
    "recording": {"*": object},
    "custom": ({"*": object}, None),
    "supervisions": [{"start": float, "duration": float}],
}


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the cuts of each split.

    Raises
    ------
    ReleaseError
        If there are no cuts.
    """
    lists = sorted(folder.glob("cuts-*.jsonl.gz"))
    if not lists:
        raise ReleaseError(f"{folder}: no cuts-{{split}}.jsonl.gz in it")
    report = Report(folder)
    for path in lists:
        for where, cut in report.lines(path):
            wrong = misfit(cut, _CUT)
            if wrong:
                report.find(path, "no-cut", f"{where}: {wrong}", "a MonoCut of lhotse")
                yield from report.taken()
                continue
            agent = (cut["custom"] or {}).get("target_audio")
            if agent is None:
                report.find(path, "no-target-audio", where, "the agent's side in custom.target_audio")
                yield from report.taken()
                continue
            for line, rate_hz in ((cut["recording"], USER_RATE_HZ), (agent, AGENT_RATE_HZ)):
                if check_recording(folder, path, where, line, report) and line["sampling_rate"] != rate_hz:
                    report.find(path, "wrong-rate", f"{where}: {line['sampling_rate']} Hz", f"{rate_hz} Hz")
            reached_s = 0.0
            for said in cut["supervisions"]:
                if said.get("speaker") not in SPEAKERS.values():
                    report.find(
                        path,
                        "unknown-speaker",
                        f"{where}: {said.get('speaker')!r}",
                        ", ".join(SPEAKERS.values()),
                    )
                span = [said["start"], said["start"] + said["duration"]]
                if report.span(path, where, span, cut["duration"]) and span[0] < reached_s:
                    report.find(path, "unordered-times", f"{where}: {span}", "supervisions by start")
                reached_s = span[0]
            yield from report.taken()
        yield from report.taken()
