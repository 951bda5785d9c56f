"""Multi-turn question answering by user and system, whose turn shifts follow a timing profile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import RecipeError
from .bank import borrowed_scripts, with_origin_of
from .conversation import (
    Annotation,
    Event,
    PlacedTurn,
    Plan,
    PlannedPause,
    PlannedTurn,
    Role,
    Script,
    ScriptTurn,
    Start,
    Timeline,
    spoken_text,
)
from .dialogue_draws import DialogueDraws, Gap, draw_dialogue
from .dialogue_timing import SHIFT_OVERLAP_S, DialogueLaws, dialogue_laws, laws_json
from .markup import parse, without_pauses
from .mt_qa_fields import FIELDS, PRESETS
from .phrase_ends import nearest_end
from .quantile_law import cut_law, quantile
from .scenario import PlanContext, Scenario, draw, draw_speed
from .script_form import ScriptForm, TurnForm
from .sounding import sound_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INTENTS = ("opening", "follow_up", "topic_switch")
"""What a question is for."""

DEPENDENCES = ("anaphora", "ellipsis", "comparison")
"""By what a question shows that it needs an earlier turn."""

INNER_HUSH_S = 0.35
"""Guard band: far enough below M3's 0.5 s that another lab's detector sees one unit."""

HOLD_FROM_S = 0.5
"""A silence above this inside one speaker's speech is a hold (M3: a new turn of the same speaker)."""

