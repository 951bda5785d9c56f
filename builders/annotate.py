"""Recorded conversations to a dataset folder: excerpts, labels, rows, and what a reviewer decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import ReleaseError
from ..scenarios.fdb_selection import Excluded
from ..scenarios.recipe import Checks
from .corpora.conversation import Conversation, load_audio
from .corpora.excerpt import RATE_HZ, Cut, Excerpt, cut, excerpts
from .corpora.icc import Listened
from .corpora.speech import SpanS, speech_by_channel
from .listened_row import listened_row
from .out_folder import fresh, put_in_place, refuse_taken
from .recorded_row import About, recorded_row
from .review.decisions import Decisions, decide
from .review.page import ReviewItem
from .write import manifest, write_split


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is made of the recordings. It is the recipe of such a dataset, decisions included."""

    name: str
    version: str
    language: str
    corpus: str
    licence: str
    attribution: str
    selection: str
    user_channel: int
    has_audio: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One excerpt with its sound and what belongs to it."""

    excerpt: Excerpt
    conversation: Conversation
    speech: tuple[tuple[SpanS, ...], tuple[SpanS, ...]]
    sound: Cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """What came out: rows, seconds, what the rules left out and what the reviewer rejected, each with the reason."""

    folder: Path
    n_rows: int
    seconds: float
    excluded: tuple[tuple[str, Excluded], ...]
    rejected: dict[str, str]


def find_excerpts(
    conversations: Iterable[Conversation], wanted: Wanted, leave_out: Callable[[str, Excluded], None]
) -> Iterator[Found]:
    """Yield the excerpts of the conversations; one recording is in memory at a time.

    Parameters
    ----------
    conversations
    wanted
    leave_out
        Told of each stretch that the rules leave out, with the conversation's id.
    """
    for conversation in conversations:
        channels, rate = load_audio(conversation)
        speech = speech_by_channel(conversation, channels, sample_rate_hz=rate)
        taken, excluded = excerpts(
            conversation,
            speech,
            channels.shape[1] / rate,
            selection=wanted.selection,
            user_channel=wanted.user_channel,
        )
        for stretch in excluded:
            leave_out(conversation.id, stretch)
        for excerpt in taken:
            yield Found(
                excerpt=excerpt,
                conversation=conversation,
                speech=speech,
                sound=cut(excerpt, channels, sample_rate_hz=rate),
            )


def review_items(found: Iterable[Found]) -> Iterator[ReviewItem]:
    """Yield the excerpts as the review page shows them."""
    for each in found:
        e = each.excerpt
        yield ReviewItem(
            id=e.id,
            sha256=each.sound.sha256,
            user=each.sound.user,
            system=each.sound.system,
            sample_rate_hz=RATE_HZ,
            marks_s=tuple((a - e.start_s, b - e.start_s) for a, b in e.pauses),
            text=" / ".join(
                s.text for s in each.conversation.spoken if e.start_s <= s.onset_s < e.end_s + e.appended_s
            ),
        )


def annotate(
    read: Callable[[], Iterable[Conversation]],
    wanted: Wanted,
    out: Path,
    *,
    decisions: Decisions | None = None,
    overwrite: bool = False,
    describe: Callable[[Path], object],
) -> Annotated:
    """Write a dataset folder of the conversations that `read` gives (it is called twice where there are decisions).

    `describe` writes its card before it gets its name.

    Raises
    ------
    ReleaseError
        If `out` exists, or nothing is left to write.
    RecipeError
        If decisions do not fit the excerpts.
    """
    refuse_taken(out, overwrite=overwrite)
    excluded: list[tuple[str, Excluded]] = []
    rejected: dict[str, str] = {}
    if decisions is not None:
        heard = {f.excerpt.id: f.sound.sha256 for f in find_excerpts(read(), wanted, lambda *_: None)}
        rejected = decide(decisions, heard)
    recipe = _recipe(wanted, decisions, rejected)
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    about = _about(wanted, digest)

    def rows() -> Iterator[dict[str, Any]]:
        for found in find_excerpts(read(), wanted, lambda name, s: excluded.append((name, s))):
            if found.excerpt.id not in rejected:
                yield recorded_row(found.excerpt, found.conversation, found.speech, found.sound, about)

    n_rows, seconds = _write(out, rows(), recipe, digest, rejected, describe)
    return Annotated(folder=out, n_rows=n_rows, seconds=seconds, excluded=tuple(excluded), rejected=rejected)


def annotate_listened(
    read: Iterable[Listened],
    wanted: Wanted,
    out: Path,
    *,
    overwrite: bool = False,
    describe: Callable[[Path], object],
) -> Annotated:
    """Write a dataset folder of what people listened to, with Q from their responses; errors as `annotate`."""
    refuse_taken(out, overwrite=overwrite)
    recipe = _recipe(wanted, None, {})
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    about = _about(wanted, digest)
    rows = (listened_row(each, about) for each in read)
    n_rows, seconds = _write(out, rows, recipe, digest, {}, describe)
    return Annotated(folder=out, n_rows=n_rows, seconds=seconds, excluded=(), rejected={})


def _about(wanted: Wanted, digest: str) -> About:
    return About(
        language=wanted.language,
        licence=wanted.licence,
        attribution=wanted.attribution,
        recipe_digest=digest,
        has_audio=wanted.has_audio,
    )


def _write(
    out: Path,
    rows: Iterator[dict[str, Any]],
    recipe: dict[str, Any],
    digest: str,
    rejected: dict[str, str],
    describe: Callable[[Path], object],
) -> tuple[int, float]:
    """Write the rows beside `out` and rename; return how many there are and how long they last in seconds."""
    ids: set[str] = set()
    seconds = 0.0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal seconds
        for row in rows:
            if row["id"] in ids:
                raise ReleaseError(f"{row['id']} stands twice; conversations need names of their own")
            ids.add(row["id"])
            seconds += row["duration_s"]
            yield row

    (entry,) = recipe["entries"]
    with fresh(out) as partial:
        beside = partial / "dataset"
        beside.mkdir()
        place = beside / entry["scenario"] / recipe["languages"][0]
        shards = write_split(place, "test", counted(), RATE_HZ)
        if not shards:
            raise ReleaseError(
                f"{entry['values']['corpus']}: nothing is left for {entry['scenario']}: the rules or the "
                f"reviewer leave all out; look at the reasons with --review"
            )
        _finish(beside, shards, recipe, digest, rejected)
        describe(beside)
        put_in_place(beside, out)
    return len(ids), seconds


def _recipe(wanted: Wanted, decisions: Decisions | None, rejected: dict[str, str]) -> dict[str, Any]:
    """Return the recipe as the manifest holds it: the keys of every recipe, and what is this one's own."""
    relation = "same-rule" if wanted.selection in ("pause_handling", "smooth_turn_taking") else "own"
    return {
        "name": wanted.name,
        "version": wanted.version,
        "description": f"Excerpts of recorded conversations ({wanted.corpus}), labelled by rule.",
        "seed": 0,
        "languages": [wanted.language],
        "sample_rate_hz": RATE_HZ,
        "licence": wanted.licence,
        "checks": asdict(Checks()),
        "entries": [
            {
                "scenario": wanted.selection,
                "preset": "recorded",
                "fdb_relation": relation,
                "count": None,
                "languages": [wanted.language],
                "splits": {"test": 1.0},
                "tags": [],
                "values": {
                    "corpus": wanted.corpus,
                    "user_channel": wanted.user_channel,
                    "has_audio": wanted.has_audio,
                },
            }
        ],
        "review": None
        if decisions is None
        else {
            "sha256": decisions.sha256,
            "kept": sorted(name for name, d in decisions.by_id.items() if d.keep),
            "rejected": dict(sorted(rejected.items())),
        },
    }


def _finish(
    folder: Path, shards: list[Path], recipe: dict[str, Any], digest: str, rejected: dict[str, str]
) -> None:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    (entry,) = recipe["entries"]
    config = f"{entry['scenario']}-{recipe['languages'][0]}"
    facts = {}
    for shard in shards:
        durations = pq.read_table(shard, columns=["duration_s"])["duration_s"]
        facts[shard.relative_to(folder).as_posix()] = {
            "config": config,
            "split": "test",
            "rows": len(durations),
            "seconds": pc.sum(durations).as_py(),
        }
    lines = [
        json.dumps({"id": name, "reason": reason}, ensure_ascii=False) for name, reason in rejected.items()
    ]
    (folder / "review-rejects.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    described = manifest(folder, recipe=recipe, recipe_digest=digest, shards=facts, n_rejected=len(rejected))
    (folder / "manifest.json").write_text(
        json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
