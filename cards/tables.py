"""The tables of a card: each a heading and rows of texts, from the facts of a folder."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..builders.quality import VALUES
from ..builders.schema import AUDIO_COLUMNS, COLUMNS, Type
from ..scenarios import SCENARIOS
from ..scenarios.event_table import KINDS
from ..scenarios.timing_report import fit_reports, fit_table
from .licenses import result_of
from .summarize import Summary

Table = list[list[str]]

NOT_MEASURED = "not measured"


def config_table(summary: Summary) -> Table:
    """Return rows, hours, relation and comparability of each configuration and split."""
    table = [
        ["configuration", "split", "rows", "hours", "relation to Full-Duplex-Bench", "scores comparable"]
    ]
    for config, splits in summary.configs.items():
        scenario, _, language = config.partition("-")
        relations = summary.relations[scenario]
        comparable = "no"
        if set(relations) == {"same-rule"}:
            comparable = (
                "by rule, not item by item" if language == "en" else "no: the published set is English"
            )
        for split, facts in splits.items():
            table.append(
                [
                    f"`{config}`",
                    split,
                    str(facts.n_rows),
                    f"{facts.seconds / 3600:.3f}",
                    ", ".join(sorted(relations)),
                    comparable,
                ]
            )
    return table


def track_table(summary: Summary) -> Table:
    """Return in how many rows of each scenario each track stands."""
    table = [["scenario", *(f"`{track}`" for track in AUDIO_COLUMNS)]]
    for scenario in summary.scenarios:
        table.append([scenario, *(str(summary.tracks[scenario][track]) for track in AUDIO_COLUMNS)])
    return table


def length_table(summary: Summary) -> Table:
    """Return the lengths of each scenario's rows."""
    table = [["scenario", "rows", "shortest (s)", "median (s)", "longest (s)"]]
    for scenario in summary.scenarios:
        lengths = summary.durations_s[scenario]
        table.append(
            [
                scenario,
                str(len(lengths)),
                f"{min(lengths):.2f}",
                f"{np.median(lengths):.2f}",
                f"{max(lengths):.2f}",
            ]
        )
    return table


def preset_tables(summary: Summary) -> dict[str, Table]:
    """Return every number by which each scenario was made: scenario -> fields of its recipe entries."""
    tables: dict[str, Table] = {}
    for entry in summary.manifest["recipe"]["entries"]:
        name = entry["scenario"]
        if name not in summary.scenarios:
            continue
        table = tables.setdefault(name, [["preset", "field", "value", "unit", "meaning"]])
        known = SCENARIOS[name].fields if name in SCENARIOS else {}
        for key, value in entry["values"].items():
            field = known.get(key)
            table.append(
                [
                    f"`{entry['preset']}`",
                    f"`{key}`",
                    value_text(value),
                    field.unit if field else "",
                    field.meaning if field else "",
                ]
            )
    return tables


def value_text(value: Any) -> str:
    """Return a recipe's value as a reader wants it: a range as its two ends."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, int | float) for v in value):
        low, high = value
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def event_table(summary: Summary) -> Table:
    """Return the definitions of the kinds of event that occur, with their counts."""
    table = [["kind", "events", "meaning", "expected if speaking", "expected if silent"]]
    counts: Counter[str] = Counter()
    for of_scenario in summary.events.values():
        counts.update(of_scenario)
    for name, kind in KINDS.items():
        if counts[name]:
            table.append(
                [f"`{name}`", str(counts[name]), kind.meaning, f"`{kind.if_speaking}`", f"`{kind.if_silent}`"]
            )
    return table


def column_table() -> Table:
    """Return the columns, as the schema states them."""
    table = [["column", "type", "unit", "meaning"]]
    return table + [[f"`{c.name}`", type_name(c.type), c.unit, c.meaning] for c in COLUMNS]


def type_name(type_: Type) -> str:
    """Return a column's type as a reader wants it."""
    if isinstance(type_, str):
        return "Audio" if type_ == "audio" else type_
    if isinstance(type_, list):
        return f"list of {type_name(type_[0])}"
    return "{" + ", ".join(f"{key}: {type_name(part)}" for key, part in type_.items()) + "}"


