"""Answers that came back from the rating page to numbers: agreement, means, and Q from key presses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import InputError, ReleaseError
from ...scenarios.fields import unknown
from ...scenarios.listener_lag import n_windows, window_at
from ...whole_file import put_text
from ..built import dataset_digest
from ..json_file import Form, misfit, read_json
from ..quality.table import interval
from .kappa import fleiss_kappa
from .page import QUESTIONS, rows_with

_LATE_S = 0.05
"""How far behind a sample's end a player's clock may be: browsers count a little past it."""


def take_in(folder: Path, paths: Sequence[Path]) -> dict[str, Any]:
    """Put the answers of raters into ``listening.json`` of a built folder; return what it holds.

    All answers are given each time: what was there before is replaced.

    Raises
    ------
    InputError
        If a file holds no answers of this dataset's page, or a rater stands twice.
    """
    digest = dataset_digest(folder)
    raters: dict[str, Mapping[str, Any]] = {}
    for path in paths:
        rater, answers = read_answers(path, digest)
        if rater in raters:
            raise InputError(f"{path}: rater {rater!r} stands twice; give each rater's file once")
        raters[rater] = answers
    facts = listening_facts(folder, raters)
    text = json.dumps({"dataset": digest, **facts}, indent=1, ensure_ascii=False)
    put_text(folder / "listening.json", text + "\n")
    return facts


def read_answers(path: Path, digest: str) -> tuple[str, Mapping[str, Any]]:
    """Return the rater and the answers by sample id, checked."""
    form: Form = {"rater": str, "dataset": str, "answers": {"*": {"*": object}}}
    try:
        data = read_json(path, form, cure="save the answers of the rating page there again")
    except ReleaseError as error:
        raise InputError(str(error)) from None
    rater, dataset, answers = data["rater"], data["dataset"], data["answers"]
    if dataset != digest:
        raise InputError(
            f"{path}: answers about another dataset ({str(dataset)[:16]}…, not {digest[:16]}…); rate this one's page"
        )
    if not rater.strip():
        raise InputError(f"{path}: rater {rater!r}: wanted a name")
    answers = {id_: given for id_, given in answers.items() if _says_something(given)}
    if not answers:
        raise InputError(f"{path}: rater {rater!r} has answered nothing; leave the file out")
    for id_, given in answers.items():
        for key in given:
            if key not in (*QUESTIONS, "presses_s", "listened"):
                raise InputError(f"{path}: {id_}.{key}: {unknown('question', key, tuple(QUESTIONS))}")
        if not isinstance(given.get("listened", False), bool):
            raise InputError(f"{path}: {id_}: listened = {given['listened']!r}: wanted true or false")
        for question, allowed in QUESTIONS.items():
            answer = given.get(question)
            if answer is not None and answer not in allowed:
                raise InputError(
                    f"{path}: {id_}: {question} = {answer!r}: wanted one of {', '.join(allowed)}"
                )
        presses = given.get("presses_s", [])
        if misfit(presses, [float]) or not all(press >= 0 for press in presses):
            raise InputError(f"{path}: {id_}: presses_s = {presses!r}: wanted times in seconds")
    return rater.strip(), answers


def _says_something(given: Mapping[str, Any]) -> bool:
    """Return whether a rater said anything of a sample: an answer, a press, or that it was heard to its end."""
    return any(given.get(question) is not None for question in QUESTIONS) or bool(
        given.get("presses_s") or given.get("listened")
    )


def listening_facts(folder: Path, raters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return n raters, n samples, and per question the counts, kappa and, for naturalness, mean and interval.

    Of a question that is answered yes or no also the ids of the samples to which more than half of those who
    answered it said "no" (`no_by_most`), and to which exactly half did (`no_by_half`).
    """
    ids = sorted({id_ for answers in raters.values() for id_ in answers})
    known = {row["id"]: row for row in rows_with(folder, ids, ["id", "duration_s"])}
    for id_ in ids:
        if id_ not in known:
            raise InputError(f"answers: there is no sample {id_!r} in {folder}")
        length_s = known[id_]["duration_s"]
        for rater, answers in raters.items():
            late = [at for at in answers.get(id_, {}).get("presses_s", ()) if at > length_s + _LATE_S]
            if late:
                raise InputError(
                    f"answers of {rater!r}: {id_}: presses_s has {late[0]:g}, but the sample is {length_s:g} s long"
                )
    questions: dict[str, Any] = {}
    for question in QUESTIONS:
        per_item = [
            Counter(
                a[id_][question] for a in raters.values() if id_ in a and a[id_].get(question) is not None
            )
            for id_ in ids
        ]
        total = sum(per_item, Counter())
        questions[question] = {
            "counts": {answer: total[answer] for answer in QUESTIONS[question] if total[answer]},
            "n_items": sum(bool(item) for item in per_item),
            "kappa": fleiss_kappa(per_item),
        }
        if "no" in QUESTIONS[question]:
            shares = {id_: item["no"] / item.total() for id_, item in zip(ids, per_item, strict=True) if item}
            questions[question] |= {
                "no_by_most": [id_ for id_, share in shares.items() if share > 0.5],
                "no_by_half": [id_ for id_, share in shares.items() if share == 0.5],
            }
    means = [
        sum(int(answer) * n for answer, n in item.items()) / sum(item.values())
        for id_ in ids
        if (
            item := Counter(
                a[id_]["naturalness"]
                for a in raters.values()
                if id_ in a and a[id_].get("naturalness") is not None
            )
        )
    ]
    if means:
        mean, low, high = interval(means)
        questions["naturalness"] |= {"mean": mean, "low": low, "high": high}
    q = {}
    for id_ in ids:
        heard = [a[id_] for a in raters.values() if id_ in a and a[id_].get("listened")]
        if heard:
            presses = [given.get("presses_s", []) for given in heard]
            q[id_] = {"n_listeners": len(heard), "q": q_of_presses(presses, known[id_]["duration_s"])}
    return {"n_raters": len(raters), "n_items": len(ids), "questions": questions, "backchannel_q": q}


def q_of_presses(presses_s: Sequence[Sequence[float]], duration_s: float) -> list[float]:
    """Return the share of listeners who pressed in each window of 200 ms, form (ceil(duration_s / 0.2),).

    A listener counts once in a window. Times are as pressed: a listener's reaction is part of them.

    Examples
    --------
    >>> q_of_presses([[0.1, 0.15], [0.5]], 0.6)
    [0.5, 0.0, 0.5]
    """
    n = n_windows(duration_s)
    counts = [0] * n
    for one in presses_s:
        for window in {min(window_at(at), n - 1) for at in one}:
            counts[window] += 1
    return [count / len(presses_s) for count in counts]
