"""Multi-turn question answering by user and system, whose turn shifts follow a timing profile."""

from __future__ import annotations

from .. import RecipeError
from .bank import load_scripts
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
from .fields import (
    LEAD,
    NOISE_FLOOR,
    ROOM,
    TAIL,
    FlagField,
    IntRangeField,
    NameField,
    NumberField,
    RangeField,
    by_name,
)
from .markup import parse, without_pauses
from .scenario import PlanContext, Preset, Scenario, draw, draw_speed
from .timing import TimingProfile, load_profile, require_variable

INNER_HUSH_S = 0.35
"""Guard band: far enough below M3's 0.5 s that another lab's detector sees one unit."""

HOLD_FROM_S = 0.5
"""A silence above this inside one speaker's speech is a hold (M3: a new turn of the same speaker)."""

CUT_OFF_FRACTION = (0.4, 0.6)
"""Where in the system's planned answer the user cuts it off: our choice."""

_SHARE = "share"


def plan(script: Script, context: PlanContext) -> Plan:
    """Return the plan of a dialogue: every question, answer, token and gap."""
    entry, rng = context.entry, context.rng
    profile = load_profile(entry.text("timing_profile"))
    require_variable(profile, "shift")
    lead_s, tail_s = draw(rng, entry.range("lead_s")), draw(rng, entry.range("tail_s"))
    floor = draw(rng, entry.range("noise_floor_dbov"))
    low, high = entry.int_range("pairs")
    n_pairs = min(len(script.turns) // 2, int(rng.integers(low, high + 1)))
    if n_pairs < low:
        raise RecipeError(
            f"scenarios.mt_qa.pairs = [{low}, {high}]: script {script.id} ({script.language}) has only "
            f"{len(script.turns) // 2} question-answer pairs; ask for fewer, or give longer scripts"
        )
    moves = _moves(n_pairs, context)
    turns: list[PlannedTurn] = []
    answer_at: int | None = None
    for k in range(n_pairs):
        question, answer = script.turns[2 * k], script.turns[2 * k + 1]
        turns.append(_question(question, k, moves[k], answer_at, lead_s, profile, context))
        turns.append(_answer(answer, k, len(turns) - 1, profile, context))
        answer_at = len(turns) - 1
        wants_token = float(rng.uniform()) < entry.number("backchannel_rate")
        token = _token(k, answer_at, profile, context, script.language)
        if wants_token and (k + 1 == n_pairs or moves[k + 1] != "cut_off"):
            turns.append(token)
    room = entry.text("room")
    return Plan(
        id=context.sample_id,
        scenario=script.scenario,
        language=script.language,
        take=context.take,
        split=context.split,
        preset=entry.preset,
        fdb_relation=entry.fdb_relation,
        script=script,
        turns=tuple(turns),
        lead_s=lead_s,
        tail_s=tail_s,
        room=room,
        noise_floor_dbov=None if room == "none" else floor,
        timing_profile=profile.name,
    )


def _moves(n_pairs: int, context: PlanContext) -> list[str]:
    """Return how each question takes the floor."""
    cut_off, barge_in = (context.entry.number(name) for name in ("cut_off_rate", "barge_in_rate"))
    moves = ["open"]
    for u in context.rng.uniform(size=n_pairs - 1):
        moves.append("cut_off" if u < cut_off else "barge_in" if u < cut_off + barge_in else "shift")
    return moves


def _question(
    said: ScriptTurn,
    k: int,
    move: str,
    answer_at: int | None,
    lead_s: float,
    profile: TimingProfile,
    context: PlanContext,
) -> PlannedTurn:
    entry, rng = context.entry, context.rng
    shift_s = profile.quantile("system_to_user", float(rng.uniform()))
    overlap_s = profile.quantile("barge_in_overlap", float(rng.uniform()))
    fraction = draw(rng, CUT_OFF_FRACTION)
    latency_s = profile.quantile("stop_latency", float(rng.uniform()))
    holds = float(rng.uniform()) < entry.number("hold_rate")
    pauses = tuple(
        PlannedPause(kind=mark.value, length_s=draw(rng, entry.range("hold_s")))
        for mark in parse(said.text).places("pause")
    )
    start = {
        "open": Start(turn=None, distance_s=lead_s),
        "shift": Start(turn=answer_at, distance_s=shift_s),
        "barge_in": Start(turn=answer_at, distance_s=-overlap_s),
        "cut_off": Start(turn=answer_at, distance_s=0.0, fraction=fraction),
    }[move]
    return PlannedTurn(
        name=f"question-{k + 1:02d}",
        role=Role.USER,
        voice=context.cast[Role.USER],
        text=said.text if holds else without_pauses(said.text),
        speed=draw_speed(context),
        start=start,
        move=move,
        pauses=pauses if holds else (),
        max_hush_s=INNER_HUSH_S if entry.flag("guard_bands") else None,
        stop_latency_s=latency_s if move == "cut_off" else None,
        intent=said.intent,
        depends_on=said.depends_on,
    )


def _answer(
    said: ScriptTurn, k: int, question_at: int, profile: TimingProfile, context: PlanContext
) -> PlannedTurn:
    gap_s = profile.quantile("user_to_system", float(context.rng.uniform()))
    return PlannedTurn(
        name=f"answer-{k + 1:02d}",
        role=Role.SYSTEM,
        voice=context.cast[Role.SYSTEM],
        text=without_pauses(said.text),
        speed=draw_speed(context),
        start=Start(turn=question_at, distance_s=gap_s),
        move="shift",
        max_hush_s=INNER_HUSH_S if context.entry.flag("guard_bands") else None,
        intent=said.intent,
        reference_answer=said.reference_answer,
    )


def _token(
    k: int, answer_at: int, profile: TimingProfile, context: PlanContext, language: str
) -> PlannedTurn:
    """Return a listener's token of the user during an answer; drawn whether used or not."""
    rng = context.rng
    bank = [s for s in load_scripts("user_backchannel", language) if "fdb" in s.tags]
    token = bank[int(rng.integers(len(bank)))].turns[1]
    return PlannedTurn(
        name=f"token-{k + 1:02d}",
        role=Role.USER,
        voice=context.cast[Role.USER],
        text=token.text,
        speed=draw_speed(context),
        start=Start(
            turn=answer_at,
            distance_s=0.0,
            fraction=profile.quantile("backchannel_place", float(rng.uniform())),
        ),
        move="backchannel",
        max_hush_s=INNER_HUSH_S,
        function=token.function,
    )


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
    if said.move == "shift":
        return Event(
            kind="shift",
            role=said.role,
            onset=min(given.offset, placed.onset),
            offset=max(given.offset, placed.onset),
            turn=i,
            fto_s=fto_s,
            intended_fto_s=said.start.distance_s,
            context_start=start,
            input_start=asked_at,
        )
    planned = parse(plan.turns[interrupted].text).text
    cut = said.move == "cut_off" and given.cut is not None
    return Event(
        kind="cut_off" if cut else "barge_in",
        role=said.role,
        onset=placed.onset,
        offset=placed.offset,
        turn=i,
        fto_s=fto_s,
        intended_fto_s=said.start.distance_s if said.move == "barge_in" else None,
        intent=said.intent,
        system_planned_end=given.planned_offset,
        system_stop=given.offset,
        spoken_text=spoken_text(planned, given),
        planned_text=planned,
        context_start=start,
        input_start=asked_at,
    )


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


def _rate(name: str, meaning: str) -> NumberField:
    return NumberField(name=name, unit=_SHARE, low=0.0, high=1.0, meaning=meaning)


SCENARIO = Scenario(
    name="mt_qa",
    prefix="qa",
    meaning="question-answer pairs by user and system on own stems, turn shifts drawn from a timing profile",
    fields=by_name(
        LEAD,
        TAIL,
        ROOM,
        NOISE_FLOOR,
        IntRangeField(
            name="pairs", unit="pairs", low=1, high=60, meaning="question-answer pairs of a dialogue"
        ),
        NameField(name="timing_profile", meaning="shipped timing profile, or a .json file"),
        _rate("barge_in_rate", "share of the user's later questions that overlap the answer's end"),
        _rate("cut_off_rate", "share of the user's later questions that stop the system inside its answer"),
        _rate("backchannel_rate", "share of answers during which the user says a listener's token"),
        _rate("hold_rate", "share of questions with marked places in which the user hesitates there"),
        RangeField(name="hold_s", unit="seconds", low=0.2, high=5.0, meaning="length of such a hesitation"),
        FlagField(
            name="guard_bands",
            meaning="cut silences inside turns to 0.35 s, so that other labs' detectors agree on the units",
        ),
    ),
    presets={
        "m3": Preset(
            values={
                "lead_s": [0.3, 0.8],
                "tail_s": [10.0, 12.0],
                "room": "quiet_room@1",
                "noise_floor_dbov": [-72.0, -62.0],
                "pairs": [8, 14],
                "timing_profile": "shared-shift-v1",
                "barge_in_rate": 0.42,
                "cut_off_rate": 0.05,
                "backchannel_rate": 0.25,
                "hold_rate": 0.3,
                "hold_s": [0.65, 1.2],
                "guard_bands": True,
            },
            fdb_relation="own",
            note="barge-ins beside shifts as in M3-DuplexBench's MT-QA (380 beside 529); all other numbers: "
            "our choice",
        ),
    },
    plan=plan,
    annotate=annotate,
    roles=("user", "system"),
)
