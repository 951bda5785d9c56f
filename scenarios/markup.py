"""The marks inside a script's text: pauses, places for a listener, other sounds, readings, phonemes."""

import re
from dataclasses import dataclass

from .. import ScriptError

PAUSE_KINDS = ("clause", "filler", "content_word", "list", "digits")
LISTENER_FUNCTIONS = ("continuer", "agreement", "assessment", "newsmark")
SOUNDS = ("laugh", "breath", "sigh", "cough")
MARK_VALUES = {"pause": PAUSE_KINDS, "trp": LISTENER_FUNCTIONS, "sound": SOUNDS}

_BRACKET = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How ``text[start:stop]`` of a `Marked` is spoken where spelling does not say it.

    `spoken` is kana (or a respelling), or a phoneme string of the engine when `is_phonemes`.
    """

    start: int
    stop: int
    spoken: str
    is_phonemes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark of `kind` ``pause``, ``trp`` or ``sound`` that stands before ``text[position]``."""

    position: int
    kind: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A text as it is shown, with the readings and marks that were written in it."""

    text: str
    readings: tuple[Reading, ...]
    marks: tuple[Mark, ...]

    def places(self, kind: str) -> tuple[Mark, ...]:
        """Return the marks of one kind, in order."""
        return tuple(mark for mark in self.marks if mark.kind == kind)


def parse(text: str) -> Marked:
    """Return `text` without its marks, and the marks.

    Raises
    ------
    ScriptError
        For a bracket that is neither a mark nor a reading, or is not closed, and for two pauses in one place.

    Examples
    --------
    >>> parse("I want [pause:content_word] tea").text
    'I want tea'
    >>> parse("[今日|きょう]は").readings[0].spoken
    'きょう'
    """
    shown = ""
    readings: list[Reading] = []
    marks: list[Mark] = []
    last = 0
    for match in _BRACKET.finditer(text):
        shown += text[last : match.start()]
        last = match.end()
        body = match.group(1)
        if "|" in body:
            surface, _, spoken = body.partition("|")
            phonemes = len(spoken) > 2 and spoken.startswith("/") and spoken.endswith("/")
            if not surface.strip() or not spoken.strip("/").strip() or "|" in spoken:
                raise ScriptError(f"'[{body}]' in {text!r}: a reading is written [shown|spoken]")
            start = len(shown)
            shown += surface
            readings.append(
                Reading(
                    start=start,
                    stop=len(shown),
                    spoken=spoken.strip("/") if phonemes else spoken,
                    is_phonemes=phonemes,
                )
            )
            continue
        kind, _, value = body.partition(":")
        if kind not in MARK_VALUES or value not in MARK_VALUES[kind]:
            wanted = ", ".join(f"[{k}:{v}]" for k, values in MARK_VALUES.items() for v in values)
            raise ScriptError(f"'[{body}]' in {text!r} is no mark; marks are {wanted} and [shown|spoken]")
        if shown.endswith(" ") and text[last : last + 1] == " ":
            last += 1  # the mark stood between two spaces: keep one
        places = [mark.position for mark in marks if mark.kind == "pause"]
        if kind == "pause" and places and not any(map(str.isalnum, shown[places[-1] :])):
            raise ScriptError(f"two pause marks in {text!r} with no word between them; keep one")
        marks.append(Mark(position=len(shown), kind=kind, value=value))
    shown += text[last:]
    if "[" in shown or "]" in shown:
        raise ScriptError(f"a bracket in {text!r} is not closed, or closed without being opened")
    kept = shown.rstrip()
    lead = len(kept) - len(kept.lstrip())
    return Marked(
        text=kept[lead:],
        readings=tuple(
            Reading(start=r.start - lead, stop=r.stop - lead, spoken=r.spoken, is_phonemes=r.is_phonemes)
            for r in readings
        ),
        marks=tuple(
            Mark(position=min(max(m.position - lead, 0), len(kept) - lead), kind=m.kind, value=m.value)
            for m in marks
        ),
    )


def shown(text: str) -> str:
    """Return `text` without its marks."""
    return parse(text).text


def without_pauses(text: str) -> str:
    """Return the marked `text` without its pause marks.

    Examples
    --------
    >>> without_pauses("a [pause:list] b [x|y]")
    'a b [x|y]'
    """
    return re.sub(r"\s*\[pause:[a-z_]+\](\s*)", r"\1", text)
