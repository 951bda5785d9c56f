"""What the answers cost, and how much they may."""

from __future__ import annotations

from dataclasses import dataclass

from ... import DuplexkitError
from .endpoint import Answer


class BudgetReached(DuplexkitError):
    """The next question could cost more than what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of a job, all its runs together. Prices are in US dollars for a million tokens.

    Without prices only `max_tokens` limits; a `max_usd` without prices is refused.
    """

    max_usd: float | None = None
    max_tokens: int | None = None
    usd_per_prompt_mtoken: float | None = None
    usd_per_answer_mtoken: float | None = None

    def __post_init__(self) -> None:
        if self.max_usd is not None and (
            self.usd_per_prompt_mtoken is None or self.usd_per_answer_mtoken is None
        ):
            raise DuplexkitError(
                f"a budget of {self.max_usd:g} US dollars needs the model's prices: give --price-in and --price-out "
                "(US dollars for a million tokens), or limit --max-tokens instead"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The tokens of a job so far."""

    n_asked: int = 0
    n_kept: int = 0
    n_prompt_tokens: int = 0
    n_answer_tokens: int = 0
    largest_call_tokens: int = 0
    is_estimated: bool = False

    @property
    def n_tokens(self) -> int:
        """Return all tokens."""
        return self.n_prompt_tokens + self.n_answer_tokens

    def usd(self, budget: Budget) -> float | None:
        """Return the cost at the budget's prices, or None without prices."""
        if budget.usd_per_prompt_mtoken is None or budget.usd_per_answer_mtoken is None:
            return None
        return (
            self.n_prompt_tokens * budget.usd_per_prompt_mtoken
            + self.n_answer_tokens * budget.usd_per_answer_mtoken
        ) / 1e6


def added(spending: Spending, answer: Answer, *, from_store: bool) -> Spending:
    """Return the spending with one more answer."""
    return Spending(
        n_asked=spending.n_asked + (not from_store),
        n_kept=spending.n_kept + from_store,
        n_prompt_tokens=spending.n_prompt_tokens + answer.n_prompt_tokens,
        n_answer_tokens=spending.n_answer_tokens + answer.n_answer_tokens,
        largest_call_tokens=max(
            spending.largest_call_tokens, answer.n_prompt_tokens + answer.n_answer_tokens
        ),
        is_estimated=spending.is_estimated or answer.is_estimated,
    )


def require_room(budget: Budget, spending: Spending, *, n_under_way: int) -> None:
    """Raise if one more question, and those under way, could pass a limit.

    Each is reckoned as the dearest so far; the very first ones are not reckoned at all.

    Raises
    ------
    BudgetReached
        With what was spent and what the limit is.
    """
    coming = (n_under_way + 1) * spending.largest_call_tokens
    if budget.max_tokens is not None and spending.n_tokens + coming > budget.max_tokens:
        raise BudgetReached(
            f"{spending.n_tokens} tokens used, and one more question could pass the limit of {budget.max_tokens}; "
            "the answers are kept: run again with a larger --max-tokens to go on"
        )
    spent = spending.usd(budget)
    if budget.max_usd is not None and spent is not None and spending.n_tokens:
        likely = spent / spending.n_tokens * coming
        if spent + likely > budget.max_usd:
            raise BudgetReached(
                f"{spent:.4f} US dollars spent, and one more question could pass the budget of "
                f"{budget.max_usd:g}; the answers are kept: run again with a larger --budget to go on"
            )
