"""What a variant must speak, and what came out different from the build it started from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..scenarios.markup import shown
from .built import open_built, read_manifest, rows_in
from .jobs import jobs_of
from .make_sample import Outcome
from .said import SAID, ids_of, said_of
from .sayings import Voices, kept_of, planned
from .schema import AUDIO_COLUMNS
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


def differences(base: Path, out: Path) -> dict[str, Any]:
    """Return how the samples of a variant differ from those of its base: per column, how many changed.

    Samples of another language are compared with those of the same scenario, script and take.
    """
    before = dict(_facts_of(base))
    by_script = {_parallel(id_): id_ for id_ in before}
    counts: dict[str, dict[str, int]] = {}
    n_same, n_parallel, new = 0, 0, []
    for id_, facts in _facts_of(out):
        old_id = id_ if id_ in before else by_script.get(_parallel(id_))
        if old_id is None:
            new.append(id_)
            continue
        n_same, n_parallel = n_same + (old_id == id_), n_parallel + (old_id != id_)
        old = before.pop(old_id)
        for column, value in facts.items():
            if value is None and old[column] is None:
                continue
            counted = counts.setdefault(column, {"same": 0, "changed": 0})
            counted["same" if value == old[column] else "changed"] += 1
    return {
        "ids": {"same": n_same, "parallel": n_parallel, "new": new, "missing": sorted(before)},
        "columns": counts,
    }


def _parallel(id_: str) -> tuple[str, ...]:
    scenario, _, script, take = id_.split("/")
    return scenario, script, take


def _facts_of(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and what is compared of each row; sound as the hash of its bytes."""
    for row in rows_in(open_built(folder).shards):
        said = said_of(folder, row["id"])
        sound = {
            column: None if row[column] is None else hashlib.sha256(row[column]["bytes"]).hexdigest()
            for column in AUDIO_COLUMNS
        }
        yield (
            row["id"],
            {
                **sound,
                "texts": [turn["text"] for turn in row["turns"]],
                "intents": [[turn["intent"], turn["role"]] for turn in row["turns"]],
                "voices": [turn["speaker"] for turn in row["turns"]],
                "stems": [turn["stem"] for turn in row["provenance"]["turns"]],
                "speeds": [turn["speed"] for turn in row["provenance"]["turns"]],
                "times": [turn["onset_s"] for turn in row["turns"]],
                "intended": [event["intended_s"] for event in row["events"]],
                "treatment": None if row["treatment"] is None else row["treatment"]["preset"],
                "split": row["split"],
                "tries": None if said is None else list(said.tries),
            },
        )


def write_report(
    variant: Variant, expected: ToSpeak, outcomes: Sequence[Outcome], folder: Path
) -> dict[str, Any]:
    """Write ``variant.json`` into a variant's folder: what was asked, what was spoken, what changed.

    Parameters
    ----------
    variant, expected
        What was asked, and what `to_speak` said of it.
    outcomes
        What became of each sample, in any order.
    folder
        The variant, written but not yet in its place.
    """
    base = variant.base.folder
    manifest = read_manifest(base)
    report = {
        "format": 1,
        "made_by": f"duplexkit {__version__}",
        "base": {
            "name": manifest["recipe"]["name"],
            "version": manifest["recipe"]["version"],
            "recipe_digest": manifest["recipe_digest"],
            f"sha256 of {SAID}": variant.base.digest,
        },
        "asked": {key: {"was": was, "is": now} for key, (was, now) in variant.changed.items()},
        "expected": asdict(expected),
        "utterances": {
            "spoken": sum(outcome.n_spoken for outcome in outcomes),
            "cached": sum(outcome.n_cached for outcome in outcomes),
            "kept": sum(outcome.n_kept for outcome in outcomes),
        },
        "rejected": sorted(outcome.job.id for outcome in outcomes if outcome.rejected),
        **differences(base, folder),
    }
    (folder / "variant.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return report
