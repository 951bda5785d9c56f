"""Commands about quality: splits chosen anew, and pages on which people listen and rate."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from .. import InputError, RecipeError
from .inputs import file_there, files_there, folder_there
from .printed_table import print_tables

if TYPE_CHECKING:
    from .quality.measure import Measure, Tools
    from .quality.measure_folder import MeasuredSample


def add_commands(app: typer.Typer) -> None:
    """Add the commands ``select`` and ``listen``."""
    app.command()(select)
    app.command()(listen)


def measure(
    folder: Path,
    names: list[str],
    *,
    cache_dir: Path,
    out: Path | None = None,
    language: str = "",
    recogniser: str = "",
    comet: str = "",
    workers: int = os.cpu_count() or 1,
    worst: int = 50,
    as_heard: bool = False,
) -> int:
    """Measure a folder and print the table of means: what ``check FOLDER --measure`` does.

    Of a built folder the default gates are applied too; returns how many findings there are. Without its stems
    utterances can be measured `as_heard` only, with room and treatment, and without gates.

    ``values.jsonl``, ``measures.json`` and a page of the worst for each value with a better end go to `out`,
    by default ``FOLDER/quality``; of a built folder, what other measures left there before stays.
    """
    from .built import MANIFEST
    from .progress import Steps
    from .quality import measures_named, require
    from .quality.clip_source import items_of
    from .quality.measure import Tools
    from .quality.measure_folder import measure_folder, write_values
    from .quality.sample_values import usable
    from .quality.worst_page import write_worst
    from .side_files import read_measures, read_value_lines

    models = {"comet": comet} if comet else {}
    tools = Tools(cache_dir=cache_dir, recogniser=recogniser, **models)
    asked = measures_named(names, "--measure")
    require(asked, "--measure")
    measures, reasons = usable(asked, tools)
    heard = any(clip.lost_stem for item in items_of(folder, language) for clip in item.clips)
    heard = heard and any(one.scope in ("utterance", "sample") for one in measures)
    if heard and (not as_heard or out is None):
        raise InputError(
            f"{folder}: its stems are not there (a release leaves them out), and those in its tracks have room "
            f"and treatment: what the build measured stands in the column checks; --as-heard with --out FOLDER "
            f"measures them as they are heard, without limits"
        )
    if as_heard and not heard:
        raise InputError(
            f"{folder}: --as-heard is for built folders without their stems, and for measures of utterances; here it "
            f"would change nothing: leave it out"
        )
    target = out or folder / "quality"
    _refuse_target(target, folder)
    is_own = target.resolve() == (folder / "quality").resolve()
    stays = is_own and (folder / MANIFEST).exists()  # of the same samples
    earlier, earlier_measures = (read_value_lines(folder), read_measures(folder)) if stays else ({}, {})
    with Steps(f"measuring {folder}") as steps:
        samples = measure_folder(
            folder, measures, tools, workers=workers, language=language, progress=steps.advance
        )
    write_values(samples, measures, tools, target, earlier=earlier, earlier_measures=earlier_measures)
    pages = []
    if worst:
        items = items_of(folder, language)
        for one in measures:
            for value in one.values:
                if value.better and any(s.values.get(value.name) is not None for s in samples):
                    pages.append(
                        write_worst(items, samples, value.name, target / f"worst-{value.name}.html", n=worst)
                    )
    names_of_values = [value.name for one in measures for value in one.values]
    print_tables(_table(samples, names_of_values))
    for line in _unmeasured(samples, measures, tools):
        typer.echo(line)
    if any(one.name == "similarity" for one in measures) and not heard:
        _say_voice_gate(folder, language, tools, target)
    for name, reason in reasons.items():
        typer.echo(f"not measured: {name}: {reason}")
    n_new = sum(sample.n_new for sample in samples)
    typer.echo(
        f"{len(samples)} samples, {n_new} new measurements, the rest kept from before; {target} written"
    )
    if heard:
        typer.echo(
            "measured as heard, with room and treatment: the limits are for dry speech and were not asked"
        )
    return _judged(samples, measures) if (folder / MANIFEST).exists() and not heard else 0


def _unmeasured(
    samples: Sequence[MeasuredSample], measures: Sequence[Measure], tools: Tools
) -> Iterator[str]:
    """Yield which values no sample of a language has, and why."""
    for language in dict.fromkeys(sample.language for sample in samples):
        there = [sample for sample in samples if sample.language == language]
        for value in (value for one in measures for value in one.values):
            if any(sample.values.get(value.name) is not None for sample in there):
                continue
            why = (
                "no clip is of the kind, or as long, as it looks at, or none has a text (docs/quality.md)"
                if value.is_available(language, tools)
                else "the recogniser does not know the language, or the value is not for it (docs/quality.md)"
            )
            yield f"not measured in {language}: {value.name}: {why}"


def _refuse_target(target: Path, folder: Path) -> None:
    """Refuse to write what was measured where it cannot go, or over what was measured on another dataset."""
    from .built import MANIFEST

    for place in (target, *target.parents):
        if place.exists() and not place.is_dir():
            raise RecipeError(f"--out {target}: {place} is no folder; name a folder for the values")
    own = (folder / "quality").resolve()
    if target.resolve() != own and target.name == "quality" and (target.parent / MANIFEST).exists():
        raise RecipeError(
            f"--out {target}: what was measured on the dataset {target.parent} is there; name another folder"
        )


def _judged(samples: Sequence[MeasuredSample], measures: Sequence[Measure]) -> int:
    """Print what the default gates of these measures find in a built folder; return how much it is."""
    from ..scenarios.recipe import Checks
    from .gates import gates_of, judge

    languages = sorted({sample.language for sample in samples})
    gates = gates_of(Checks(measures=tuple(one.name for one in measures)), languages, "default gates")
    n = 0
    for sample in samples:
        for finding in judge(sample, sample.language, gates, sample.id).findings:
            typer.echo(str(finding))
            n += 1
    typer.echo(f"{n} findings")
    return n


def _say_voice_gate(folder: Path, language: str, tools: Tools, out: Path) -> None:
    """Print how often the default gates on voices are wrong on this folder's speakers, and keep it."""
    from .gates import DEFAULT_GATES
    from .quality.clip_source import items_of
    from .quality.voice_gate import voice_gate_errors

    limits = {gate.value: gate for gate in DEFAULT_GATES}
    errors = voice_gate_errors(
        items_of(folder, language),
        tools,
        same_at_least=limits["same_voice"].at_least or 0.0,
        other_at_most=limits["other_voice"].at_most or 1.0,
    )
    for line in errors.lines():
        typer.echo(line)
    (out / "voice-gate.json").write_text(json.dumps(asdict(errors), indent=1) + "\n", encoding="utf-8")


