"""Dialogues on their way into the bank: each line before and after a step, and what its checks found."""

from __future__ import annotations

from dataclasses import dataclass

from ...scenarios.conversation import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLine:
    """One turn before and after a step; `findings` is empty when every check passed."""

    turn: int
    role: str
    before: str
    after: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A dialogue after a step, as a script (without an id worth keeping), with its lines side by side."""

    dialogue: str
    script: Script
    lines: tuple[DraftLine, ...]
    findings: tuple[str, ...] = ()
    """What is wrong with the dialogue as a whole."""
