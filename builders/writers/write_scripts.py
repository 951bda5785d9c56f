"""Scripts from a model: asked for by cells, judged, and asked for again until the set is full."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ... import ScriptError
from ...scenarios.conversation import Script
from ...scenarios.lint.language_rules import load_rules
from ..seeds import rng_for
from .candidates import items_of, script_of
from .cells import Cell, caps, wanted_cells, wishes
from .endpoint import Answer, Question
from .judge import Judge
from .prompts import Prompt
from .pronounce import pronounce
from .script_schema import scripts_schema
from .session import Session
from .spending import BudgetReached

MAX_EMPTY_ROUNDS = 4
"""Rounds in a row that bring nothing new, after which the model is taken to have no more."""

_N_AVOID = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be written: the file is to hold `count` scripts in the end."""

    scenario: str
    language: str
    count: int
    prompt: Prompt
    licence: str
    domains: tuple[str, ...]
    about: str = ""
    seed: int = 0
    n_per_question: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of a job: the new scripts (without ids), and why others were not taken."""

    scripts: tuple[Script, ...]
    n_missing: int
    rejects: tuple[tuple[str, str], ...] = ()
    stopped: str = ""
    reasons: Counter[str] = field(default_factory=Counter)


def write_scripts(
    job: Job,
    session: Session,
    *,
    there: Sequence[Script],
    known: Sequence[Script],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Written:
    """Return new scripts that bring `there` to the job's count, within the quotas of the whole.

    Parameters
    ----------
    job : Job
    session : Session
    there : sequence of Script
        What the file holds already; counted against quotas.
    known : sequence of Script
        Other scripts that new ones must not be like.
    progress : callable
        Called with the number of scripts there are and are wanted.

    Raises
    ------
    EndpointError
        If the endpoint refuses or fails. Answers so far are kept by the session's store.

    Notes
    -----
    Questions are made in rounds from what was taken in the rounds before, so that a run that is started
    again asks the same questions and finds its answers kept.
    """
    load_rules(job.language)
    judge = Judge(
        wanted=wanted_cells(job.scenario, job.count),
        caps=caps(job.scenario, job.language, job.count, job.domains),
        known=(*there, *known),
        pronounce=pronounce,
        domains=job.domains,
    )
    for script in there:
        judge.count(script)
    rejects: list[tuple[str, str]] = []
    stopped = ""
    total = judge.open.total()
    empty_rounds = number = 0
    while judge.open and empty_rounds < MAX_EMPTY_ROUNDS and not stopped:
        before = len(judge.taken)
        questions = _questions(job, judge, number)
        try:
            answers = session.ask_all(questions)
        except BudgetReached as reached:
            stopped = str(reached)
            answers = session.kept(questions)
        for answer in answers:
            rejects += _judge(job, judge, answer)
        empty_rounds = 0 if len(judge.taken) > before else empty_rounds + 1
        number += 1
        progress(len(judge.taken), total)
    if judge.open and not stopped:
        stopped = (
            f"{MAX_EMPTY_ROUNDS} rounds of questions brought nothing that could be taken; "
            "see the reasons, and try another model, seed or --about"
        )
    return Written(
        scripts=tuple(judge.taken),
        n_missing=judge.open.total(),
        rejects=tuple(rejects),
        stopped=stopped if judge.open else "",
        reasons=Counter(reason.split(":")[0] for _, reason in rejects),
    )


def _questions(job: Job, judge: Judge, number: int) -> list[Question]:
    """Return the questions of one round: the open cells in lots, each with its own wishes."""
    rng = rng_for(job.seed, f"{job.scenario}/{job.language}", f"round {number}")
    cells: list[Cell] = sorted(judge.open.elements())
    cells = [cells[i] for i in rng.permutation(len(cells))]
    used_up = judge.used_up()
    gone = used_up.pop("topic", [])
    topics = [name for name in job.domains if name not in gone] or list(job.domains)
    asked = wishes(cells, job.scenario, job.language, topics, rng)
    seen = [script.turns[0].text for script in judge.taken[-_N_AVOID:]]
    schema = scripts_schema(job.scenario, job.domains)
    questions: list[Question] = []
    wishing = iter(asked)
    while lot := list(islice(wishing, job.n_per_question)):
        user = {
            "language": f"{load_rules(job.language).name} ({job.language})",
            "about": job.about or "anything a person might talk to an assistant about",
            "scripts": lot,
            "do_not_repeat": seen,
            "used_up": used_up,
            "round": number,
            "lot": len(questions),
        }
        questions.append(
            Question(
                system=job.prompt.text,
                user=json.dumps(user, ensure_ascii=False, indent=1),
                schema_name=job.scenario,
                schema=schema,
            )
        )
    return questions


def _judge(job: Job, judge: Judge, answer: Answer) -> list[tuple[str, str]]:
    """Take what can be taken from one answer; return the rest with reasons."""
    items = items_of(answer.text, "scripts")
    if not items:
        cut = "cut off" if answer.finish_reason == "length" else "no JSON with scripts"
        return [(answer.text[:500], f"answer: {cut}")]
    provenance = {
        "model": answer.model,
        "prompt": job.prompt.name,
        "prompt_sha256": job.prompt.sha256,
        "date": answer.date,
        "response_id": answer.response_id,
    }
    rejects = []
    for item in items:
        shown = json.dumps(item, ensure_ascii=False)
        if not judge.open:
            rejects.append((shown, "quota: the set is full"))
            continue
        try:
            script = script_of(
                item,
                scenario=job.scenario,
                language=job.language,
                source=f"{answer.model} through duplexkit write (model-written)",
                licence=job.licence,
                provenance=provenance,
            )
        except ScriptError as error:
            rejects.append((shown, f"form: {error}"))
            continue
        reason = judge.take(script)
        if reason:
            rejects.append((shown, reason))
    return rejects


def write_rejects(path: Path, rejects: Sequence[tuple[str, str]]) -> None:
    """Write what was not taken, with reasons, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps({"reason": r, "script": s}, ensure_ascii=False) + "\n" for s, r in rejects),
        encoding="utf-8",
    )