def _table(samples: tuple[MeasuredSample, ...], names: list[str]) -> Table:
    from .quality.table import quality_lines

    table = Table("configuration", "split", "value", title="As measured: mean [95 % interval]")
    table.add_column("n", justify="right")
    table.add_column("mean", justify="right")
    for line in quality_lines(((s.config, s.split, s.values) for s in samples), names):
        bounds = "" if line.low is None or line.high is None else f" [{line.low:.3f}, {line.high:.3f}]"
        table.add_row(line.config, line.split, line.value, str(line.n), f"{line.mean:.3f}{bounds}")
    return table


def select(
    folder: Annotated[Path, typer.Argument(help="A built folder.", callback=folder_there)],
    splits: Annotated[
        Path, typer.Option("--splits", help="A TOML file with a table \\[splits].", callback=file_there)
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; it must not exist.")],
) -> None:
    """Write a built folder anew with other splits: by measure, number or share, scripts and speakers apart."""
    from ..cards.describe import describe
    from .reselect import load_wanted_splits, reselect
    from .side_files import LISTENING

    facts = reselect(folder, load_wanted_splits(splits), out, describe=describe)
    table = Table("split", "samples", "hours", "speakers", "value", "mean", title=f"Splits of {out}")
    for split, there in facts["splits"].items():
        first = [split, str(there["samples"]), f"{there['hours']:.3f}", str(len(there["speakers"]))]
        for name, mean in (there["means"] or {"nothing measured": float("nan")}).items():
            mark = " (selected by)" if name in facts["selected_by"] else ""
            table.add_row(*first, f"{name}{mark}", f"{mean:.3f}")
            first = ["", "", "", ""]
    print_tables(table)
    if (folder / LISTENING).is_file():
        typer.echo(f"{LISTENING} stays behind: the ratings are of all samples of {folder}")
    if facts["left_out"]:
        typer.echo(f"{len(facts['left_out'])} samples have speakers of two splits and were left out")


def listen(
    folder: Annotated[Path, typer.Argument(help="A built folder.", callback=folder_there)],
    sample: Annotated[int, typer.Option("--sample", min=1, help="How many samples to rate.")] = 40,
    out: Annotated[
        Path | None, typer.Option("--out", help="The page to write; default FOLDER/listen.html.")
    ] = None,
    answers: Annotated[
        list[Path] | None,
        typer.Option("--answers", help="Answers that came back (JSON): take them in.", callback=files_there),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Which samples are drawn.")] = 1,
) -> None:
    """Write a page on which people rate samples; or, with --answers, put their ratings into the folder."""
    from ..cards.describe import describe, refuse_damaged
    from .listen.answers import take_in
    from .listen.page import write_page
    from .side_files import LISTENING

    if not answers:
        wanted_page = out or folder / "listen.html"
        if wanted_page.suffix != ".html":
            raise RecipeError(f"--out {wanted_page}: wanted a page's name that ends in .html")
        page = write_page(folder, wanted_page, n=sample, seed=seed)
        typer.echo(f"{page} written: send it to listeners, and give what they save to --answers")
        return
    refuse_damaged(folder, but=LISTENING)
    facts = take_in(folder, answers)
    describe(folder)
    typer.echo(f"{facts['n_raters']} raters, {facts['n_items']} samples")
    for name, question in facts["questions"].items():
        kappa = "not defined" if question["kappa"] is None else f"{question['kappa']:.2f}"
        shares = ", ".join(f"{answer}: {n}" for answer, n in question["counts"].items())
        typer.echo(f"{name}: {shares}; Fleiss' kappa {kappa}")
        for key, whose in (("no_by_most", "most"), ("no_by_half", "half")):
            for id_ in question.get(key, ()):
                typer.echo(f'  "no" by {whose} of those who answered: {id_}')


def measures_table() -> tuple[Table, Table]:
    """Return the measures with sources, costs and whether they can run here, and the values that they give."""
    from .quality import MEASURES

    measures = Table("measure", "of", "values", "cost", "source", "here", title="Measures")
    values = Table("value", "measure", "unit", "meaning", title="Values")
    for one in MEASURES.values():
        measures.add_row(
            one.name,
            one.scope,
            ", ".join(value.name for value in one.values),
            f"{one.cost:g} s/s",
            escape(one.source),
            escape(one.missing()) or "yes",
        )
        for value in one.values:
            values.add_row(value.name, one.name, value.unit, escape(value.meaning))
    return measures, values
