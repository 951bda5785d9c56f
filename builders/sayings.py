"""What the samples of a build say: planned with their voices, then taken from before, the cache or the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..scenarios.conversation import Plan, PlannedTurn
from .jobs import Job, plan_of
from .said import Said, from_json, said_of, to_json, utterance_key
from .said_speech import played_before
from .sample import Sample, Utterance
from .seeds import rng_for
from .speak import request_of, speak_turn
from .speakers import varies_by_seed
from .speech_cache import entry_path, request_key
from .workshop import Site, workshop


def planned(site: Site, job: Job) -> Plan:
    """Return the plan of a sample, with the voices that may be heard in its split."""
    pools = workshop(site)[1].pools[job.split]
    base = site.base
    before = None if base is None else said_of(base.folder, job.id)
    if base is None or before is None:
        return plan_of(site.recipe, job, pools)
    return plan_of(
        site.recipe,
        job,
        pools,
        voices=before.voices if base.same_speech else None,
        other_than=played_before(base.folder, before) if base.other_voices else None,
    )


def kept_of(site: Site, job: Job) -> Said | None:
    """Return what an earlier build said in a sample, where that is to stay."""
    if site.base is None or not site.base.same_speech:
        return None
    return said_of(site.base.folder, job.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """Where the utterances of a sample come from: an earlier build, the cache, or the engine."""

    site: Site
    job: Job
    kept: Said | None
    count: Callable[[str], None]
    note_clip: Callable[[str], Any]

    def say(self, turn: PlannedTurn, i: int, n_tries: int) -> Utterance:
        """Return turn `i`, which was tried `n_tries` times before."""
        asked = asked_of(self.site, self.job, turn, i, n_tries)
        line = self._line(turn, i, asked)
        if line is not None and self.site.base is not None:
            self.count("kept")
            return from_json(line, self.site.base.folder)
        return speak_turn(
            turn,
            speaker=workshop(self.site)[0],
            cache_dir=self.site.cache_dir,
            count=self.count,
            note_clip=self.note_clip,
            **asked,
        )

    def origin(self, turn: PlannedTurn, i: int, n_tries: int) -> str:
        """Return where `say` would have the turn from: ``kept``, ``cached`` or ``spoken``."""
        asked = asked_of(self.site, self.job, turn, i, n_tries)
        if self._line(turn, i, asked) is not None:
            return "kept"
        speaker = workshop(self.site)[0]
        request = request_of(turn, language=asked["language"], voice=asked["voice"], seed=asked["seed"])
        path = entry_path(self.site.cache_dir, speaker.engine, request_key(speaker, request))
        return "cached" if path.is_file() else "spoken"

    def _line(self, turn: PlannedTurn, i: int, asked: dict[str, Any]) -> Mapping[str, Any] | None:
        """Return what the earlier build said in this turn, if it is what is asked."""
        if self.kept is None or i >= len(self.kept.turns):
            return None
        line = self.kept.turns[i]
        return line if line["key"] == utterance_key(turn, speaker=workshop(self.site)[0], **asked) else None


def asked_of(site: Site, job: Job, turn: PlannedTurn, i: int, n_tries: int) -> dict[str, Any]:
    """Return what decides an utterance besides its turn."""
    speaker = workshop(site)[0]
    drawn = int(rng_for(site.recipe.seed, job.id, f"speech/{n_tries}/{i}").integers(2**31))
    only_asked_again = varies_by_seed(speaker) and not speaker.uses_seed
    return {
        "language": job.language,
        "voice": speaker.voices()[turn.voice],
        "seed": n_tries if only_asked_again else drawn,  # the first clip of a text serves all samples
        "sample_rate_hz": site.recipe.sample_rate_hz,
    }


def record_of(
    site: Site,
    job: Job,
    plan: Plan,
    sample: Sample,
    tries: tuple[int, ...],
    clips: dict[str, None],
    kept: Said | None,
) -> Said:
    """Return the record of what a finished sample says."""
    speaker, _, _ = workshop(site)
    return Said(
        id=job.id,
        split=job.split,
        tries=tries,
        cast={turn.role.value: turn.voice for turn in plan.turns},
        turns=tuple(
            to_json(u, utterance_key(turn, speaker=speaker, **asked_of(site, job, turn, i, tries[i])))
            for i, (turn, u) in enumerate(zip(sample.plan.turns, sample.utterances, strict=True))
        ),
        clips=tuple(
            dict.fromkeys((*(kept.clips if kept else ()), *(f"{speaker.engine}/{c}" for c in clips)))
        ),
    )
