"""The laws that a dialogue's gaps are drawn from: a profile's tables, cut to what M3's rule calls them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from .quantile_law import QuantileLaw, cut_law, law_of, quantile
from .scenario import Entry
from .timing import TimingProfile, load_profile, profile_digest, require_variable, table_law
from .timing_laws import PROBABILITIES

SHIFT_OVERLAP_S = 0.40
"""M3: a turn that overlaps the other's end by more than this is no shift but a barge-in."""

BARGE_IN_FROM_S = 0.41
GUARDED_SHIFT_S, GUARDED_BARGE_IN_S = 0.30, 0.50
"""Guard bands: so far from the line that another lab's detector agrees about the side."""

BESIDE_PROFILE = "shared-shift-v1"
"""Gives the tables beside the shifts where the chosen profile has none (corpora rarely tell stop latencies)."""

SAME = "same"
"""As an answer profile: the one that also gives the user's shifts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLaw:
    """A law that is drawn from, and which profile's table it was cut from."""

    table: str
    profile: str
    sha256: str
    law: QuantileLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueLaws:
    """What a dialogue draws from. The first two are gaps (negative = overlap), `barge_in_overlap` is positive.

    `beside` holds the other tables by name; what a profile lacks of them, or of the overlap, comes from
    `BESIDE_PROFILE`.
    """

    system_to_user: DrawnLaw
    user_to_system: DrawnLaw
    barge_in_overlap: DrawnLaw
    beside: dict[str, QuantileLaw]


def dialogue_laws(entry: Entry) -> DialogueLaws:
    """Return the laws an entry of the recipe asks for.

    Raises
    ------
    RecipeError
        If a profile does not exist, counts another variable than turn shifts, or lacks a table.
    """
    return _laws(entry.text("timing_profile"), entry.text("answer_profile"), entry.flag("guard_bands"))


@lru_cache(maxsize=32)
def _laws(name: str, answer_name: str, guarded: bool) -> DialogueLaws:
    profile = load_profile(name)
    answers = profile if answer_name == SAME else load_profile(answer_name)
    for used in (profile, answers):
        require_variable(used, "shift")
    shift_low = -(GUARDED_SHIFT_S if guarded else SHIFT_OVERLAP_S)
    barge_low = GUARDED_BARGE_IN_S if guarded else BARGE_IN_FROM_S
    beside = ("hold", "backchannel_lag", "backchannel_place", "barge_in_onset", "stop_latency")
    return DialogueLaws(
        system_to_user=drawn_law(profile, "system_to_user", low=shift_low),
        user_to_system=drawn_law(answers, "user_to_system", low=shift_low),
        barge_in_overlap=drawn_law(_having("barge_in_overlap", profile), "barge_in_overlap", low=barge_low),
        beside={table: table_law(_having(table, profile), table) for table in beside},
    )


def _having(table: str, profile: TimingProfile) -> TimingProfile:
    return profile if table in profile.tables else load_profile(BESIDE_PROFILE)


def drawn_law(profile: TimingProfile, table: str, *, low: float = -inf, high: float = inf) -> DrawnLaw:
    """Return a profile's table, cut to [low, high] where it reaches beyond, again as 101 quantiles."""
    law = table_law(profile, table)
    if law.values[0] < low or law.values[-1] > high:
        cut = quantile(cut_law(law, low=low, high=high), PROBABILITIES)
        law = law_of(tuple(round(float(value), 4) for value in cut))
    return DrawnLaw(table=table, profile=profile.name, sha256=profile_digest(profile), law=law)


def laws_json(laws: DialogueLaws, sampling: str) -> str:
    """Return what was drawn from, for the row: profile, digest and the quantiles after any cut."""
    drawn = (laws.system_to_user, laws.user_to_system, laws.barge_in_overlap)
    return json.dumps(
        {
            "sampling": sampling,
            **{
                d.table: {"profile": d.profile, "sha256": d.sha256, "quantiles": list(d.law.values)}
                for d in drawn
            },
        }
    )
