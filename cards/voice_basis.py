"""By what right a voice is in a dataset: stock voices of an engine, or a person who has to have agreed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IMPORTED = "imported from "
"""How the engine of a row begins that was taken from a folder of another tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an engine's voices are.

    `origin` is whose speech it is: made by an engine, said by persons, or not known here, which is never
    called synthetic. `consent` says whether a release has to state one for each voice, and `part` what is
    licensed: an engine's weights, or a corpus.
    """

    meaning: str
    origin: Literal["synthetic", "persons", "unknown"]
    consent: bool
    part: Literal["weights", "corpus"] = "weights"


BASES: dict[str, Basis] = {
    "kokoro": Basis(
        meaning="voices published with the engine, and mixes of them; none was cloned for this dataset",
        origin="synthetic",
        consent=False,
    ),
    "hibari": Basis(meaning="the voice published with the engine", origin="synthetic", consent=False),
    "chattts": Basis(
        meaning="speakers drawn at random by the engine; none was cloned for this dataset",
        origin="synthetic",
        consent=False,
    ),
    "cosyvoice": Basis(
        meaning="voices cloned from reference recordings of persons", origin="synthetic", consent=True
    ),
    "openai_speech": Basis(meaning="voices of a speech service", origin="synthetic", consent=True),
    "recorded": Basis(
        meaning="recordings of persons, clip by clip", origin="persons", consent=True, part="corpus"
    ),
    "recording": Basis(
        meaning="recorded conversations of persons", origin="persons", consent=True, part="corpus"
    ),
}


def basis_of(engine: str) -> Basis:
    """Return the basis of an engine's voices; of what comes from elsewhere nothing is taken for granted.

    Examples
    --------
    >>> basis_of("imported from fdb-v1_5").origin, basis_of("an_engine_of_yours").origin
    ('unknown', 'unknown')
    """
    if engine.startswith(IMPORTED):
        return Basis(
            meaning="speech of a folder that was imported; whose it is, the folder does not say",
            origin="unknown",
            consent=True,
            part="corpus",
        )
    return BASES.get(
        engine, Basis(meaning="voices of an engine from another package", origin="unknown", consent=True)
    )
