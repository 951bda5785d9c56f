"""Quality: the one list of measures."""

from __future__ import annotations

from collections.abc import Sequence

from ... import RecipeError
from ...scenarios.fields import unknown
from .active_level import ACTIVE_LEVEL
from .clipping import CLIPPING
from .comet import COMET
from .dnsmos import DIALOGUE_DNSMOS, DNSMOS
from .measure import Measure, Value
from .pitch import PITCH
from .silences import SILENCES
from .similarity import SIMILARITY
from .speaking_rate import SPEAKING_RATE
from .spoken_words import LANGUAGE, SPOKEN_WORDS
from .squim import SQUIM
from .truncation import TRUNCATION
from .utmosv2 import UTMOSV2
from .wer import CER, WER

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        ACTIVE_LEVEL,
        SILENCES,
        CLIPPING,
        TRUNCATION,
        SPEAKING_RATE,
        PITCH,
        DNSMOS,
        DIALOGUE_DNSMOS,
        WER,
        CER,
        SPOKEN_WORDS,
        LANGUAGE,
        SIMILARITY,
        SQUIM,
        UTMOSV2,
        COMET,
    )
}

VALUES: dict[str, tuple[Measure, Value]] = {
    value.name: (measure, value) for measure in MEASURES.values() for value in measure.values
}
"""Every number that may be gated, selected by or reported -> its measure and what it is."""


def measures_named(names: Sequence[str], where: str) -> tuple[Measure, ...]:
    """Return the measures of these names, in the order of the list, each once.

    Raises
    ------
    RecipeError
        For a name that is not known; lists those that are.
    """
    for name in names:
        if name not in MEASURES:
            raise RecipeError(f"{where}: {name!r}: {unknown('measure', name, tuple(MEASURES))}")
    return tuple(measure for measure in MEASURES.values() if measure.name in names)


def require(measures: Sequence[Measure], where: str) -> None:
    """Refuse measures whose packages are not installed.

    Raises
    ------
    RecipeError
        Naming each and the extra that brings it.
    """
    missing = [reason for measure in measures if (reason := measure.missing())]
    if missing:
        raise RecipeError(f"{where}: {'; '.join(missing)}; or leave them out")
