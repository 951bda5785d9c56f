"""The commands about text: lint, write, import, rewrite, translate, accept."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from .. import ScriptError
from ..scenarios import SCENARIOS
from ..scenarios.bank import SHIPPED
from ..scenarios.fields import unknown

if TYPE_CHECKING:
    from ..scenarios.conversation import Script
    from ..scenarios.lint import LintReport
    from .writers.drafts import Draft
    from .writers.endpoint import Endpoint
    from .writers.session import Session
    from .writers.spending import Budget, Spending

scripts = typer.Typer(help="Check, import, translate and accept scripts.", no_args_is_help=True)

_Model = Annotated[str, typer.Option("--model", help="The model's name at the endpoint.")]
_BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="An OpenAI-compatible endpoint, up to /v1; default: OpenAI's own."),
]
_KeyEnv = Annotated[
    str, typer.Option("--key-env", help="Environment variable with the API key; the key goes nowhere else.")
]
_Workers = Annotated[int, typer.Option("--workers", min=1, help="Questions under way at once.")]
_Timeout = Annotated[float, typer.Option("--timeout-s", min=1.0, help="Seconds to wait for an answer.")]
_Temperature = Annotated[float, typer.Option("--temperature", min=0.0, max=2.0)]
_Usd = Annotated[
    float | None, typer.Option("--budget", min=0.0, help="US dollars this job may cost, all runs together.")
]
_PriceIn = Annotated[
    float | None, typer.Option("--price-in", min=0.0, help="US dollars, a million prompt tokens.")
]
_PriceOut = Annotated[
    float | None, typer.Option("--price-out", min=0.0, help="US dollars, a million answer tokens.")
]
_MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Tokens this job may use, all runs together.")
]
_Prompt = Annotated[
    Path | None, typer.Option("--prompt", help="Your own instructions instead of the shipped ones.")
]
_Out = Annotated[Path, typer.Option("--out", help="A folder in the bank's layout.")]
_Source = Annotated[str, typer.Option("--source", help="Who wrote it; stands in every line.")]
_Licence = Annotated[str, typer.Option("--licence", help="SPDX id; stands in every line.")]
_Domains = Annotated[
    str, typer.Option("--domains", help="Topics of your own, separated by commas, beside the known ones.")
]


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
    domains: _Domains = "",
    model: Annotated[
        str, typer.Option("--model", help="Also measure this model's answers to contexts.")
    ] = "",
    base_url: _BaseUrl = None,
    key_env: _KeyEnv = "OPENAI_API_KEY",
    sample: Annotated[int, typer.Option("--sample", min=1, help="Contexts to ask the model.")] = 20,
    answers: Annotated[Path, typer.Option("--answers", help="Where the model's answers are kept.")] = Path(
        "lint-answers.jsonl"
    ),
) -> None:
    """Check scripts: form, speech, lengths, duplicates, quotas; exit 1 if anything is wrong."""
    from ..scenarios.lint import lint_scripts
    from .seeds import rng_for
    from .writers.answer_length import sample_answers, short_answers
    from .writers.pronounce import pronounce
    from .writers.spending import Budget

    began = time.monotonic()
    found = list(_read(files or [SHIPPED], scenario, language))
    report = lint_scripts(found, pronounce, _topics(domains))
    _show(found, report)
    errors = report.n_errors
    if model:
        endpoint = _endpoint(model, base_url, key_env=key_env)
        with _session(endpoint, answers, Budget(), n_workers=4) as session:
            sampled = sample_answers(found, session, n=sample, rng=rng_for(0, "lint", "contexts"))
        for finding in short_answers(sampled):
            typer.echo(str(finding))
            errors += 1
        lengths_s = sorted(one.length_s for one in sampled)
        if lengths_s:
            typer.echo(
                f"{model}: {len(lengths_s)} answers, {lengths_s[0]:.0f} to {lengths_s[-1]:.0f} s, "
                f"median {lengths_s[len(lengths_s) // 2]:.0f} s"
            )
    typer.echo(
        f"{report.n_scripts} scripts, {errors} errors, {len(report.findings) - report.n_errors} warnings; "
        f"{time.monotonic() - began:.1f} s"
    )
    if errors:
        raise typer.Exit(1)


def write(
    scenario: Annotated[str, typer.Argument(help="A scenario's name.")],
    language: Annotated[str, typer.Option("--language", help="BCP-47.")],
    count: Annotated[int, typer.Option("--count", min=1, help="Scripts the file is to hold in the end.")],
    model: _Model,
    base_url: _BaseUrl = None,
    out: _Out = Path("my-scripts"),
    about: Annotated[str, typer.Option("--about", help="What the scripts should be about, in words.")] = "",
    domains: _Domains = "",
    licence: _Licence = "CC-BY-4.0",
    seed: Annotated[int, typer.Option("--seed")] = 0,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Scripts asked for in one question.")] = 5,
    against: Annotated[
        Path, typer.Option("--against", help="A bank that new scripts must not be like.")
    ] = SHIPPED,
    prompt: _Prompt = None,
    workers: _Workers = 4,
    timeout_s: _Timeout = 120.0,
    temperature: _Temperature = 1.0,
    budget: _Usd = None,
    price_in: _PriceIn = None,
    price_out: _PriceOut = None,
    max_tokens: _MaxTokens = None,
    key_env: _KeyEnv = "OPENAI_API_KEY",
) -> None:
    """Write scripts with a model until the file holds COUNT of them; the same command goes on after a stop."""
    from .progress import Steps
    from .writers.fill_file import fill_file
    from .writers.prompts import load_prompt
    from .writers.write_scripts import Job

    _known_scenario(scenario)
    job = Job(
        scenario=scenario,
        language=language,
        count=count,
        prompt=load_prompt(scenario, language, prompt),
        licence=licence,
        domains=_only_topics(domains),
        about=about,
        seed=seed,
        n_per_question=batch,
    )
    endpoint = _endpoint(model, base_url, key_env=key_env, timeout_s=timeout_s, temperature=temperature)
    limits = _budget(budget, price_in, price_out, max_tokens)
    with Steps(f"writing {scenario} ({language})") as steps:
        filled = fill_file(
            job,
            endpoint,
            out=out,
            budget=limits,
            n_workers=workers,
            against=(against,),
            tell=typer.echo,
            progress=steps.advance,
        )
    _show_spending(filled.spending, limits)
    reasons = ", ".join(f"{reason} {n}" for reason, n in filled.written.reasons.most_common())
    typer.echo(
        f"{filled.path}: {filled.n_there} there, {len(filled.written.scripts)} written, "
        f"{filled.written.n_missing} missing; not taken: {reasons or 'none'}"
    )
    for finding in filled.report.findings:
        typer.echo(str(finding))
    if filled.written.stopped:
        typer.echo(filled.written.stopped)
    if filled.written.n_missing or filled.report.n_errors:
        raise typer.Exit(1)


@scripts.command("import")
def import_(
    source_file: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A .csv, .tsv, .jsonl or .json file, or hf:NAME[:CONFIG].")
    ],
    scenario: Annotated[str, typer.Option("--scenario")],
    language: Annotated[str, typer.Option("--language", help="BCP-47.")],
    source: _Source,
    licence: _Licence,
    out: _Out = Path("my-scripts"),
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="FIELD=COLUMN, for example context=prompt; repeat for each."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="FIELD=VALUE for what no column holds, for example register=polite."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Of a dataset.")] = "train",
    domains: _Domains = "",
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Also import scripts that the linter refuses.")
    ] = False,
) -> None:
    """Import rows that you have as scripts; those that the linter refuses are listed and left out."""
    from ..scenarios.lint import check_script
    from .writers.import_scripts import Rules, read_rows, scripts_of
    from .writers.pronounce import pronounce
    from .writers.script_lines import numbered, read_file, write_file

    _known_scenario(scenario)
    rules = Rules(
        scenario=scenario,
        language=language,
        columns=_pairs(map_, "--map"),
        fixed={"source": source, "licence": licence, **_pairs(set_, "--set")},
    )
    found = scripts_of(read_rows(source_file, split), rules, source_file)
    kept = []
    for number, script in enumerate(found, 1):
        errors = [f for f in check_script(script, pronounce, _topics(domains)) if f.severity == "error"]
        for finding in errors:
            typer.echo(f"row {number}: {finding.message} ({finding.rule})")
        if not errors or keep_all:
            kept.append(script)
    path = out / language / f"{scenario}.jsonl"
    there = read_file(path, scenario, language)
    if kept:
        write_file(path, (*there, *numbered(kept, there, scenario)))
    typer.echo(f"{path}: {len(there)} there, {len(kept)} of {len(found)} rows imported")
    if len(kept) < len(found):
        raise typer.Exit(1)


@scripts.command()
def rewrite(
    dialogues: Annotated[Path, typer.Argument(help="TopiOCQA's file, or dialogues as JSON lines.")],
    model: _Model,
    source: _Source,
    licence: _Licence,
    out: Annotated[Path, typer.Option("--out", help="Drafts: OUT.jsonl, OUT.tsv and OUT.html.")],
    base_url: _BaseUrl = None,
    pairs: Annotated[int, typer.Option("--pairs", min=8, max=14, help="Pairs of a dialogue, at most.")] = 14,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Dialogues, at most.")] = None,
    prompt: _Prompt = None,
    workers: _Workers = 4,
    timeout_s: _Timeout = 120.0,
    budget: _Usd = None,
    price_in: _PriceIn = None,
    price_out: _PriceOut = None,
    max_tokens: _MaxTokens = None,
    key_env: _KeyEnv = "OPENAI_API_KEY",
) -> None:
    """Rewrite written question-answer dialogues as spoken English, for review."""
    from .writers.dialogues import read_dialogues
    from .writers.prompts import load_prompt
    from .writers.rewrite import rewrite as run

    limits = _budget(budget, price_in, price_out, max_tokens)
    endpoint = _endpoint(model, base_url, key_env=key_env, timeout_s=timeout_s)
    found = read_dialogues(dialogues)[:limit]
    with _session(endpoint, _answers(out), limits, n_workers=workers) as session:
        drafts = run(
            found,
            session,
            prompt=load_prompt("spoken", "en", prompt),
            source=source,
            licence=licence,
            max_pairs=pairs,
        )
        _show_spending(session.spending, limits)
    _write_drafts(out, drafts, f"{dialogues.name}: written to spoken English")


@scripts.command()
def translate(
    file: Annotated[Path, typer.Argument(help="Dialogues in the bank's format, EN/mt_qa.jsonl.")],
    model: _Model,
    out: Annotated[Path, typer.Option("--out", help="Drafts: OUT.jsonl, OUT.tsv and OUT.html.")],
    to: Annotated[str, typer.Option("--to", help="Language of the translation.")] = "ja",
    from_: Annotated[str, typer.Option("--from", help="Language of the file.")] = "en",
    base_url: _BaseUrl = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Dialogues, at most.")] = None,
    prompt: _Prompt = None,
    workers: _Workers = 4,
    timeout_s: _Timeout = 120.0,
    budget: _Usd = None,
    price_in: _PriceIn = None,
    price_out: _PriceOut = None,
    max_tokens: _MaxTokens = None,
    key_env: _KeyEnv = "OPENAI_API_KEY",
) -> None:
    """Translate spoken dialogues, turn by turn under the same ids, for review."""
    from .writers.prompts import load_prompt
    from .writers.script_lines import read_file
    from .writers.translate import translate as run

    found = read_file(file, "mt_qa", from_)[:limit]
    if not found:
        raise ScriptError(f"{file}: no dialogues there; wanted a file in the bank's format")
    limits = _budget(budget, price_in, price_out, max_tokens)
    endpoint = _endpoint(model, base_url, key_env=key_env, timeout_s=timeout_s)
    with _session(endpoint, _answers(out), limits, n_workers=workers) as session:
        drafts = run(found, session, prompt=load_prompt("translate", to, prompt), language=to)
        _show_spending(session.spending, limits)
    _write_drafts(out, drafts, f"{file.name}: {from_} to {to}")


@scripts.command()
def accept(
    drafts: Annotated[Path, typer.Argument(help="The drafts, .jsonl.")],
    review: Annotated[Path, typer.Argument(help="The reviewed table, .tsv.")],
    language: Annotated[str, typer.Option("--language", help="Of the drafts.")],
    out: _Out = Path("my-scripts"),
) -> None:
    """Take reviewed dialogues into a bank: lines marked accept, with the reviewer's corrections."""
    from ..scenarios.lint import check_script
    from .writers.pronounce import pronounce
    from .writers.review import read_review, reviewed
    from .writers.script_lines import merged, read_file, write_file

    result = reviewed(read_file(drafts, "mt_qa", language), read_review(review))
    errors = 0
    for script in result.scripts:
        for finding in check_script(script, pronounce):
            typer.echo(str(finding))
            errors += finding.severity == "error"
    for said, dialogues in (("left out", result.left_out), ("shortened", result.shortened)):
        for dialogue, reason in dialogues.items():
            typer.echo(f"{said} {dialogue}: {reason}")
    if errors:
        typer.echo(f"{errors} errors: nothing was written; mend the texts in {review}")
        raise typer.Exit(1)
    path = out / language / "mt_qa.jsonl"
    there = read_file(path, "mt_qa", language)
    if result.scripts:
        write_file(path, merged(result.scripts, there, "mt_qa"))
    typer.echo(f"{path}: {len(there)} there, {len(result.scripts)} accepted")


