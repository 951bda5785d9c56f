"""Whether pauses and listener's places stand where their kind says."""

from __future__ import annotations

from collections.abc import Iterator

from ..markup import Mark
from .problem import Problem
from .reading import ReadScript


def check_pauses(read: ReadScript) -> Iterator[Problem]:
    """Yield what is wrong with the pause marks: number, place, kind."""
    if read.script.scenario == "smooth_turn_taking":
        yield from _one_end(read)
    for index, marked in enumerate(read.marked):
        pauses = marked.places("pause")
        if read.script.scenario == "pause_handling" and not 1 <= len(pauses) <= 3:
            yield Problem(rule="pause", message=f"turn {index}: {len(pauses)} pause marks; wanted 1 to 3")
        for mark in pauses:
            yield from _pause(read, index, mark)


def _pause(read: ReadScript, index: int, mark: Mark) -> Iterator[Problem]:
    text, rules = read.shown[index], read.rules
    before, after = text[: mark.position], text[mark.position :]
    where = f"turn {index}, [pause:{mark.value}] after {before.strip()[-16:]!r}"
    if not before.strip() or not after.strip(" .,?!。、？！"):
        yield Problem(rule="pause", message=f"{where}: it stands at an edge of the turn")
        return
    if mark.value not in ("filler", "digits") and rules.turn_end.search(before):
        yield Problem(rule="pause", message=f"{where}: the turn could end there")
    if mark.value == "filler" and not rules.fillers.search(before):
        yield Problem(rule="pause", message=f"{where}: no filler stands before it")
    if mark.value == "content_word" and rules.not_content.search(after):
        yield Problem(rule="pause", message=f"{where}: no content word follows")
    if mark.value == "list" and not rules.list_before.search(before):
        yield Problem(rule="pause", message=f"{where}: no list is under way")
    if mark.value == "digits" and not (rules.digits.search(before[-24:]) and rules.digits.search(after[:24])):
        yield Problem(rule="pause", message=f"{where}: not inside a number, code or date")


def _one_end(read: ReadScript) -> Iterator[Problem]:
    text = read.shown[0]
    ends = [char for char in text if char in ".?!。？！"]
    if not ends or text.rstrip()[-1] not in ".?!。？！":
        yield Problem(rule="end", message="the turn has no plain end; wanted . ? or !")
    if len(ends) > 2:
        yield Problem(rule="end", message=f"{len(ends)} sentences: a listener could take over between them")
    if any(char in "?？" for char in ends[:-1]):
        yield Problem(rule="end", message="a question stands before the end: a listener could answer there")


def check_places(read: ReadScript) -> Iterator[Problem]:
    """Yield what is wrong with the places of a monologue where a listener might speak."""
    if read.script.scenario != "backchannel":
        return
    text = read.shown[0]
    marks = read.marked[0].places("trp")
    if not 4 <= len(marks) <= 8:
        yield Problem(rule="trp", message=f"{len(marks)} places for a listener; wanted 4 to 8")
    for mark in marks:
        before = text[: mark.position].rstrip()
        if not before or before[-1] not in ".,?!。、？！":
            yield Problem(
                rule="trp", message=f"the place after {before[-12:]!r} is not after a clause's punctuation"
            )
        if not text[mark.position :].strip(" .,?!。、？！"):
            yield Problem(rule="trp", message="a place stands at the very end: there the turn ends")
        if mark.value == "newsmark":
            yield Problem(rule="trp", message="a newsmark invites a reply; a listener's place does not")
