"""What a variant must speak, and what came out different from the build it started from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..scenarios.markup import shown
from .differences import differences
from .jobs import jobs_of
from .make_sample import Outcome
from .said import SAID, ids_of
from .sayings import Voices, kept_of, planned
from .speak import again
from .variant import Variant
from .workshop import Site, workshop


@dataclass(frozen=True, slots=True, kw_only=True)
class ToSpeak:
    """How many utterances there are, where they come from, and how many characters must be spoken.

    Turns that come out too long or too short are asked for again: `spoken` counts the first time. `usd` is
    what the service takes for the characters, where the recipe says its price.
    """

    samples: int
    kept: int
    cached: int
    spoken: int
    characters: int
    usd: float | None


def to_speak(variant: Variant, cache_dir: Path, progress: Callable[[int, int], None]) -> ToSpeak:
    """Return what a variant must speak; nothing is spoken to find out."""
    site = Site(recipe=variant.recipe, cache_dir=cache_dir, partial=Path(), base=variant.base)
    there = set(ids_of(variant.base.folder)) if variant.base.same_ids else None
    jobs = [job for job in jobs_of(variant.recipe) if there is None or job.id in there]
    found = {"kept": 0, "cached": 0, "spoken": 0}
    n_characters = 0
    for n, job in enumerate(jobs, 1):
        plan, kept = planned(site, job), kept_of(site, job)
        tries = (0,) * len(plan.turns)
        if kept is not None and len(kept.tries) == len(plan.turns):
            tries = kept.tries
        voices = Voices(site=site, job=job, kept=kept, count=lambda what: None, note_clip=lambda key: None)
        for i, (turn, n_tries) in enumerate(zip(plan.turns, tries, strict=True)):
            origin = voices.origin(again(turn, n_tries, workshop(site)[0]), i, n_tries)
            found[origin] += 1
            n_characters += len(shown(turn.text)) if origin == "spoken" else 0
        progress(n, len(jobs))
    price = variant.recipe.speech.options.get("usd_per_million_chars")
    usd = None if price is None else n_characters * float(price) / 1e6
    return ToSpeak(samples=len(jobs), characters=n_characters, usd=usd, **found)


def write_report(
    variant: Variant, expected: ToSpeak, outcomes: Sequence[Outcome], folder: Path
) -> dict[str, Any]:
    """Write ``variant.json`` into a variant's folder: what was asked, what was spoken, what came out different.

    Parameters
    ----------
    variant, expected
        What was asked, and what `to_speak` said of it.
    outcomes
        What became of each sample, in any order.
    folder
        The variant, written but not yet in its place.
    """
    base = variant.base
    report = {
        "format": 2,
        "made_by": f"duplexkit {__version__}",
        "variant_of": {**base.variant_of, f"sha256 of {SAID}": base.digest},
        "expected": asdict(expected),
        "utterances": {
            "spoken": sum(outcome.n_spoken for outcome in outcomes),
            "cached": sum(outcome.n_cached for outcome in outcomes),
            "kept": sum(outcome.n_kept for outcome in outcomes),
        },
        "rejected": sorted(outcome.job.id for outcome in outcomes if outcome.rejected),
        **differences(base.folder, folder),
    }
    (folder / "variant.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return report
