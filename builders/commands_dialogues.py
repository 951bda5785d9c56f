"""The commands that bring dialogues into the bank: rewrite, translate, accept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import ScriptError
from ..scenarios.names import read_language
from ..whole_file import put_text
from .inputs import file_there
from .text_options import (
    BaseUrl,
    KeyEnv,
    Licence,
    MaxTokens,
    Model,
    Out,
    PriceIn,
    PriceOut,
    PromptFile,
    Source,
    Timeout,
    Usd,
    Workers,
    budget_of,
    endpoint_of,
    say_spending,
    session_of,
)

if TYPE_CHECKING:
    from .writers.drafts import Draft


def rewrite(
    dialogues: Annotated[
        Path, typer.Argument(help="TopiOCQA's file, or dialogues as JSON lines.", callback=file_there)
    ],
    model: Model,
    source: Source,
    licence: Licence,
    out: Annotated[Path, typer.Option("--out", help="Drafts: OUT.jsonl, OUT.tsv and OUT.html.")],
    base_url: BaseUrl = None,
    pairs: Annotated[int, typer.Option("--pairs", min=8, max=14, help="Pairs of a dialogue, at most.")] = 14,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Dialogues, at most.")] = None,
    prompt: PromptFile = None,
    workers: Workers = 4,
    timeout_s: Timeout = 120.0,
    budget: Usd = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_tokens: MaxTokens = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
) -> None:
    """Rewrite written question-answer dialogues as spoken English, for review."""
    from .writers.dialogues import read_dialogues
    from .writers.prompts import load_prompt
    from .writers.rewrite import rewrite as run

    _refuse_nameless(out)
    limits = budget_of(budget, price_in, price_out, max_tokens)
    endpoint = endpoint_of(model, base_url, key_env=key_env, timeout_s=timeout_s)
    found = read_dialogues(dialogues)[:limit]
    with session_of(endpoint, _answers(out), limits, n_workers=workers) as session:
        drafts = run(
            found,
            session,
            prompt=load_prompt("spoken", "en", prompt),
            source=source,
            licence=licence,
            max_pairs=pairs,
        )
        say_spending(session.spending, limits)
    _write_drafts(out, drafts, f"{dialogues.name}: written to spoken English")


def translate(
    file: Annotated[
        Path, typer.Argument(help="Dialogues in the bank's format, EN/mt_qa.jsonl.", callback=file_there)
    ],
    model: Model,
    out: Annotated[Path, typer.Option("--out", help="Drafts: OUT.jsonl, OUT.tsv and OUT.html.")],
    to: Annotated[str, typer.Option("--to", help="Language of the translation.")] = "ja",
    from_: Annotated[str, typer.Option("--from", help="Language of the file.")] = "en",
    base_url: BaseUrl = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Dialogues, at most.")] = None,
    prompt: PromptFile = None,
    workers: Workers = 4,
    timeout_s: Timeout = 120.0,
    budget: Usd = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_tokens: MaxTokens = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
) -> None:
    """Translate spoken dialogues, turn by turn under the same ids, for review."""
    from .writers.prompts import load_prompt
    from .writers.script_lines import read_file
    from .writers.translate import translate as run

    _refuse_nameless(out)
    for option, language in (("--from", from_), ("--to", to)):
        read_language(language, option)
    found = read_file(file, "mt_qa", from_)[:limit]
    if not found:
        raise ScriptError(f"{file}: no dialogues there; wanted a file in the bank's format")
    limits = budget_of(budget, price_in, price_out, max_tokens)
    endpoint = endpoint_of(model, base_url, key_env=key_env, timeout_s=timeout_s)
    with session_of(endpoint, _answers(out), limits, n_workers=workers) as session:
        drafts = run(found, session, prompt=load_prompt("translate", to, prompt), language=to)
        say_spending(session.spending, limits)
    _write_drafts(out, drafts, f"{file.name}: {from_} to {to}")


def accept(
    drafts: Annotated[Path, typer.Argument(help="The drafts, .jsonl.", callback=file_there)],
    review: Annotated[Path, typer.Argument(help="The reviewed table, .tsv.", callback=file_there)],
    language: Annotated[str, typer.Option("--language", help="Of the drafts.")],
    out: Out = Path("my-scripts"),
) -> None:
    """Take reviewed dialogues into a bank: lines marked accept, with the reviewer's corrections."""
    from ..scenarios.lint import check_script
    from .writers.pronounce import pronounce
    from .writers.review import read_review, reviewed
    from .writers.script_lines import merged, read_file, write_file

    read_language(language, "--language")
    result = reviewed(read_file(drafts, "mt_qa", language, as_drafts=True), read_review(review))
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


def _refuse_nameless(out: Path) -> None:
    if out.name in ("", ".."):
        raise ScriptError(
            f"--out '{out}': wanted what the drafts' names begin with, for example drafts/topics"
        )


def _answers(out: Path) -> Path:
    return out.with_name(f"{out.name}.answers.jsonl")


def _write_drafts(out: Path, drafts: tuple[Draft, ...], title: str) -> None:
    from .writers.review import review_page, review_table
    from .writers.script_lines import refuse_unreadable, script_line

    readable = []
    for draft in drafts:
        try:
            refuse_unreadable(draft.script, f"left out {draft.script.id}", is_draft=True)
        except ScriptError as error:
            typer.echo(str(error))
        else:
            readable.append(draft)
    drafts = tuple(readable)
    lines = "".join(f"{script_line(draft.script)}\n" for draft in drafts)
    put_text(out.with_name(f"{out.name}.jsonl"), lines)
    out.with_name(f"{out.name}.tsv").write_text(review_table(drafts), encoding="utf-8")
    out.with_name(f"{out.name}.html").write_text(review_page(drafts, title), encoding="utf-8")
    n_lines = sum(len(draft.lines) for draft in drafts)
    n_found = sum(bool(line.findings) for draft in drafts for line in draft.lines)
    typer.echo(
        f"{len(drafts)} dialogues, {n_lines} lines, {n_found} with findings; review {out.name}.tsv or {out.name}.html, "
        f"then: duplexkit scripts accept {out.name}.jsonl {out.name}.tsv"
    )
