"""By what right a voice is in a dataset: stock voices of an engine, or a person who has to have agreed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an engine's voices are. `consent` says whether a release has to state one for each voice."""

    meaning: str
    synthetic: bool
    consent: bool


BASES: dict[str, Basis] = {
    "kokoro": Basis(
        meaning="voices published with the engine, and mixes of them; none was cloned for this dataset",
        synthetic=True,
        consent=False,
    ),
    "hibari": Basis(meaning="the voice published with the engine", synthetic=True, consent=False),
    "chattts": Basis(
        meaning="speakers drawn at random by the engine; none was cloned for this dataset",
        synthetic=True,
        consent=False,
    ),
    "cosyvoice": Basis(
        meaning="voices cloned from reference recordings of persons", synthetic=True, consent=True
    ),
    "openai_speech": Basis(meaning="voices of a speech service", synthetic=True, consent=True),
    "recorded": Basis(meaning="recordings of persons", synthetic=False, consent=True),
}


def basis_of(engine: str) -> Basis:
    """Return the basis of an engine's voices; of an engine from elsewhere a statement is wanted."""
    return BASES.get(
        engine, Basis(meaning="voices of an engine from another package", synthetic=True, consent=True)
    )