TOKEN_PLACE = (0.2, 0.8)
"""A listener's token follows a phrase end in this part of the answer (our choice)."""


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan of a dialogue: every question, answer, token and gap."""
    entry, rng = context.entry, context.rng
    laws = dialogue_laws(entry)
    lead_s, tail_s = draw(rng, entry.range("lead_s")), draw(rng, entry.range("tail_s"))
    floor = draw(rng, entry.range("noise_floor_dbov"))
    low, high = entry.int_range("pairs")
    if len(script.turns) // 2 < low:
        raise RecipeError(
            f"scenarios.mt_qa.pairs = [{low}, {high}]: script {script.id} ({script.language}) has only "
            f"{len(script.turns) // 2} question-answer pairs; ask for fewer, or give longer scripts"
        )
    if entry.number("barge_in_rate") + entry.number("cut_off_rate") > 1.0:
        raise RecipeError(
            f"scenarios.mt_qa: barge_in_rate = {entry.number('barge_in_rate'):g} and cut_off_rate = "
            f"{entry.number('cut_off_rate'):g} add up to more than 1; both are shares of the later questions"
        )
    draws = draw_dialogue(script, context, laws)
    turns: list[PlannedTurn] = []
    places: list[int] = []  # of the script's turns among all, for tokens stand between them
    answer_at: int | None = None
    origin = script
    for k in range(len(draws.moves)):
        question, answer = script.turns[2 * k], script.turns[2 * k + 1]
        question = replace(question, depends_on=tuple(places[i] for i in question.depends_on))
        places += (len(turns), len(turns) + 1)
        turns.append(_question(question, k, draws, answer_at, lead_s, laws, context))
        turns.append(_answer(answer, k, len(turns) - 1, draws.answer_gaps[k], context))
        answer_at = len(turns) - 1
        wants_token = float(rng.uniform()) < entry.number("backchannel_rate")
        token, lender = _token(k, answer_at, answer, laws, context, script.language)
        if wants_token and (k + 1 == len(draws.moves) or draws.moves[k + 1] != "cut_off"):
            turns.append(token)
            origin = with_origin_of(origin, lender)
    return Plan(
        id=context.sample_id,
        scenario=script.scenario,
        language=script.language,
        take=context.take,
        split=context.split,
        preset=entry.preset,
        fdb_relation=entry.fdb_relation,
        script=origin,
        turns=tuple(turns),
        lead_s=lead_s,
        tail_s=tail_s,
        **sound_of(entry, floor),
        timing_profile=laws_json(laws, entry.text("sampling")),
    )


def _question(
    said: ScriptTurn,
    k: int,
    draws: DialogueDraws,
    answer_at: int | None,
    lead_s: float,
    laws: DialogueLaws,
    context: PlanContext,
) -> PlannedTurn:
    entry, rng = context.entry, context.rng
    move, gap = draws.moves[k], draws.question_gaps[k]
    fraction, latency_s = 1.0, None
    if move == "cut_off":
        fraction = _drawn(laws, "barge_in_onset", rng)
        latency_s = _drawn(laws, "stop_latency", rng)
    u, lengths = float(rng.uniform()), rng.uniform(size=len(parse(said.text).places("pause")))
    hold, hesitation = entry.number("hold_rate"), entry.number("hesitation_rate")
    field = "hold_s" if u < hold else "hesitation_s" if u < hold + hesitation else None
    return PlannedTurn(
        name=f"question-{k + 1:02d}",
        role=Role.USER,
        voice=context.cast[Role.USER],
        text=said.text if field else without_pauses(said.text),
        speed=draw_speed(context),
        start=Start(
            turn=answer_at,
            distance_s=lead_s if move == "open" else gap.distance_s if gap else 0.0,
            fraction=fraction,
            others_s=gap.others_s if gap else (),
        ),
        move=move,
        pauses=_pause_lengths(said.text, field, lengths, laws, context) if field else (),
        max_hush_s=INNER_HUSH_S if entry.flag("guard_bands") else None,
        stop_latency_s=latency_s,
        intent=said.intent,
        depends_on=said.depends_on,
    )


def _drawn(laws: DialogueLaws, table: str, rng: np.random.Generator) -> float:
    return float(quantile(laws.beside[table], rng.uniform()))


def _pause_lengths(
    text: str, field: str, u: NDArray[np.float64], laws: DialogueLaws, context: PlanContext
) -> tuple[PlannedPause, ...]:
    """Return the length of each marked pause: holds by the profile inside `hold_s`, hesitations evenly."""
    low, high = context.entry.range(field)
    marks = parse(text).places("pause")
    if field == "hold_s" and low < high:
        lengths = quantile(cut_law(laws.beside["hold"], low=low, high=high), u)
    else:
        lengths = low + (high - low) * u
    return tuple(
        PlannedPause(kind=mark.value, length_s=float(s)) for mark, s in zip(marks, lengths, strict=True)
    )


def _answer(said: ScriptTurn, k: int, question_at: int, gap: Gap, context: PlanContext) -> PlannedTurn:
    return PlannedTurn(
        name=f"answer-{k + 1:02d}",
        role=Role.SYSTEM,
        voice=context.cast[Role.SYSTEM],
        text=without_pauses(said.text),
        speed=draw_speed(context),
        start=Start(turn=question_at, distance_s=gap.distance_s, others_s=gap.others_s),
        move="shift",
        max_hush_s=INNER_HUSH_S if context.entry.flag("guard_bands") else None,
        intent=said.intent,
        reference_answer=said.reference_answer,
    )


def _token(
    k: int, answer_at: int, answer: ScriptTurn, laws: DialogueLaws, context: PlanContext, language: str
) -> tuple[PlannedTurn, Script]:
    """Return a listener's token after a phrase of an answer, and the script it is from; drawn whether used or not."""
    rng = context.rng
    tokens = borrowed_scripts("user_backchannel", language, context.bank)
    bank = [s for s in tokens if "fdb" in s.tags] or tokens
    lender = bank[int(rng.integers(len(bank)))]
    token = lender.turns[1]
    low, high = TOKEN_PLACE
    share = min(max(_drawn(laws, "backchannel_place", rng), low), high)
    said = PlannedTurn(
        name=f"token-{k + 1:02d}",
        role=Role.USER,
        voice=context.cast[Role.USER],
        text=token.text,
        speed=draw_speed(context),
        start=Start(
            turn=answer_at,
            distance_s=_drawn(laws, "backchannel_lag", rng),
            fraction=nearest_end(answer.text, share, low=low, high=high),
        ),
        move="backchannel",
        max_hush_s=INNER_HUSH_S,
        function=token.function,
    )
    return said, lender


