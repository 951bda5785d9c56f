"""What a card says of quality: means and intervals, with what they were measured, which limits held, who listened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..builders.quality import VALUES
from ..builders.quality.table import histogram, quality_lines
from ..builders.quality.voice_gate import VoiceGateErrors
from ..builders.side_files import SideFiles
from .summarize import Summary

_BARS = "▁▂▃▄▅▆▇█"
_N_BINS = 12


def quality_table(summary: Summary) -> list[list[str]]:
    """Return the quality table: a line for each configuration, split and value that was measured.

    Values are those of the `checks` column, and of ``quality/values.jsonl`` where the folder was measured later.
    """
    samples = summary.quality
    names = [name for name in VALUES if any(values.get(name) is not None for _, _, values in samples)]
    table = [
        [
            "configuration",
            "split",
            "value",
            "unit",
            "n",
            "mean",
            "95 % interval",
            "least",
            "spread",
            "largest",
        ]
    ]
    for line in quality_lines(samples, names):
        numbers = [
            value
            for config, split, values in samples
            if (config, split) == (line.config, line.split) and (value := values.get(line.value)) is not None
        ]
        bounds = "" if line.low is None or line.high is None else f"{line.low:.3f} to {line.high:.3f}"
        table.append(
            [
                f"`{line.config}`",
                line.split,
                f"`{line.value}`",
                VALUES[line.value][1].unit,
                str(line.n),
                f"{line.mean:.3f}",
                bounds,
                f"{min(numbers):.3f}",
                bars(numbers),
                f"{max(numbers):.3f}",
            ]
        )
    return table


def bars(numbers: Sequence[float]) -> str:
    """Return a histogram of twelve bars from the least to the largest number; one bar if all are equal.

    Examples
    --------
    >>> bars([0, 0, 0, 0, 11, 11])
    '█          ▄'
    """
    if min(numbers) == max(numbers):
        return _BARS[-1]
    _, counts = histogram(numbers, n_bins=_N_BINS)
    top = max(counts)
    return "".join(" " if n == 0 else _BARS[max(0, round(n / top * len(_BARS)) - 1)] for n in counts)


def quality_notes(summary: Summary) -> list[str]:
    """Return the lines under the table: versions of measures, limits of gates, selection, what was not measured."""
    beside = summary.beside
    facts, later = beside.quality, beside.measures
    notes = []
    measured = {**facts.get("measures", {}), **later}
    if measured:
        notes.append("Measured with:")
        notes += [f"- `{name}`: {m['source']}; version {m['version']}" for name, m in measured.items()]
        notes.append("")
    if facts.get("gates"):
        notes.append("Limits that every sample kept (others were spoken again, then rejected):")
        notes += [
            f"- `{name}`: {'; '.join(limits)}{_unjudged(summary, name)}"
            for name, limits in facts["gates"].items()
        ]
        notes.append("")
        if summary.n_later:
            notes += [
                f"{summary.n_later} of {len(summary.quality)} samples are of a later attempt: an earlier one failed "
                f"a limit, or did not reach what is tried for.",
                "",
            ]
    if beside.voice_gate:
        notes.append(
            "How often the gates on voices are wrong, on all pairs of this dataset's clips of 2 s and more:"
        )
        notes += [f"- {line}" for line in VoiceGateErrors(**beside.voice_gate).lines()]
        notes.append("")
    selection = facts.get("selection")
    if selection:
        by = ", ".join(f"`{name}`" for name in selection["selected_by"]) or "number alone"
        notes.append(
            f"Splits were selected by {by}, so these values favour the selected split; the others show what it "
            f"bought. {len(selection['left_out'])} samples with speakers of two splits were left out."
        )
        notes.append("")
    missing = {n: why for n, why in facts.get("not_measured", {}).items() if n not in later}
    if missing:
        notes.append("Not measured: " + "; ".join(f"`{name}` ({why})" for name, why in missing.items()) + ".")
        notes.append("")
    return notes


def _unjudged(summary: Summary, name: str) -> str:
    """Return in how many samples a gate had nothing to judge, if there are any, and in which languages never."""
    there, missing = (
        [
            config.partition("-")[2]
            for config, _, values in summary.quality
            if (values.get(name) is None) == absent
        ]
        for absent in (False, True)
    )
    if not missing:
        return ""
    never = ", ".join(f"`{language}`" for language in sorted(set(missing) - set(there)))
    return (
        f" (not measured, so not judged, in {len(missing)} of {len(summary.quality)} samples"
        f"{f'; never in {never}' if never else ''})"
    )


def intelligibility_notes(summary: Summary) -> list[str]:
    """Return which languages nobody and nothing has listened to for their words; nothing if there is none."""
    unheard = [
        language
        for language in summary.languages
        if not any(
            config.endswith(f"-{language}") and any(values.get(name) is not None for name in ("wer", "cer"))
            for config, _, values in summary.quality
        )
    ]
    if not unheard:
        return []
    named = ", ".join(f"`{language}`" for language in unheard)
    return [
        f"Intelligibility is unverified in {named}: neither word nor character error rates were measured (for "
        "most languages they need a recogniser that is given).",
        "",
    ]


_SAID_NO = {
    "event": ("is not what its label says", "are not what their label says"),
    "times": ("is not marked where it is heard", "are not marked where they are heard"),
}
"""What somebody says of a sample, or of several, who answers a question "no"."""


def listening_line(beside: SideFiles) -> str:
    """Return how many rated how many samples, what they said, and how many samples failed; or that nobody was asked."""
    facts = beside.listening
    if not facts:
        return "not human-validated."
    parts = []
    for name, question in facts["questions"].items():
        counts = ", ".join(f"{answer} {n}" for answer, n in question["counts"].items()) or "no answers"
        kappa = "not defined" if question["kappa"] is None else f"{question['kappa']:.2f}"
        mean = f", mean {question['mean']:.2f}" if "mean" in question else ""
        parts.append(f"{name}: {counts}{mean}, κ {kappa}")
    parts += [
        _failed(name, question)
        for name, question in facts["questions"].items()
        if name in _SAID_NO and question["counts"] and "no_by_most" in question
    ]
    n_raters, n_items = facts["n_raters"], facts["n_items"]
    return (
        f"rated by {n_raters} {'person' if n_raters == 1 else 'people'}, {n_items} "
        f"sample{'s' * (n_items != 1)}: {'; '.join(parts)}."
    )


def _failed(name: str, question: Mapping[str, Any]) -> str:
    """Return how many samples failed by most of those who answered a question, and by half of them."""
    n, n_half = len(question["no_by_most"]), len(question.get("no_by_half", ()))
    half = f", {n_half} more by half of them" if n_half else ""
    return (
        f"{n} sample{'s' * (n != 1)} {_SAID_NO[name][n != 1]} by most raters{half} (listening.json, "
        f"{name}.no_by_most)"
    )
