"""The commands about text: lint and import here, write and dialogues beside."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from .. import ScriptError
from ..scenarios import SCENARIOS
from ..scenarios.bank import SHIPPED
from ..scenarios.names import read_language
from .commands_dialogues import accept, rewrite, translate
from .commands_write import write
from .printed_table import print_tables
from .text_options import (
    BaseUrl,
    Domains,
    KeyEnv,
    Licence,
    Out,
    Source,
    endpoint_of,
    known_scenario,
    session_of,
    topics_with,
)

if TYPE_CHECKING:
    from ..scenarios.conversation import Script
    from ..scenarios.lint import LintReport

scripts = typer.Typer(help="Check, import, translate and accept scripts.", no_args_is_help=True)
for command in (rewrite, translate, accept):
    scripts.command()(command)


def add_commands(app: typer.Typer) -> None:
    """Add ``scripts …`` and ``write`` to an app."""
    app.add_typer(scripts, name="scripts")
    app.command()(write)


@scripts.command()
def lint(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Script files LANGUAGE/SCENARIO.jsonl, or folders of them; default: the shipped bank."
        ),
    ] = None,
    scenario: Annotated[str, typer.Option("--scenario", help="Of files whose name does not say it.")] = "",
    language: Annotated[str, typer.Option("--language", help="Of files whose folder does not say it.")] = "",
    domains: Domains = "",
    model: Annotated[
        str, typer.Option("--model", help="Also measure this model's answers to contexts.")
    ] = "",
    base_url: BaseUrl = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    sample: Annotated[int, typer.Option("--sample", min=1, help="Contexts to ask the model.")] = 20,
    answers: Annotated[Path, typer.Option("--answers", help="Where the model's answers are kept.")] = Path(
        "lint-answers.jsonl"
    ),
) -> None:
    """Check scripts: form, speech, lengths, duplicates, quotas; exit 1 if anything is wrong.

    Of a language without rules the form is checked, and whether a text comes twice.
    """
    from ..scenarios.lint import lint_scripts
    from .seeds import rng_for
    from .writers.answer_length import sample_answers, short_answers
    from .writers.pronounce import pronounce
    from .writers.spending import Budget

    began = time.monotonic()
    found = list(_read(files or [SHIPPED], scenario, language))
    if not found:
        raise ScriptError(f"{', '.join(map(str, files or ()))}: no script in it; wanted one a line")
    report = lint_scripts(found, pronounce, topics_with(domains))
    _show(found, report)
    errors = report.n_errors
    if model:
        endpoint = endpoint_of(model, base_url, key_env=key_env)
        with session_of(endpoint, answers, Budget(), n_workers=4) as session:
            measured = [script for script in found if script.language not in report.form_only]
            sampled = sample_answers(measured, session, n=sample, rng=rng_for(0, "lint", "contexts"))
        for finding in short_answers(sampled):
            typer.echo(str(finding))
            errors += 1
        lengths_s = sorted(one.length_s for one in sampled)
        if lengths_s:
            typer.echo(
                f"{model}: {len(lengths_s)} answers, {lengths_s[0]:.0f} to {lengths_s[-1]:.0f} s, "
                f"median {lengths_s[len(lengths_s) // 2]:.0f} s"
            )
    for one in report.form_only:
        _say_form_only(one)
    typer.echo(
        f"{report.n_scripts} scripts, {errors} errors, {len(report.findings) - report.n_errors} warnings; "
        f"{time.monotonic() - began:.1f} s"
    )
    if errors:
        raise typer.Exit(1)


@scripts.command("import")
def import_(
    source_file: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A .csv, .tsv, .jsonl or .json file, or hf:NAME[:CONFIG].")
    ],
    scenario: Annotated[str, typer.Option("--scenario")],
    language: Annotated[str, typer.Option("--language", help="BCP-47.")],
    source: Source,
    licence: Licence,
    out: Out = Path("my-scripts"),
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="FIELD=COLUMN, for example context=prompt; repeat for each."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="FIELD=VALUE for what no column holds, for example register=polite."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Of a dataset.")] = "train",
    domains: Domains = "",
    keep_all: Annotated[
        bool,
        typer.Option(
            "--keep-all", help="Also import what the linter refuses, as long as its scenario can take it."
        ),
    ] = False,
) -> None:
    """Import rows that you have as scripts; those that the linter refuses are listed and left out."""
    from ..scenarios.lint import check_script
    from ..scenarios.lint.language_rules import has_rules
    from .writers.import_scripts import Rules, read_rows, scripts_of
    from .writers.pronounce import pronounce
    from .writers.script_lines import numbered, read_file, refuse_unreadable, write_file

    known_scenario(scenario)
    read_language(language, "--language")
    rules = Rules(
        scenario=scenario,
        language=language,
        columns=_pairs(map_, "--map"),
        fixed={"source": source, "licence": licence, **_pairs(set_, "--set")},
    )
    found = scripts_of(read_rows(source_file, split), rules, source_file)
    if not found:
        raise ScriptError(f"{source_file}: no rows; wanted one for each script")
    kept = []
    for number, script in enumerate(found, 1):
        errors = [f for f in check_script(script, pronounce, topics_with(domains)) if f.severity == "error"]
        for finding in errors:
            typer.echo(f"row {number}: {finding.message} ({finding.rule})")
        if errors and not keep_all:
            continue
        try:
            refuse_unreadable(script, f"row {number}")
        except ScriptError as error:
            typer.echo(f"{error} (left out)")
        else:
            kept.append(script)
    path = out / language / f"{scenario}.jsonl"
    there = read_file(path, scenario, language)
    if kept:
        write_file(path, (*there, *numbered(kept, there, scenario)))
    if not has_rules(language):
        _say_form_only(language)
    typer.echo(f"{path}: {len(there)} there, {len(kept)} of {len(found)} rows imported")
    if len(kept) < len(found):
        raise typer.Exit(1)


def _say_form_only(language: str) -> None:
    """Say what was not looked at in scripts of a language without rules."""
    typer.echo(
        f"{language}: only the form was checked (turns, keys, marks, texts that come twice), because there are no "
        f"rules for {language!r}: whether the words serve their scenario is for a reader to say (docs/languages.md)"
    )


def _pairs(options: Iterable[str] | None, flag: str) -> dict[str, str]:
    pairs = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise ScriptError(f"{flag} {option}: wanted FIELD=VALUE")
        pairs[key.strip()] = value.strip()
    return pairs


def _read(paths: Iterable[Path], scenario: str, language: str) -> Iterator[Script]:
    """Yield the scripts of files and folders; a file's folder and name say language and scenario."""
    from .writers.script_lines import read_file

    for path in paths:
        if path.is_dir():
            files = sorted(file for file in path.glob("*/*.jsonl") if file.stem in SCENARIOS)
            if not files:
                raise ScriptError(f"{path}: no script files there; wanted LANGUAGE/SCENARIO.jsonl in it")
            for file in files:
                yield from read_file(file, file.stem, file.parent.name, as_drafts=True)
            continue
        if not path.is_file():
            raise ScriptError(f"{path}: no such file or folder; wanted LANGUAGE/SCENARIO.jsonl")
        name = scenario or path.stem
        known_scenario(name)
        yield from read_file(path, name, language or path.parent.name, as_drafts=True)


def _show(found: list[Script], report: LintReport) -> None:
    """Print the findings, and the counts and quotas as one table."""
    for finding in report.findings:
        typer.echo(str(finding))
    counts = Counter((script.language, script.scenario) for script in found)
    table = Table(title="scripts")
    for column in ("language", "scenario", "what", "value", "wanted", ""):
        table.add_column(column, justify="right" if column == "value" else "left")
    for (language, scenario), n in sorted(counts.items()):
        table.add_section()
        table.add_row(language, scenario, "scripts", str(n), "counted", "")
        for quota in report.quotas:
            if (quota.language, quota.scenario) == (language, scenario):
                mark = "" if quota.holds else "wrong"
                table.add_row(language, scenario, quota.name, quota.shown, quota.wanted, mark)
    print_tables(table)
