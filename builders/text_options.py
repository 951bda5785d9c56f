"""What the commands about text share: options, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import ScriptError
from ..scenarios import SCENARIOS
from ..scenarios.fields import unknown
from .inputs import file_there

if TYPE_CHECKING:
    from .writers.endpoint import Endpoint
    from .writers.session import Session
    from .writers.spending import Budget, Spending

Model = Annotated[str, typer.Option("--model", help="The model's name at the endpoint.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="An OpenAI-compatible endpoint, up to /v1; default: OpenAI's own."),
]
KeyEnv = Annotated[
    str, typer.Option("--key-env", help="Environment variable with the API key; the key goes nowhere else.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Questions under way at once.")]
Timeout = Annotated[float, typer.Option("--timeout-s", min=1.0, help="Seconds to wait for an answer.")]
Temperature = Annotated[float, typer.Option("--temperature", min=0.0, max=2.0)]
Usd = Annotated[
    float | None, typer.Option("--budget", min=0.0, help="US dollars this job may cost, all runs together.")
]
PriceIn = Annotated[
    float | None, typer.Option("--price-in", min=0.0, help="US dollars, a million prompt tokens.")
]
PriceOut = Annotated[
    float | None, typer.Option("--price-out", min=0.0, help="US dollars, a million answer tokens.")
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Tokens this job may use, all runs together.")
]
PromptFile = Annotated[
    Path | None,
    typer.Option("--prompt", help="Your own instructions instead of the shipped ones.", callback=file_there),
]
Out = Annotated[Path, typer.Option("--out", help="A folder in the bank's layout.")]
Source = Annotated[str, typer.Option("--source", help="Who wrote it; stands in every line.")]
Licence = Annotated[str, typer.Option("--licence", help="SPDX id; stands in every line.")]
Domains = Annotated[
    str, typer.Option("--domains", help="Topics of your own, separated by commas, beside the known ones.")
]


def known_scenario(scenario: str) -> None:
    """Raise where there is no scenario of that name."""
    if scenario not in SCENARIOS:
        raise ScriptError(f"{scenario!r}: {unknown('scenario', scenario, tuple(SCENARIOS))}")


def topics_with(domains: str) -> tuple[str, ...]:
    """Return the known topics and the user's own."""
    from ..scenarios.lint import DOMAINS

    return (*DOMAINS, *_split(domains))


def topics_of(domains: str) -> tuple[str, ...]:
    """Return the user's topics, or the known ones where there are none."""
    from ..scenarios.lint import DOMAINS

    return _split(domains) or DOMAINS


def _split(domains: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in domains.split(",") if name.strip())


def endpoint_of(
    model: str, base_url: str | None, *, key_env: str, timeout_s: float = 120.0, temperature: float = 1.0
) -> Endpoint:
    """Return the endpoint that the options name."""
    from .service import OPENAI_URL
    from .writers.endpoint import Endpoint

    return Endpoint(
        model=model,
        base_url=base_url or OPENAI_URL,
        key_env=key_env,
        timeout_s=timeout_s,
        temperature=temperature,
    )


def budget_of(
    usd: float | None, price_in: float | None, price_out: float | None, max_tokens: int | None
) -> Budget:
    """Return the limits that the options set."""
    from .writers.spending import Budget

    return Budget(
        max_usd=usd,
        max_tokens=max_tokens,
        usd_per_prompt_mtoken=price_in,
        usd_per_answer_mtoken=price_out,
    )


@contextmanager
def session_of(endpoint: Endpoint, answers: Path, budget: Budget, *, n_workers: int) -> Iterator[Session]:
    """Open a session whose answers are kept in a file."""
    from .writers.answer_store import AnswerStore
    from .writers.session import Session

    with (
        AnswerStore(answers) as store,
        Session(endpoint, store, budget=budget, n_workers=n_workers, tell=typer.echo) as session,
    ):
        yield session


def say_spending(spending: Spending, budget: Budget) -> None:
    """Print how many answers were asked and kept, their tokens and their cost."""
    usd = spending.usd(budget)
    cost = "" if usd is None else f", {usd:.4f} US dollars"
    estimated = ", partly estimated" if spending.is_estimated else ""
    typer.echo(
        f"{spending.n_asked} answers asked, {spending.n_kept} kept from before; {spending.n_prompt_tokens} prompt "
        f"and {spending.n_answer_tokens} answer tokens{estimated}{cost}"
    )
