"""Whether the event of an overlap scenario is what its scenario says."""

from __future__ import annotations

from collections.abc import Iterator

from .problem import Problem
from .reading import ReadScript


def check_token(read: ReadScript) -> Iterator[Problem]:
    """Yield what is wrong with a backchannel: long tokens in the fdb set, untagged newsmarks."""
    script, rules = read.script, read.rules
    if script.scenario != "user_backchannel":
        return
    token, turn = read.shown[1], script.turns[1]
    if "fdb" in script.tags:
        words = token.split()
        if len(words) != 1 or any(char in token.strip("。.!！?？") for char in "、, "):
            yield Problem(rule="token", message=f"{token!r} is not one word, and is tagged fdb")
        if read.spoken[1].n_beats > rules.max_token_beats:
            yield Problem(
                rule="token",
                message=f"{token!r} has {read.spoken[1].n_beats} beats; an fdb token has at most "
                f"{rules.max_token_beats} (0.65 s)",
            )
    is_newsmark = turn.function == "newsmark"
    if is_newsmark != ("newsmark" in script.tags):
        yield Problem(rule="token", message=f"{token!r}: function newsmark and tag newsmark go together")
    if rules.newsmark.search(token) and not is_newsmark:
        yield Problem(rule="token", message=f"{token!r} invites a reply: function and tag newsmark")


def check_aside(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem where an aside is something that the assistant would carry out."""
    if read.script.scenario != "talking_to_others":
        return
    found = read.rules.obeyable.search(read.shown[1])
    if found:
        yield Problem(
            rule="aside",
            message=f"{read.shown[1]!r}: {found.group().strip()!r} is a request an assistant would carry out",
        )


def check_background(read: ReadScript) -> Iterator[Problem]:
    """Yield a problem where background speech holds a command without the tag, or the tag without one."""
    script, rules = read.script, read.rules
    if script.scenario != "background_speech":
        return
    tagged = "instruction" in script.tags
    found = rules.obeyable.search(read.shown[1])
    if found and not tagged:
        yield Problem(
            rule="background",
            message=f"{read.shown[1]!r}: {found.group().strip()!r} is a command a model could obey; "
            "tag it instruction, or say something else",
        )
    if tagged and not (found or rules.imperative.search(read.shown[1])):
        yield Problem(
            rule="background", message=f"{read.shown[1]!r} is tagged instruction, and commands nothing"
        )
