"""The command that writes scripts with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..scenarios.bank import SHIPPED
from ..scenarios.names import read_language
from .inputs import folder_there
from .text_options import (
    BaseUrl,
    Domains,
    KeyEnv,
    Licence,
    MaxTokens,
    Model,
    Out,
    PriceIn,
    PriceOut,
    PromptFile,
    Temperature,
    Timeout,
    Usd,
    Workers,
    budget_of,
    endpoint_of,
    known_scenario,
    say_spending,
    topics_of,
)


def write(
    scenario: Annotated[str, typer.Argument(help="A scenario's name.")],
    language: Annotated[str, typer.Option("--language", help="BCP-47.")],
    count: Annotated[int, typer.Option("--count", min=1, help="Scripts the file is to hold in the end.")],
    model: Model,
    base_url: BaseUrl = None,
    out: Out = Path("my-scripts"),
    about: Annotated[str, typer.Option("--about", help="What the scripts should be about, in words.")] = "",
    domains: Domains = "",
    licence: Licence = "CC-BY-4.0",
    seed: Annotated[int, typer.Option("--seed")] = 0,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Scripts asked for in one question.")] = 5,
    against: Annotated[
        Path,
        typer.Option("--against", help="A bank that new scripts must not be like.", callback=folder_there),
    ] = SHIPPED,
    prompt: PromptFile = None,
    workers: Workers = 4,
    timeout_s: Timeout = 120.0,
    temperature: Temperature = 1.0,
    budget: Usd = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    max_tokens: MaxTokens = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
) -> None:
    """Write scripts with a model until the file holds COUNT of them; the same command goes on after a stop."""
    from .progress import Steps
    from .writers.fill_file import fill_file
    from .writers.prompts import load_prompt
    from .writers.write_scripts import Job

    known_scenario(scenario)
    read_language(language, "--language")
    job = Job(
        scenario=scenario,
        language=language,
        count=count,
        prompt=load_prompt(scenario, language, prompt),
        licence=licence,
        domains=topics_of(domains),
        about=about,
        seed=seed,
        n_per_question=batch,
    )
    endpoint = endpoint_of(model, base_url, key_env=key_env, timeout_s=timeout_s, temperature=temperature)
    limits = budget_of(budget, price_in, price_out, max_tokens)
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
    say_spending(filled.spending, limits)
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
