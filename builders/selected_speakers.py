"""Which speakers belong to which split, where a selection keeps them apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from .. import RecipeError
from ..scenarios.wanted_splits import SplitWish, WantedSplits
from .candidates import Candidate, Selection
from .quality import VALUES
from .seeds import share


def speakers_of_splits(
    candidates: Sequence[Candidate], wanted: WantedSplits, seed: int
) -> dict[str, frozenset[str]]:
    """Return which speakers belong to which split, drawn so that samples lose as few companions as can be.

    Speakers that are heard together in a sample are kept together where that is possible: a split takes the
    speaker first with whom most samples stay whole; where it takes the best samples, among equals the one whose
    samples are the best.
    """
    everybody = sorted({speaker for sample in candidates for speaker in sample.speakers})
    asked = speakers_asked(wanted, everybody)
    free = set(everybody)
    chosen: dict[str, frozenset[str]] = {}
    for wish in wanted.wishes:
        own: set[str] = set()
        while len(own) < asked[wish.split]:
            own.add(min(free - own, key=lambda s: _cost_of(s, own, candidates, wish, seed)))
        chosen[wish.split] = frozenset(own)
        free -= own
    chosen[wanted.rest] = frozenset(free)
    return chosen


def speakers_asked(wanted: WantedSplits, everybody: Sequence[str]) -> dict[str, int]:
    """Return how many speakers each wish asks for.

    Raises
    ------
    RecipeError
        If they leave nobody for the rest.
    """
    asked = {wish.split: _n_speakers(wish, everybody) for wish in wanted.wishes}
    if sum(asked.values()) >= len(everybody):
        raise RecipeError(
            f"splits: asked for {', '.join(f'{n} {split}' for split, n in asked.items())} speakers and some for "
            f"{wanted.rest}, but there are only {len(everybody)}: {', '.join(everybody)}; ask for fewer, or build "
            f"with more voices"
        )
    return asked


def _n_speakers(wish: SplitWish, everybody: Sequence[str]) -> int:
    if wish.speakers is not None:
        return wish.speakers
    return max(1, round((wish.fraction or 0.2) * len(everybody)))


def _cost_of(
    speaker: str, own: set[str], candidates: Sequence[Candidate], wish: SplitWish, seed: int
) -> tuple[float, float, float]:
    """Return how many samples would be torn if the speaker joined, less those of company that are whole; ties by hash.

    Then the mean of the samples that become whole counts, the best first; without a measure their number.
    """
    together = own | {speaker}
    torn = sum(1 for s in candidates if s.speakers & together and not s.speakers <= together)
    whole = [s for s in candidates if s.speakers <= together]
    chance = share(seed, speaker, f"speakers/{wish.split}")
    if not wish.measure:
        return torn - len(whole), -len(whole), chance
    torn -= sum(len(s.speakers) > 1 for s in whole)
    values = [v for s in whole if speaker in s.speakers and (v := s.values.get(wish.measure)) is not None]
    if not values:
        return torn, float("inf"), chance
    mean = sum(values) / len(values)
    return torn, mean if VALUES[wish.measure][1].better == "low" else -mean, chance


def speakers_apart(candidates: Sequence[Candidate], selection: Selection) -> dict[str, str]:
    """Return how far apart the speakers of the splits came out, by language, in the words of `Company.disjoint`.

    Only languages with several splits are there.
    """
    heard: dict[tuple[str, str], set[str]] = {}
    for candidate in candidates:
        if candidate.id in selection.splits:
            place = candidate.language, selection.splits[candidate.id]
            heard[place] = heard.get(place, set()) | candidate.speakers

    def are_apart(places: Iterable[tuple[str, str]]) -> bool:
        return not any(a[1] != b[1] and heard[a] & heard[b] for a, b in combinations(places, 2))

    everywhere = are_apart(heard)
    found = {}
    for language in dict.fromkeys(language for language, _ in heard):
        own = [place for place in heard if place[0] == language]
        if len(own) > 1:
            found[language] = "all languages" if everywhere else "this language" if are_apart(own) else "no"
    return found