def _known_scenario(scenario: str) -> None:
    if scenario not in SCENARIOS:
        raise ScriptError(unknown("scenario", scenario, tuple(SCENARIOS)))


def _topics(domains: str) -> tuple[str, ...]:
    """Return the known topics and the user's own."""
    from ..scenarios.lint import DOMAINS

    return (*DOMAINS, *_split(domains))


def _only_topics(domains: str) -> tuple[str, ...]:
    """Return the user's topics, or the known ones where there are none."""
    from ..scenarios.lint import DOMAINS

    return _split(domains) or DOMAINS


def _split(domains: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in domains.split(",") if name.strip())


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
                yield from read_file(file, file.stem, file.parent.name)
            continue
        if not path.is_file():
            raise ScriptError(f"{path}: no such file or folder; wanted LANGUAGE/SCENARIO.jsonl")
        name = scenario or path.stem
        _known_scenario(name)
        yield from read_file(path, name, language or path.parent.name)


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
    console = Console()
    (console if console.is_terminal else Console(width=120)).print(table)


def _endpoint(
    model: str, base_url: str | None, *, key_env: str, timeout_s: float = 120.0, temperature: float = 1.0
) -> Endpoint:
    from .writers.endpoint import OPENAI_URL, Endpoint

    return Endpoint(
        model=model,
        base_url=base_url or OPENAI_URL,
        key_env=key_env,
        timeout_s=timeout_s,
        temperature=temperature,
    )


