"""Sample to findings: the plan's limits on what came out, and a row's labels against its own audio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import AudioError
from ..acoustics.activity import speech_spans, speech_threshold_dbfs
from ..acoustics.level import Span, span_level_dbov, true_peak_dbfs
from ..scenarios.event_table import EXPECTED_VALUES, KINDS
from ..scenarios.recipe import Checks
from .agreement import WEBRTC, agreement_share
from .before_effects import before_effects, differs_by
from .check_text import text_faults
from .flac import from_flac
from .sample import Sample
from .schema import AUDIO_COLUMNS
from .sound_record import read_record, speech_of

KEPT_BEFORE_S = 0.020
"""A clip may sound this much before its onset (what trimming keeps)."""

WINDOW_S = 0.25
"""How far beyond a turn its edges are looked for."""

THRESHOLD_DB = 2.0
"""By how much the detector's threshold may be another one than when the clip was trimmed."""

LATE_OFFSET_S = 0.35
"""In a room the sound of a word lasts this much longer than the word."""

Signal = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it should be: what was measured, what was wanted, where."""

    name: str
    sample_id: str
    where: str
    measured: str
    wanted: str

    def __str__(self) -> str:
        """Return the finding as one line."""
        return f"{self.sample_id}: {self.name} at {self.where}: {self.measured}, wanted {self.wanted}"


def check_limits(sample: Sample) -> list[Finding]:
    """Return where a sample leaves its plan's limits: lengths of speech and of marked pauses."""
    rate = sample.timeline.sample_rate_hz
    findings = []
    for said, turn in zip(sample.plan.turns, sample.timeline.turns, strict=True):
        length_s = (turn.planned_offset - turn.onset) / rate
        if said.length_s is not None and not said.length_s[0] <= length_s <= said.length_s[1]:
            findings.append(
                Finding(
                    name="speech_length",
                    sample_id=sample.plan.id,
                    where=f"turn '{said.name}'",
                    measured=f"{length_s:.3f} s",
                    wanted=f"{said.length_s[0]:g} to {said.length_s[1]:g} s",
                )
            )
        for pause in turn.pauses if sample.plan.pause_s is not None else ():
            low, high = sample.plan.pause_s or (0.0, 0.0)
            length_s = (pause.stop - pause.start) / rate
            if not low <= length_s <= high:
                findings.append(
                    Finding(
                        name="pause_length",
                        sample_id=sample.plan.id,
                        where=f"{pause.start / rate:.3f} s",
                        measured=f"{length_s:.3f} s",
                        wanted=f"{low:g} to {high:g} s",
                    )
                )
    return findings


def check_row(
    row: Mapping[str, Any], checks: Checks, stem: Callable[[str], Signal]
) -> tuple[list[Finding], dict[str, float | None]]:
    """Return what is wrong with a row, and what was measured on it (the `checks` column).

    Parameters
    ----------
    row
        A row of the schema, audio as FLAC bytes.
    checks
        The limits.
    stem
        Gives a stem's samples by its SHA-256.
    """
    report = _Report(row, checks)
    report.text()
    if not report.has_audio():
        report.order()
    elif report.tracks() and report.order():
        report.effects(stem)
        report.edges()
        report.controls()
        report.level()
        report.detector(stem)
    return report.findings, report.measured


