"""How a dialogue goes on: number of pairs, moves and gaps, drawn for a block of dialogues or for one alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .conversation import Script
from .dialogue_timing import DialogueLaws
from .quantile_law import QuantileLaw, quantile
from .scenario import PlanContext
from .speech_length import estimated_s
from .strata import BLOCK_DIALOGUES, N_OTHERS, independent, strata

SAMPLINGS = ("stratified", "iid")

GAP_S = 0.3
"""About how long a gap is, overlaps counted: for the estimate of a dialogue's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A drawn distance in seconds, and others of the same stratum for the case that it is infeasible."""

    distance_s: float
    others_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueDraws:
    """One dialogue: per question its move and its gap (None where the move has none), per answer its gap."""

    moves: tuple[str, ...]
    question_gaps: tuple[Gap | None, ...]
    answer_gaps: tuple[Gap, ...]


def draw_dialogue(script: Script, context: PlanContext, laws: DialogueLaws) -> DialogueDraws:
    """Return the draws of one dialogue; they depend on its block and on nothing else that is built.

    Moves are the same in all languages (for parallel scripts of equal length), and so is the number of pairs
    unless one of them takes too long to say; gaps are each language's own.
    """
    parallel = context.parallel_rng or context.shared_rng
    if context.entry.text("sampling") == "iid":
        alone = f"{context.take}/{context.position}"
        (drawn,) = _draw_block(
            (script,),
            context,
            laws,
            lambda stage: parallel(f"{stage}/{alone}"),
            lambda _: context.rng,
            independent,
        )
        return drawn
    first = context.position - context.position % BLOCK_DIALOGUES
    block = context.scripts[first : first + BLOCK_DIALOGUES] or (script,)
    name = f"{context.take}/{first // BLOCK_DIALOGUES}"
    dialogues = _draw_block(
        block,
        context,
        laws,
        lambda stage: parallel(f"{stage}/{name}"),
        lambda stage: context.shared_rng(f"{stage}/{name}"),
        strata,
    )
    return dialogues[context.position - first if context.scripts else 0]


Rng = Callable[[str], np.random.Generator]


def _draw_block(
    block: tuple[Script, ...],
    context: PlanContext,
    laws: DialogueLaws,
    parallel: Rng,
    own: Rng,
    draw: Callable[..., tuple[NDArray[np.float64], ...]],
) -> tuple[DialogueDraws, ...]:
    low, high = context.entry.int_range("pairs")
    wished = parallel("pairs").integers(low, high + 1, size=BLOCK_DIALOGUES)
    n_said = tuple(min(len(s.turns) // 2, int(n)) for s, n in zip(block, wished, strict=False))
    u = draw(parallel("moves"), tuple(max(n - 1, 0) for n in n_said))
    limit_s = context.entry.number("longest_s")
    # moves are drawn before a dialogue is cut to length, which differs between languages
    moves = tuple(
        ("open", *_moves(context, each[:, 0]))[: max(low, _pairs_within(script, limit_s))]
        for script, each in zip(block, u, strict=True)
    )
    shifts = _gaps(own("system_to_user"), moves, "shift", laws.system_to_user.law, 1.0, draw)
    barge_ins = _gaps(own("barge_in_overlap"), moves, "barge_in", laws.barge_in_overlap.law, -1.0, draw)
    answers = _gaps(own("user_to_system"), moves, None, laws.user_to_system.law, 1.0, draw)
    return tuple(
        DialogueDraws(
            moves=moves[d],
            question_gaps=tuple(shifts[d].get(k, barge_ins[d].get(k)) for k in range(len(moves[d]))),
            answer_gaps=tuple(answers[d][k] for k in range(len(moves[d]))),
        )
        for d in range(len(block))
    )


def _pairs_within(script: Script, limit_s: float) -> int:
    """Return how many pairs of a script can be said in about `limit_s`."""
    reached_s = 0.0
    for k in range(len(script.turns) // 2):
        pair = script.turns[2 * k : 2 * k + 2]
        reached_s += sum(estimated_s(turn.text, script.language) + GAP_S for turn in pair)
        if reached_s > limit_s:
            return k
    return len(script.turns) // 2


def _moves(context: PlanContext, u: NDArray[np.float64]) -> tuple[str, ...]:
    """Return how each later question takes the floor."""
    cut_off, barge_in = (context.entry.number(name) for name in ("cut_off_rate", "barge_in_rate"))
    return tuple("cut_off" if x < cut_off else "barge_in" if x < cut_off + barge_in else "shift" for x in u)


def _gaps(
    rng: np.random.Generator,
    moves: tuple[tuple[str, ...], ...],
    move: str | None,
    law: QuantileLaw,
    sign: float,
    draw: Callable[..., tuple[NDArray[np.float64], ...]],
) -> tuple[dict[int, Gap], ...]:
    """Return per dialogue the gaps of the turns with that move (None: of all), by the number of the pair."""
    places = [[k for k, each in enumerate(dialogue) if move in (None, each)] for dialogue in moves]
    u = draw(rng, tuple(map(len, places)), n_draws=1 + N_OTHERS)
    return tuple(
        {k: _gap(sign * quantile(law, row)) for k, row in zip(at, probabilities, strict=True)}
        for at, probabilities in zip(places, u, strict=True)
    )


def _gap(distances_s: NDArray[np.float64]) -> Gap:
    """Return the gap; others are kept only for an overlap, which alone can be infeasible."""
    first, *others = (float(distance) for distance in distances_s)
    return Gap(distance_s=first, others_s=tuple(others) if first < 0 else ())