def _budget(
    usd: float | None, price_in: float | None, price_out: float | None, max_tokens: int | None
) -> Budget:
    from .writers.spending import Budget

    return Budget(
        max_usd=usd,
        max_tokens=max_tokens,
        usd_per_prompt_mtoken=price_in,
        usd_per_answer_mtoken=price_out,
    )


@contextmanager
def _session(endpoint: Endpoint, answers: Path, budget: Budget, *, n_workers: int) -> Iterator[Session]:
    from .writers.answer_store import AnswerStore
    from .writers.session import Session

    with (
        AnswerStore(answers) as store,
        Session(endpoint, store, budget=budget, n_workers=n_workers, tell=typer.echo) as session,
    ):
        yield session


def _answers(out: Path) -> Path:
    return out.with_name(f"{out.name}.answers.jsonl")


def _show_spending(spending: Spending, budget: Budget) -> None:
    usd = spending.usd(budget)
    cost = "" if usd is None else f", {usd:.4f} US dollars"
    estimated = ", partly estimated" if spending.is_estimated else ""
    typer.echo(
        f"{spending.n_asked} answers asked, {spending.n_kept} kept from before; {spending.n_prompt_tokens} prompt "
        f"and {spending.n_answer_tokens} answer tokens{estimated}{cost}"
    )


def _write_drafts(out: Path, drafts: tuple[Draft, ...], title: str) -> None:
    from .writers.review import review_page, review_table
    from .writers.script_lines import write_file

    write_file(out.with_name(f"{out.name}.jsonl"), [draft.script for draft in drafts])
    out.with_name(f"{out.name}.tsv").write_text(review_table(drafts), encoding="utf-8")
    out.with_name(f"{out.name}.html").write_text(review_page(drafts, title), encoding="utf-8")
    n_lines = sum(len(draft.lines) for draft in drafts)
    n_found = sum(bool(line.findings) for draft in drafts for line in draft.lines)
    typer.echo(
        f"{len(drafts)} dialogues, {n_lines} lines, {n_found} with findings; review {out.name}.tsv or {out.name}.html, "
        f"then: duplexkit scripts accept {out.name}.jsonl {out.name}.tsv"
    )
