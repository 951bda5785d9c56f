"""One sample: spoken, placed, rendered and judged, attempt by attempt, until it is good or there is no attempt left."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .. import AudioError, EngineError, SpeechError
from ..acoustics.level import from_pcm16
from ..scenarios.conversation import Plan
from ..scenarios.recipe import row_digest
from ..whole_file import put_text
from .check import Finding, check_limits, check_row
from .decided import read_decided, still_holds, write_decided
from .finished import read_reject, reject_path, row_path, said_path, sample_key
from .gates import findings_of, shortfalls
from .jobs import Job
from .judged import judge_sample
from .place import place
from .quality.sample_values import SampleQuality
from .render import draw_acoustics, render
from .rows import to_row
from .said import Said, write_said
from .sample import Sample
from .sayings import Voices, kept_of, planned, record_of
from .seeds import rng_for
from .speak import again
from .stems import write_stem
from .tries import Shortfall, Tries, total
from .workshop import Site, workshop
from .write import write_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one sample; `n_kept` utterances were taken from an earlier build."""

    job: Job
    key: str
    n_spoken: int
    n_cached: int
    n_kept: int = 0
    resumed: bool
    rejected: str


def make_sample(site: Site, job: Job) -> Outcome:
    """Build one sample, unless an earlier run did; leave its row, its stems or its reasons on disk."""
    plan = planned(site, job)
    key = sample_key(site, job, plan)
    path, reject = row_path(site, key), reject_path(site, key)
    if (path.exists() or reject.exists()) and still_holds(site, job, read_decided(site, key)):
        reasons = "" if path.exists() else "; ".join(read_reject(site, key)["attempts"][-1]["reasons"])
        return Outcome(job=job, key=key, n_spoken=0, n_cached=0, resumed=True, rejected=reasons)
    for stale in (path, reject):  # limits have changed since: try again
        stale.unlink(missing_ok=True)
    work = _Work(site=site, job=job, plan=plan, kept=kept_of(site, job))
    good, failed = _best_attempt(work)
    if good is not None:
        for utterance in good.sample.utterances:
            write_stem(site.partial, utterance.sha256, utterance.pcm, utterance.sample_rate_hz)
        write_said(
            said_path(site, key), record_of(site, job, plan, good.sample, good.tries, work.clips, work.kept)
        )
        write_decided(site, job, key, attempt=good.row["provenance"]["attempt"], quality=good.quality)
        write_row(path, good.row)
    else:
        rejected = {
            "id": job.id,
            "attempts": failed,
            "clips": [f"{site.recipe.speech.engine}/{c}" for c in work.clips],
        }
        write_decided(site, job, key)
        put_text(reject, json.dumps(rejected, ensure_ascii=False))
    return Outcome(
        job=job,
        key=key,
        n_spoken=work.counts["spoken"],
        n_cached=work.counts["cached"],
        n_kept=work.counts["kept"],
        resumed=False,
        rejected="" if good is not None else "; ".join(failed[-1]["reasons"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A sample in the making, and what was listened to for it."""

    site: Site
    job: Job
    plan: Plan
    kept: Said | None
    counts: dict[str, int] = field(default_factory=lambda: {"spoken": 0, "cached": 0, "kept": 0})
    clips: dict[str, None] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """Count an utterance by where it came from."""
        self.counts[what] += 1

    @property
    def all_kept(self) -> bool:
        """Return whether the last attempt took every utterance from an earlier build."""
        return self.counts["kept"] == len(self.plan.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """The sample with each turn at its try, its row, what was measured, what is wrong, and in which turns (None: all).

    `short` says how far each turn stays behind what is tried for.
    """

    tries: tuple[int, ...]
    sample: Sample
    row: dict[str, Any]
    quality: SampleQuality
    findings: tuple[Finding, ...]
    turns: frozenset[int] | None
    short: tuple[Shortfall, ...]


def _best_attempt(work: _Work) -> tuple[_Attempt | None, list[dict[str, Any]]]:
    """Return the attempt that passes and stays least behind what is tried for, and why others failed.

    What an earlier build said is taken if it passes: to speak it anew would change more than was asked.
    """
    first = (0,) * len(work.plan.turns)
    if work.kept is not None and len(work.kept.tries) == len(first):
        first = work.kept.tries
    tries = Tries(first)
    failed: list[dict[str, Any]] = []
    good: _Attempt | None = None
    for attempt in range(work.site.recipe.checks.attempts):
        made = _attempt(work, tries.now)
        if isinstance(made, Exception):
            failed.append({"attempt": attempt, "reasons": [str(made)], "findings": [], "stems": []})
            tries.after((), None, improving=good is not None)
            continue
        if made.findings:
            failed.append(_failure(attempt, made))
            if work.all_kept:
                break
        else:
            made.row["provenance"]["attempt"] = attempt
            if work.kept is not None:
                return made, failed
            if good is None or total(made.short) < total(good.short):
                good = made
        tries.after(made.short, made.turns if made.findings else frozenset(), improving=good is not None)
        if good is not None and not tries.is_behind:
            break
    return None if good is None else _put_together(work, tries, good), failed


def _put_together(work: _Work, tries: Tries, good: _Attempt) -> _Attempt:
    """Return the sample of the best try of each turn, where it passes and is better than the best attempt."""
    best, short = tries.best()
    if short >= total(good.short):
        return good
    made = _attempt(work, best)
    if isinstance(made, Exception) or made.findings:
        return good
    made.row["provenance"]["attempt"] = tries.attempt_of(best)
    return made


def _failure(attempt: int, made: _Attempt) -> dict[str, Any]:
    return {
        "attempt": attempt,
        "reasons": [str(finding) for finding in made.findings],
        "findings": findings_of(made.findings),
        "stems": [u.sha256 for u in made.sample.utterances],
    }


def _attempt(work: _Work, tries: tuple[int, ...]) -> _Attempt | SpeechError | AudioError:
    """Return the sample with each turn at its try, looked at from all sides; the error where it cannot be spoken."""
    site, job, recipe = work.site, work.job, work.site.recipe
    speaker, _, quality = workshop(site)
    turns = tuple(again(turn, n, speaker) for turn, n in zip(work.plan.turns, tries, strict=True))
    plan = replace(work.plan, turns=turns)
    work.counts["kept"] = 0
    voices = Voices(site=site, job=job, kept=work.kept, count=work.count, note_clip=work.clips.setdefault)
    try:
        utterances = tuple(voices.say(turn, i, tries[i]) for i, turn in enumerate(plan.turns))
        timeline = place(plan, tuple(u.shape for u in utterances), sample_rate_hz=recipe.sample_rate_hz)
        acoustics = draw_acoustics(plan, partial(rng_for, recipe.seed, job.id))
        sample = render(plan, timeline, utterances, acoustics)
        findings = check_limits(sample)
        row = to_row(sample, recipe_digest=row_digest(recipe, recipe.entries[job.entry]))
        stems = {utterance.sha256: from_pcm16(utterance.pcm) for utterance in utterances}
        more, measured = check_row(row, recipe.checks, stems.__getitem__)
        verdict, found = judge_sample(sample, quality)
    except EngineError:
        raise
    except (SpeechError, AudioError) as error:
        return error
    row["checks"] = measured | dict(found.values)
    return _Attempt(
        tries=tries,
        sample=sample,
        row=row,
        quality=found,
        findings=(*findings, *more, *verdict.findings),
        turns=None if findings or more else verdict.turns,
        short=shortfalls(found, job.language, quality.gates),
    )
