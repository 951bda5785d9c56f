"""Drafts side by side for a reviewer, as a table and a page, and back into the bank."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ... import ScriptError
from ...scenarios.conversation import Script
from ...scenarios.lint.forms import FORMS
from ...scenarios.text_file import read_text
from .drafts import Draft

COLUMNS = ("dialogue", "turn", "role", "before", "after", "findings", "verdict")
VERDICTS = ("accept", "reject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a review: the text as the reviewer left it, and the verdict (empty: none yet)."""

    dialogue: str
    turn: int
    after: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What a review lets into the bank, and why the rest stays out, by dialogue."""

    scripts: tuple[Script, ...]
    left_out: dict[str, str]
    shortened: dict[str, str]


def review_table(drafts: Sequence[Draft]) -> str:
    """Return the drafts as tab-separated values, a line each; lines without findings are marked accept."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    for draft in drafts:
        for line in draft.lines:
            findings = [*line.findings, *(draft.findings if line.turn == 0 else ())]
            writer.writerow(
                [
                    draft.dialogue,
                    line.turn,
                    line.role,
                    line.before,
                    line.after,
                    "; ".join(findings),
                    "" if findings else "accept",
                ]
            )
    return out.getvalue()


def review_page(drafts: Sequence[Draft], title: str) -> str:
    """Return the drafts as one HTML page: texts can be edited, lines decided, and the table saved from it."""
    from jinja2 import Environment

    template = (Path(__file__).parent / "review.html").read_text(encoding="utf-8")
    return (
        Environment(autoescape=True)
        .from_string(template)
        .render(drafts=drafts, title=title, columns=COLUMNS, verdicts=VERDICTS)
    )


def read_review(path: Path) -> tuple[Row, ...]:
    """Return the lines of a reviewed table.

    Raises
    ------
    ScriptError
        If it is not such a table; names the line.
    """
    if not path.is_file():
        raise ScriptError(f"{path}: no such file; wanted the reviewed table (.tsv)")
    with io.StringIO(read_text(path, encoding="utf-8-sig")) as file:
        reader = csv.DictReader(file, delimiter="\t")
        missing = set(COLUMNS) - set(reader.fieldnames or ())
        if missing:
            raise ScriptError(
                f"{path}: the columns {', '.join(sorted(missing))} are missing; wanted a review table"
            )
        rows = []
        for number, row in enumerate(reader, 2):
            verdict = (row["verdict"] or "").strip().lower()
            if verdict not in ("", *VERDICTS) or not (row["turn"] or "").isdigit():
                raise ScriptError(
                    f"{path} line {number}: turn {row['turn']!r}, verdict {row['verdict']!r}; "
                    f"wanted a number, and {' or '.join(VERDICTS)}"
                )
            rows.append(
                Row(
                    dialogue=row["dialogue"], turn=int(row["turn"]), after=row["after"] or "", verdict=verdict
                )
            )
    return tuple(rows)


def reviewed(drafts: Sequence[Script], rows: Sequence[Row]) -> Reviewed:
    """Return the drafted dialogues whose lines were accepted, with the reviewer's texts.

    A dialogue is cut before the pair of its first line that was not accepted, and left out where fewer
    pairs remain than its scenario needs.

    Raises
    ------
    ScriptError
        If the table speaks of a dialogue or turn that is not among the drafts.
    """
    by_id = {script.id: script for script in drafts}
    lines: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        if row.dialogue not in by_id or row.turn >= len(by_id[row.dialogue].turns):
            raise ScriptError(
                f"the review has turn {row.turn} of {row.dialogue!r}, which is not in the drafts"
            )
        lines[row.dialogue][row.turn] = row
    scripts: list[Script] = []
    left_out: dict[str, str] = {}
    shortened: dict[str, str] = {}
    for script in drafts:
        form = FORMS[script.scenario]
        size = len(form.turns)
        refused = [
            turn
            for turn in range(len(script.turns))
            if turn not in lines[script.id] or lines[script.id][turn].verdict != "accept"
        ]
        n_turns = refused[0] // size * size if refused else len(script.turns)
        if refused:
            first = lines[script.id].get(refused[0])
            reason = f"turn {refused[0]}: {first.verdict if first and first.verdict else 'no verdict'}"
            if n_turns < form.n_rounds[0] * size:
                left_out[script.id] = reason
                continue
            shortened[script.id] = f"{reason}; kept up to turn {n_turns - 1}"
        turns = tuple(
            replace(turn, text=lines[script.id][index].after.strip() or turn.text)
            for index, turn in enumerate(script.turns[:n_turns])
        )
        scripts.append(replace(script, turns=turns))
    return Reviewed(scripts=tuple(scripts), left_out=left_out, shortened=shortened)
