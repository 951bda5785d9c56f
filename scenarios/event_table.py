"""The one table of truth: what a good model does at each kind of event, and where that is scored."""

from __future__ import annotations

from dataclasses import dataclass

from .conversation import Event, Role

SCORING_WINDOW_S = 10.0
"""Delta: how long after an event the model's behaviour counts (M3-DuplexBench uses the same)."""

SHIFT_LEAD_S = 0.4
"""A taking turn may start this much before the giving turn's end and still be a shift (M3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of event. `window` says which times bound the scoring: see `scoring_window`."""

    name: str
    meaning: str
    if_speaking: str
    if_silent: str
    window: str


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="pause",
            meaning="silence inside a turn that is no turn end; measured on the stem",
            if_speaking="none",
            if_silent="no_takeover",
            window="span",
        ),
        Kind(
            name="shift",
            meaning="the floor changes hands: the giving turn's end and the taking turn's onset "
            "(equal where no reference of the taking turn exists; ordered, the sign is in fto_s)",
            if_speaking="none",
            if_silent="respond",
            window="shift",
        ),
        Kind(
            name="hold",
            meaning="a gap between two turns of one speaker, who goes on",
            if_speaking="none",
            if_silent="no_takeover",
            window="span",
        ),
        Kind(
            name="backchannel",
            meaning="a short listener token that claims no floor",
            if_speaking="keep_talking",
            if_silent="none",
            window="after_onset",
        ),
        Kind(
            name="trp",
            meaning="a place where a listener's backchannel is welcome, with its probability q",
            if_speaking="none",
            if_silent="backchannel_welcome",
            window="span",
        ),
        Kind(
            name="barge_in",
            meaning="the user speaks while the system may be speaking, and means to take the floor",
            if_speaking="stop_and_respond",
            if_silent="respond",
            window="after_offset",
        ),
        Kind(
            name="cut_off",
            meaning="a barge-in deep inside the system's turn, which then really stops",
            if_speaking="stop_and_respond",
            if_silent="respond",
            window="after_offset",
        ),
        Kind(
            name="side_talk",
            meaning="the user speaks to somebody else",
            if_speaking="keep_talking",
            if_silent="no_takeover",
            window="after_offset",
        ),
        Kind(
            name="background_speech",
            meaning="another voice that addresses nobody here",
            if_speaking="keep_talking",
            if_silent="no_takeover",
            window="after_offset",
        ),
    )
}

EXPECTED_VALUES = (
    "respond",
    "stop_and_respond",
    "stop",
    "keep_talking",
    "no_takeover",
    "backchannel_welcome",
    "none",
)


def expected(event: Event) -> tuple[str, str]:
    """Return what a good model does at `event` if it is speaking, and if it is silent.

    Events of the system's own have nothing to expect; an interruption that only says "stop" wants silence.
    """
    kind = KINDS[event.kind]
    if event.kind in ("barge_in", "cut_off") and event.intent == "stop":
        return "stop", "none"
    if event.kind == "shift":
        # the role of a shift is the one that should take the floor
        return ("none", "respond") if event.role is Role.SYSTEM else ("none", "none")
    if event.role is Role.SYSTEM:
        return "none", "none"
    return kind.if_speaking, kind.if_silent


def scoring_window(event: Event, sample_rate_hz: int) -> tuple[int, int]:
    """Return the samples between which a model's behaviour at `event` counts."""
    delta = round(SCORING_WINDOW_S * sample_rate_hz)
    match KINDS[event.kind].window:
        case "shift":
            return max(0, event.onset - round(SHIFT_LEAD_S * sample_rate_hz)), event.onset + delta
        case "after_onset":
            return event.onset, event.onset + delta
        case "after_offset":
            return event.onset, event.offset + delta
        case _:
            return event.onset, event.offset
