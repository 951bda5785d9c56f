"""What the parts of a dataset ask for, and which licence the whole may go out under."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from .. import ReleaseError


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """The duties of one licence.

    `share_alike` names the family whose terms the whole has to carry ("" = none). `version` orders the
    licences of a family: a later one may follow an earlier one. `hub` is the id of a dataset card's YAML.
    """

    id: str
    name: str
    hub: str
    attribution: bool
    non_commercial: bool = False
    no_derivatives: bool = False
    share_alike: str = ""
    version: float = 0.0


def _creative_commons() -> list[Licence]:
    found = []
    for version in ("2.0", "2.5", "3.0", "4.0"):
        for kind in ("BY", "BY-SA", "BY-NC", "BY-NC-SA", "BY-ND", "BY-NC-ND"):
            found.append(
                Licence(
                    id=f"CC-{kind}-{version}",
                    name=f"Creative Commons {kind} {version}",
                    hub=f"cc-{kind.lower()}-{version}",
                    attribution=True,
                    non_commercial="NC" in kind,
                    no_derivatives="ND" in kind,
                    share_alike=f"CC-{kind}" if "SA" in kind else "",
                    version=float(version),
                )
            )
    return found


LICENCES: dict[str, Licence] = {
    licence.id: licence
    for licence in (
        Licence(id="CC0-1.0", name="Creative Commons Zero 1.0", hub="cc0-1.0", attribution=False),
        Licence(id="PDDL-1.0", name="ODC Public Domain 1.0", hub="pddl", attribution=False),
        Licence(id="ODC-By-1.0", name="ODC Attribution 1.0", hub="odc-by", attribution=True),
        Licence(id="Apache-2.0", name="Apache License 2.0", hub="apache-2.0", attribution=True),
        Licence(id="MIT", name="MIT License", hub="mit", attribution=True),
        Licence(id="BSD-3-Clause", name="BSD 3-Clause", hub="bsd-3-clause", attribution=True),
        *_creative_commons(),
    )
}
"""Every licence that a part or a dataset may name; anything else is refused, because nobody read it."""

RESULTS = (
    "CC0-1.0",
    "CC-BY-4.0",
    "CC-BY-SA-4.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-SA-3.0",
    "CC-BY-NC-SA-4.0",
)
"""What is offered as the licence of a whole, loosest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something a dataset is made of: its kind (weights, voice, text, corpus, noise), name and SPDX expression.

    `attribution` is who is to be named ("" = nobody was given).
    """

    kind: str
    name: str
    licence: str
    attribution: str = ""

    def __str__(self) -> str:
        """Return the part as messages name it."""
        return f"{self.kind} {self.name!r} ({self.licence or 'no licence given'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The loosest licence the whole may have ("" = none), and why not a looser one or none at all."""

    licence: str
    reasons: tuple[str, ...]


def alternatives(expression: str) -> tuple[tuple[Licence, ...], ...]:
    """Return the ways to meet an SPDX expression: one tuple of licences for each choice of its ORs.

    Raises
    ------
    ReleaseError
        If it names a licence that is not in `LICENCES`.

    Examples
    --------
    >>> [[part.id for part in way] for way in alternatives("MIT AND (CC-BY-3.0 OR CC0-1.0)")]
    [['MIT', 'CC-BY-3.0'], ['MIT', 'CC0-1.0']]
    """
    choices = []
    for clause in re.split(r"\s+AND\s+", expression.strip()):
        names = [name.strip(" ()") for name in re.split(r"\s+OR\s+", clause)]
        for name in names:
            if name not in LICENCES:
                raise ReleaseError(
                    f"licence {name!r}: not in cards/licenses.py; name an SPDX id of a licence whose duties "
                    f"are known there ({', '.join(RESULTS)}, Apache-2.0, MIT ...)"
                )
        choices.append([LICENCES[name] for name in names])
    return tuple(product(*choices))


def clash(claim: Licence, duty: Licence) -> str:
    """Return why the whole may not go out under `claim` when a part is under `duty`; "" if it may."""
    if duty.no_derivatives:
        return "allows no derivatives, and a mixed recording is one"
    if duty.share_alike:
        if claim.share_alike != duty.share_alike or claim.version < duty.version:
            return f"wants the whole under {duty.share_alike} {duty.version} or later"
        return ""
    if duty.non_commercial and not claim.non_commercial:
        return "forbids commercial use"
    if duty.attribution and not claim.attribution:
        return "wants its authors named"
    return ""


def problems_of_claim(claim: str, parts: Iterable[Part]) -> tuple[str, ...]:
    """Return why a dataset of `parts` may not go out under `claim`: one line per part, none if it may.

    A claim may be stricter than its parts, never looser: a non-commercial voice cannot go out as CC BY.
    """
    if claim not in LICENCES:
        return (f"licence {claim!r} of the dataset: not in cards/licenses.py",)
    whole = LICENCES[claim]
    if whole.no_derivatives:
        return (f"licence {claim}: users of a dataset cut and mix it, which no-derivatives forbids",)
    found = []
    for part in parts:
        try:
            ways = alternatives(part.licence)
        except ReleaseError as error:
            found.append(f"{part}: {error}")
            continue
        worst = [next((why for duty in way if (why := clash(whole, duty))), "") for way in ways]
        if all(worst):
            found.append(f"{claim} is looser than {part}, which {worst[0]}")
    return tuple(found)


def result_of(parts: Iterable[Part]) -> Verdict:
    """Return the loosest licence that a dataset of `parts` may go out under.

    Licences are only partly ordered: a part under BY-SA and one under BY-NC have no valid result.
    """
    parts = tuple(parts)
    reasons: tuple[str, ...] = ()
    for name in RESULTS:
        problems = problems_of_claim(name, parts)
        if not problems:
            return Verdict(licence=name, reasons=reasons)
        reasons = problems
    blocking = [part for part in parts if _restricts(part)]
    return Verdict(
        licence="",
        reasons=tuple(dict.fromkeys([*(f"no licence fits {part}" for part in blocking), *_unknown(parts)])),
    )


def missing_attributions(parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the parts whose licence wants their authors named, and that name none."""
    found = []
    for part in parts:
        try:
            ways = alternatives(part.licence)
        except ReleaseError:
            continue
        if all(any(duty.attribution for duty in way) for way in ways) and not part.attribution.strip():
            found.append(f"{part}: its licence wants its authors named, and no attribution is given")
    return tuple(found)


def _restricts(part: Part) -> bool:
    try:
        ways = alternatives(part.licence)
    except ReleaseError:
        return False
    return all(any(d.share_alike or d.non_commercial or d.no_derivatives for d in way) for way in ways)


def _unknown(parts: Iterable[Part]) -> list[str]:
    found = []
    for part in parts:
        try:
            alternatives(part.licence)
        except ReleaseError as error:
            found.append(f"{part}: {error}")
    return found