def check_table(summary: Summary) -> Table:
    """Return what was measured on the released audio; "not measured" where nothing was."""
    table = [["measure", "rows", "lowest", "median", "highest"]]
    for name, values in summary.checks.items():
        if name in VALUES:  # the table of quality has these
            continue
        table.append([f"`{name}`", *_spread([value for value in values if value is not None])])
    for preset, errors in summary.level_errors_db.items():
        table.append([f"level error of `{preset}` (dB)", *_spread(errors)])
    for preset, levels in summary.treatments.items():
        table.append([f"level of `{preset}` (dB)", *_spread([measured for _, measured in levels])])
    return table


def _spread(values: list[float]) -> list[str]:
    if not values:
        return ["0", NOT_MEASURED, NOT_MEASURED, NOT_MEASURED]
    return [
        str(len(values)),
        *(f"{round(number, 4) + 0.0:.4f}" for number in (min(values), float(np.median(values)), max(values))),
    ]


def timing_table(summary: Summary) -> Table:
    """Return the fit of the written gaps to the laws they were drawn from; empty where none was drawn."""
    reports = fit_reports(summary.gaps)
    return fit_table(reports) if reports else []


def label_table(summary: Summary) -> Table:
    """Return where the labels that were meant and M3's differ; empty where no row has both."""
    if not summary.labels:
        return []
    table = [["meant", "M3's rule says", "number"]]
    return table + [[meant, said, str(n)] for (meant, said), n in sorted(summary.labels.items())]


def reject_table(summary: Summary) -> Table:
    """Return how many samples were rejected, by the check that refused their last attempt."""
    table = [["reason", "samples"]]
    counts: Counter[str] = Counter()
    for reject in summary.beside.rejects:
        counts.update({_reason(reject["id"], text) for text in reject["attempts"][-1]["reasons"]})
    return table + [[reason, str(n)] for reason, n in counts.most_common()]


def _reason(sample_id: str, text: str) -> str:
    """Return the name of the check in a finding, or the whole text where it is another error."""
    name, found, _ = text.removeprefix(f"{sample_id}: ").partition(" at ")
    return name if found and " " not in name else text.removeprefix(f"{sample_id}: ")


def voice_table(summary: Summary) -> Table:
    """Return the voices with their licences and whom to name."""
    table = [["voice", "engine", "languages", "rows", "licence", "attribution"]]
    for name, voice in sorted(summary.voices.items()):
        table.append(
            [
                f"`{name}`",
                ", ".join(sorted(voice["engines"])),
                ", ".join(sorted(voice["languages"])),
                str(voice["n"]),
                voice["licence"],
                voice["attribution"],
            ]
        )
    return table


def licence_table(summary: Summary) -> Table:
    """Return what each configuration's parts ask for: the loosest licence it could have."""
    table = [["configuration", "parts under", "loosest licence possible"]]
    for config, parts in summary.parts.items():
        verdict = result_of(parts)
        table.append(
            [
                f"`{config}`",
                ", ".join(sorted({part.licence for part in parts})),
                verdict.licence or "none: " + "; ".join(verdict.reasons),
            ]
        )
    return table


def split_table(summary: Summary) -> Table:
    """Return the scripts and speakers of each split, and how many other splits share them.

    A voice that is mixed counts as all speakers that it is mixed of.
    """
    table = [
        [
            "split",
            "scripts",
            "speakers, mixed voices taken apart",
            "scripts also elsewhere",
            "speakers also elsewhere",
        ]
    ]
    for split, scripts in summary.scripts.items():
        others = [name for name in summary.scripts if name != split]
        speakers = summary.speakers.get(split, set())
        shared_scripts = scripts & set().union(*(summary.scripts[o] for o in others))
        shared_speakers = speakers & set().union(*(summary.speakers.get(o, set()) for o in others))
        table.append(
            [
                split,
                str(len(scripts)),
                str(len(speakers)),
                str(len(shared_scripts)),
                str(len(shared_speakers)),
            ]
        )
    return table
