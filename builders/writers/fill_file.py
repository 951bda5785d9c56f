"""A bank file filled to a number of scripts by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...scenarios import SCENARIOS
from ...scenarios.bank import languages_of
from ...scenarios.conversation import Script
from ...scenarios.lint import LintReport, lint_scripts
from .answer_store import AnswerStore
from .endpoint import Endpoint
from .pronounce import pronounce
from .script_lines import numbered, read_file, write_file
from .session import Session
from .spending import Budget, Spending
from .write_scripts import Job, Written, write_rejects, write_scripts

ANSWERS = ".answers"
"""Folder, inside the bank, of kept answers and of what was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What a run did: the file as it is now, what was written, what it cost, what the linter says of it."""

    path: Path
    n_there: int
    written: Written
    spending: Spending
    report: LintReport


def fill_file(
    job: Job,
    endpoint: Endpoint,
    *,
    out: Path,
    budget: Budget,
    n_workers: int,
    against: Sequence[Path] = (),
    tell: Callable[[str], None] = lambda line: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Filled:
    """Write scripts into ``<out>/<language>/<scenario>.jsonl`` until it holds the job's count.

    A file that holds them already is left as it is, and nothing is asked. The file is replaced whole, at
    the end; answers are kept as they come.

    Parameters
    ----------
    job : Job
    endpoint : Endpoint
    out : Path
        A folder in the bank's layout; made if need be.
    budget : Budget
    n_workers : int
    against : sequence of Path
        Other banks that new scripts must not be like.
    tell, progress : callable
        For the user: a line; scripts taken and wanted.

    Raises
    ------
    EndpointError
        If the endpoint refuses or fails; the file is untouched, the answers are kept.
    """
    path = out / job.language / f"{job.scenario}.jsonl"
    there = read_file(path, job.scenario, job.language)
    known = _known(job, out, against, path)
    name = f"{job.language}.{job.scenario}"
    if len(there) >= job.count:
        written, spending = Written(scripts=(), n_missing=0), Spending()
    else:
        with (
            AnswerStore(out / ANSWERS / f"{name}.jsonl") as store,
            Session(endpoint, store, budget=budget, n_workers=n_workers, tell=tell) as session,
        ):
            written = write_scripts(job, session, there=there, known=known, progress=progress)
            spending = session.spending
        if written.scripts:
            write_file(path, (*there, *numbered(written.scripts, there, job.scenario)))
        write_rejects(out / ANSWERS / f"{name}.rejects.jsonl", written.rejects)
    report = lint_scripts(read_file(path, job.scenario, job.language), pronounce, job.domains)
    return Filled(path=path, n_there=len(there), written=written, spending=spending, report=report)


def _known(job: Job, out: Path, against: Sequence[Path], path: Path) -> list[Script]:
    """Return the scripts of that language in `out` and the other banks, the file itself left out."""
    known: list[Script] = []
    for folder in (out, *against):
        for scenario in SCENARIOS:
            other = folder / job.language / f"{scenario}.jsonl"
            if job.language in languages_of(scenario, folder) and other.resolve() != path.resolve():
                known += read_file(other, scenario, job.language)
    return known