def annotate(plan: Plan, timeline: Timeline) -> Annotation:
    """Return what happens between the turns, from the placed times."""
    events: list[Event] = []
    start = timeline.turns[0].onset
    asked_at = start
    for i, (said, placed) in enumerate(zip(plan.turns, timeline.turns, strict=True)):
        given = _before(plan, timeline, i)
        if said.move == "backchannel":
            events.append(
                Event(
                    kind="backchannel",
                    role=said.role,
                    onset=placed.onset,
                    offset=placed.offset,
                    turn=i,
                    token=" ".join(word.text for word in placed.words),
                    function=said.function,
                    context_start=start,
                    input_start=asked_at,
                )
            )
            continue
        if given is not None:
            events.append(_taking(plan, i, given, placed, timeline.sample_rate_hz, start, asked_at))
        if said.role is Role.USER:
            asked_at = placed.onset
        events += _pauses(said.role, placed, i, start, asked_at, timeline.sample_rate_hz)
    return Annotation(events=tuple(events))


def _before(plan: Plan, timeline: Timeline, i: int) -> PlacedTurn | None:
    turn = plan.turns[i].start.turn
    return None if turn is None else timeline.turns[turn]


def _taking(
    plan: Plan,
    i: int,
    given: PlacedTurn,
    placed: PlacedTurn,
    rate: int,
    start: int,
    asked_at: int,
) -> Event:
    """Return the event by which turn `i` takes the floor from the turn before it."""
    said = plan.turns[i]
    interrupted = plan.turns[i].start.turn
    assert interrupted is not None
    fto_s = (placed.onset - given.offset) / rate
    cut = said.move == "cut_off" and given.cut is not None
    if not cut and -fto_s <= SHIFT_OVERLAP_S:  # by what came out: a barge-in that had to be shortened is none
        return Event(
            kind="shift",
            role=said.role,
            onset=min(given.offset, placed.onset),
            offset=max(given.offset, placed.onset),
            turn=i,
            fto_s=fto_s,
            intended_fto_s=_intended_s(said.start, fto_s, rate),
            context_start=start,
            input_start=asked_at,
        )
    planned = parse(plan.turns[interrupted].text).text
    return Event(
        kind="cut_off" if cut else "barge_in",
        role=said.role,
        onset=placed.onset,
        offset=placed.offset,
        turn=i,
        fto_s=fto_s,
        intended_fto_s=None if said.move == "cut_off" else _intended_s(said.start, fto_s, rate),
        intent=said.intent,
        system_planned_end=given.planned_offset,
        system_stop=given.offset,
        spoken_text=spoken_text(planned, given),
        planned_text=planned,
        context_start=start,
        input_start=asked_at,
    )


def _intended_s(start: Start, fto_s: float, rate: int) -> float | None:
    """Return the drawn distance that was carried out; the first one where none was."""
    if start.fraction < 1:
        return None
    for distance_s in (start.distance_s, *start.others_s):
        if abs(distance_s - fto_s) <= 1.0 / rate:
            return distance_s
    return start.distance_s


def _pauses(role: Role, placed: PlacedTurn, i: int, start: int, asked_at: int, rate: int) -> list[Event]:
    return [
        Event(
            kind="hold" if (pause.stop - pause.start) / rate > HOLD_FROM_S else "pause",
            role=role,
            onset=pause.start,
            offset=pause.stop,
            turn=i,
            intended_s=pause.intended_s,
            pause_kind=pause.kind,
            context_start=start,
            input_start=asked_at,
        )
        for pause in placed.pauses
    ]


SCENARIO = Scenario(
    name="mt_qa",
    prefix="qa",
    parallel=True,
    meaning="question-answer pairs by user and system on own stems, turn shifts drawn from a timing profile",
    script=ScriptForm(
        turns=(
            TurnForm(
                part="question",
                role=Role.USER,
                keys={"intent": INTENTS, "dependence": DEPENDENCES, "depends_on": ()},
                needed=("intent",),
                mark="pause",
            ),
            TurnForm(
                part="answer",
                role=Role.SYSTEM,
                keys={"reference_answer": ()},
                needed=("reference_answer",),
            ),
        ),
        n_rounds=(8, 14),
    ),
    fields=FIELDS,
    presets=PRESETS,
    plan=plan,
    annotate=annotate,
    roles=("user", "system"),
)