class _Report:
    """The findings on one row; each method looks at one thing."""

    def __init__(self, row: Mapping[str, Any], checks: Checks) -> None:
        self.row, self.checks = row, checks
        self.rate: int = row["sample_rate_hz"]
        self.findings: list[Finding] = []
        self.audio: dict[str, Signal] = {}
        self.record = read_record(row)
        self.labelled: dict[str, Signal] = {}
        """On what the labels are measured: the audio, or the user's side before the effects."""
        self.measured: dict[str, float | None] = {
            "onset_error_s": None,
            "offset_error_s": None,
            "level_error_db": None,
            "true_peak_dbfs": None,
            "detector_agreement": None,
        }

    def find(self, name: str, where: str, measured: str, wanted: str) -> None:
        self.findings.append(
            Finding(name=name, sample_id=self.row["id"], where=where, measured=measured, wanted=wanted)
        )

    def at(self, seconds: float) -> int:
        return round(seconds * self.rate)

    def text(self) -> None:
        """Every turn has its words; kinds and expected behaviours are known."""
        for i, measured, wanted in text_faults(self.row):
            self.find("text", f"turn {i}", measured, wanted)
        for event in self.row["events"]:
            if event["kind"] not in KINDS:
                self.find("kind", f"{event['onset_s']:.3f} s", event["kind"], ", ".join(KINDS))
            for key in ("expected_if_speaking", "expected_if_silent"):
                if event[key] not in EXPECTED_VALUES:
                    self.find(key, f"{event['onset_s']:.3f} s", str(event[key]), ", ".join(EXPECTED_VALUES))

    def has_audio(self) -> bool:
        """Return whether the row has any sound; only annotations of recordings may have none."""
        if any(self.row[name] is not None for name in AUDIO_COLUMNS):
            return True
        if self.row["provenance"]["engine"] != "recording":
            self.find("audio", "all tracks", "none", "sound")
        return False

    def tracks(self) -> bool:
        """Tracks are mono, finite, of the row's length, and do not clip. Without them nothing else can be said."""
        wanted = self.at(self.row["duration_s"])
        peaks = []
        for name in AUDIO_COLUMNS:
            samples = from_flac(self.row[name])
            if samples is None:
                continue
            if samples.ndim != 1 or samples.size != wanted:
                self.find("length", name, f"shape {samples.shape}", f"({wanted},)")
                return False
            if not np.any(samples):
                self.find("silence", name, "only zeros", "sound")
                return False
            peaks.append(true_peak_dbfs(samples, sample_rate_hz=self.rate))
            self.audio[name] = samples
        self.measured["true_peak_dbfs"] = max(peaks)
        self.labelled = dict(self.audio)
        if max(peaks) > -1.0 and not self._clips_on_purpose():
            self.find("true_peak", "all tracks", f"{max(peaks):.2f} dBFS", "at most -1 dBFS")
        return True

    def _clips_on_purpose(self) -> bool:
        return "clip_dbfs" in self.record["effects"].get("microphone", {})

    def effects(self, stem: Callable[[str], Signal]) -> None:
        """Where there are effects: the audio is what stems and numbers give, and labels are judged before them.

        Noise, echo, clipping and codecs hide edges and levels from any detector. So the tracks are made again
        and compared with the audio, and the labels are measured on the user's side as it was before.
        A recording of noise is not at hand here: then the tracks are not compared.
        """
        if not self.record["effects"]:
            return
        try:
            before = before_effects(self.row, stem)
        except AudioError as error:
            self.find("rebuild", "input", str(error), "what stems and numbers give")
            return
        for name, rebuilt in (before.rebuilt or {}).items():
            found = differs_by(self.audio[name], rebuilt, has_codec="codec" in self.record["effects"])
            if found:
                self.find("rebuild", name, f"differs by {found}", "what stems and numbers give")
        self.labelled.update(before.sides)

    def order(self) -> bool:
        """Return whether times lie inside the sample in order (else they point at no sound); words in their turn."""
        n_before = len(self.findings)
        end = self.row["duration_s"]
        for i, turn in enumerate(self.row["turns"]):
            if not 0 <= turn["onset_s"] < turn["offset_s"] <= end + 1e-9:
                self.find(
                    "times",
                    f"turn {i}",
                    f"{turn['onset_s']:.3f}-{turn['offset_s']:.3f} s",
                    f"0 to {end:.3f} s",
                )
            times = [t for word in turn["words"] for t in (word["onset_s"], word["offset_s"])]
            outside = times and (times[0] < turn["onset_s"] - 1e-9 or times[-1] > turn["offset_s"] + 1e-9)
            if outside or any(a > b for a, b in pairwise(times)):
                self.find("word_times", f"turn {i}", "out of order or outside", "ordered, inside the turn")
        for event in self.row["events"]:
            if not 0 <= event["onset_s"] <= event["offset_s"] <= end + 1e-9:
                self.find(
                    "times",
                    f"event {event['kind']}",
                    f"{event['onset_s']:.3f}-{event['offset_s']:.3f} s",
                    f"ordered, inside 0 to {end:.3f} s",
                )
        return not any(finding.name == "times" for finding in self.findings[n_before:])

    def edges(self) -> None:
        """Onsets and offsets of turns, and pauses, against the energy detector on the released audio."""
        in_room = self.record["preset"] != "none"
        late_s = LATE_OFFSET_S if in_room else self.checks.edge_tolerance_s
        onsets, offsets = [], []
        for i, turn in enumerate(self.row["turns"]):
            start, spans = self._heard(i, late_s)
            if not spans:
                self.find("speech", f"turn {i}", "none found", f"speech from {turn['onset_s']:.3f} s")
                continue
            onset_error_s = (start + spans[0][0]) / self.rate - turn["onset_s"]
            offset_error_s = (start + spans[-1][1]) / self.rate - turn["offset_s"]
            onsets.append(onset_error_s)
            offsets.append(offset_error_s)
            if abs(onset_error_s) > self.checks.edge_tolerance_s:
                self.find(
                    "onset", f"turn {i}", f"{onset_error_s:+.3f} s", f"±{self.checks.edge_tolerance_s:g} s"
                )
            if not -self.checks.edge_tolerance_s <= offset_error_s <= late_s:
                self.find("offset", f"turn {i}", f"{offset_error_s:+.3f} s", f"at most {late_s:g} s")
            self._pauses(i, [(start + a, start + b) for a, b in spans], late_s)
        self.measured["onset_error_s"] = _largest(onsets)
        self.measured["offset_error_s"] = _largest(offsets)

    def _heard(self, i: int, late_s: float) -> tuple[int, tuple[Span, ...]]:
        """Return the first sample of the window round a turn, and the speech the detector finds in it.

        The detector's threshold depends on how much silence is round the speech, by a decibel or two, and a
        faint stretch at an edge may lie just above or below it: of the answers within `THRESHOLD_DB` the one
        that confirms the label counts, if there is one.
        """
        samples, turn = self._track_of(i), self.row["turns"][i]
        start, stop = self._window(i)
        window = samples[start:stop]
        threshold_dbfs = speech_threshold_dbfs(window, sample_rate_hz=self.rate)
        answers = [
            speech_spans(
                window,
                sample_rate_hz=self.rate,
                min_hush_s=0.05,
                threshold_dbfs=min(0.0, threshold_dbfs + step_db),
            )
            for step_db in (0.0, -THRESHOLD_DB, THRESHOLD_DB)
        ]
        tolerance_s = self.checks.edge_tolerance_s
        for spans in answers:
            if (
                spans
                and abs((start + spans[0][0]) / self.rate - turn["onset_s"]) <= tolerance_s
                and -tolerance_s <= (start + spans[-1][1]) / self.rate - turn["offset_s"] <= late_s
            ):
                return start, spans
        return start, answers[0]

    def _pauses(self, i: int, spans: list[tuple[int, int]], late_s: float) -> None:
        hushes = [(a[1] / self.rate, b[0] / self.rate) for a, b in pairwise(spans)]
        for event in self.row["events"]:
            if event["kind"] not in ("pause", "hold") or event["turn"] != i:
                continue
            tolerance_s = self.checks.edge_tolerance_s
            if not any(
                -tolerance_s <= start - event["onset_s"] <= late_s
                and abs(stop - event["offset_s"]) <= tolerance_s
                for start, stop in hushes
            ):
                self.find(
                    "pause",
                    f"turn {i}",
                    f"no silence at {event['onset_s']:.3f}-{event['offset_s']:.3f} s",
                    f"one within {tolerance_s:g} s",
                )

    def _track_of(self, i: int) -> Signal:
        """Return the track in which a turn is heard at normal level."""
        turn = self.row["turns"][i]
        if turn["role"] == "system":
            return self.audio["system"]
        return self.labelled.get("untreated_input", self.labelled["input"])

    def _window(self, i: int) -> tuple[int, int]:
        """Return the samples round a turn that hold no other turn of the same track."""
        turns = self.row["turns"]
        same = [
            t
            for k, t in enumerate(turns)
            if k != i and (t["role"] == "system") == (turns[i]["role"] == "system")
        ]
        before = max((t["offset_s"] for t in same if t["offset_s"] <= turns[i]["onset_s"]), default=0.0)
        after = min(
            (t["onset_s"] for t in same if t["onset_s"] >= turns[i]["offset_s"]),
            default=self.row["duration_s"],
        )
        start_s = max(turns[i]["onset_s"] - WINDOW_S, (before + turns[i]["onset_s"]) / 2, 0.0)
        stop_s = min(turns[i]["offset_s"] + WINDOW_S + 0.1, (after + turns[i]["offset_s"]) / 2)
        if after == self.row["duration_s"]:
            stop_s = min(turns[i]["offset_s"] + WINDOW_S + 0.1, after)
        return self.at(start_s), max(self.at(stop_s), self.at(turns[i]["offset_s"]))

    def controls(self) -> None:
        """`input` equals `clean_input` outside the event's sound, to the sample (a codec breaks that)."""
        if "clean_input" not in self.audio or "codec" in self.record["effects"] or not self.row["events"]:
            return
        event = self.row["events"][-1]
        start = max(0, self.at(event["onset_s"] - KEPT_BEFORE_S))
        stop = self.at(event["audible_end_s"])
        for name in ("input", "untreated_input"):
            if name not in self.audio:
                continue
            differs = np.flatnonzero(self.audio[name] != self.audio["clean_input"])
            limit = stop if name == "input" else max(stop, self.at(event["offset_s"] + LATE_OFFSET_S + 0.35))
            if differs.size == 0:
                self.find("controls", name, "equal to clean_input", "an event that can be heard")
            elif differs[0] < start or differs[-1] >= limit:
                self.find(
                    "controls",
                    name,
                    f"differs from {differs[0] / self.rate:.3f} to {differs[-1] / self.rate:.3f} s",
                    f"only from {start / self.rate:.3f} to {limit / self.rate:.3f} s",
                )

    def level(self) -> None:
        """Measure the event's speech span against the user's on-axis speech.

        A level that is no target but the outcome of a chain must be the one that the row reports.
        """
        if "clean_input" not in self.labelled or not self.row["events"]:
            return
        event, treatment = self.row["events"][-1], self.row["treatment"]
        target_db = treatment["target_db"] if treatment else 0.0
        wanted_db = treatment["measured_db"] if target_db is None else target_db
        quiet = self.labelled["clean_input"]
        alone = self.labelled["input"] - quiet
        spans = [
            span
            for i, turn in enumerate(self.row["turns"])
            if turn["role"] == "user" and i != event["turn"]
            for span in speech_of(self.row, i)
        ]
        span = (self.at(event["onset_s"]), self.at(event["offset_s"]))
        if not np.any(alone[span[0] : span[1]]) or not spans:
            return
        level_db = span_level_dbov(alone, [span]) - span_level_dbov(quiet, spans)
        error_db = level_db - wanted_db
        self.measured["level_error_db"] = None if target_db is None else error_db
        if abs(error_db) > self.checks.level_tolerance_db:
            self.find(
                "level",
                f"event {event['kind']}",
                f"{level_db:.2f} dB",
                f"{wanted_db:g} ± {self.checks.level_tolerance_db:g} dB",
            )

    def detector(self, stem: Callable[[str], Signal]) -> None:
        """Share of the stems' edges on which webrtcvad, less its own bias, agrees; reported, never a finding."""
        self.measured["detector_agreement"] = agreement_share(
            (stem(made["stem"]) for made in self.row["provenance"]["turns"]), WEBRTC, sample_rate_hz=self.rate
        )


def _largest(errors: list[float]) -> float | None:
    return max(errors, key=abs) if errors else None
