"""The form of a scenario's scripts: how many turns, whose, and what their keys may say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .conversation import Role, Script, ScriptTurn
from .fields import unknown
from .markup import Mark, parse

_LABELS = ("intent", "function")
"""Keys whose values events and scores go by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnForm:
    """What one turn of a script is: `part` names it, `keys` says which values its other keys may take.

    A key with an empty tuple may hold any text. Keys that are not listed must be left out, those in
    `needed` must be there. `mark` is the kind of mark its text may hold, besides sounds; with `needs_mark`
    at least one.
    """

    part: str
    role: Role
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    mark: str = ""
    needs_mark: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptForm:
    """The turns of a script, and its own keys.

    `turns` come over and over where `n_rounds` allows more than one; how many rounds are good is the linter's
    to say, and what a recipe asks for. `needed` are keys of the script that the linter misses.
    """

    turns: tuple[TurnForm, ...]
    n_rounds: tuple[int, int] = (1, 1)
    tags: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()

    def part(self, index: int) -> TurnForm:
        """Return the form of the turn at `index`."""
        return self.turns[index % len(self.turns)]

    @property
    def repeats(self) -> bool:
        """Return whether the turns may come over and over."""
        return self.n_rounds[1] > 1

    def __str__(self) -> str:
        """Return the turns in words.

        Examples
        --------
        >>> str(ScriptForm(turns=(TurnForm(part="turn", role=Role.USER),)))
        '1 turn: user (turn)'
        """
        turns = ", ".join(f"{turn.role.value} ({turn.part})" for turn in self.turns)
        n = f"{len(self.turns)} turn{'s' * (len(self.turns) > 1)}"
        return f"{n} over and over: {turns}, {turns}, …" if self.repeats else f"{n}: {turns}"


def form_problems(script: Script, form: ScriptForm) -> Iterator[str]:
    """Yield all for which a scenario cannot take a script as it is meant.

    Roles and turns are asked here, what turns depend on, the values that labels are made of, and keys and
    marks that nothing would read. Whether the words serve is the linter's to say.
    """
    wanted = f"{script.scenario} wants {form}"
    for index, turn in enumerate(script.turns):
        part = form.part(index)
        if turn.role is not part.role and (form.repeats or index < len(form.turns)):
            yield (
                f"turn {index}: 'role' = {turn.role.value!r}, wanted {part.role.value!r} ({part.part}); {wanted}"
            )
    if len(script.turns) % len(form.turns) or (not form.repeats and len(script.turns) != len(form.turns)):
        yield f"{len(script.turns)} turn{'s' * (len(script.turns) != 1)}; {wanted}"
    for index, turn in enumerate(script.turns):
        part = form.part(index)
        for wrong in (*_keys(turn, part, index), *_marks(turn, part)):
            yield f"turn {index} ({part.part}): {wrong}"


def _keys(turn: ScriptTurn, form: TurnForm, index: int) -> Iterator[str]:
    for key in ("function", "reference_answer", "depends_on", "dependence"):
        if getattr(turn, key) and key not in form.keys:
            yield f"'{key}' has no place there; leave it out"
    for key in _LABELS:
        value, known = getattr(turn, key), form.keys.get(key, ())
        if value and known and value not in known:
            yield f"'{key}' = {value!r}: {unknown(key, value, known)}"
    for earlier in turn.depends_on:
        if not 0 <= earlier < index:
            yield (
                f"'depends_on' = {list(turn.depends_on)}: {earlier} is no earlier turn; wanted numbers of turns "
                f"before it, counted from 0 (at most {index - 1})"
                if index
                else f"'depends_on' = {list(turn.depends_on)}: nothing comes before the first turn"
            )


def _marks(turn: ScriptTurn, form: TurnForm) -> Iterator[str]:
    marked = parse(turn.text)
    for mark in marked.marks:
        if mark.kind not in (form.mark, "sound"):
            yield f"a [{mark.kind}:{mark.value}] mark has no place there; take it out"
        elif mark.kind != "sound" and not _has_room(mark, marked.text):
            where = "between two words" if mark.kind == "pause" else "after a word"
            yield f"the mark [{mark.kind}:{mark.value}] does not stand {where}"
    if form.needs_mark and not marked.places(form.mark):
        yield f"no [{form.mark}:…] mark; wanted at least one, for without it nothing happens"


def _has_room(mark: Mark, text: str) -> bool:
    before, after = text[: mark.position], text[mark.position :]
    return any(map(str.isalnum, before)) and (mark.kind != "pause" or any(map(str.isalnum, after)))
