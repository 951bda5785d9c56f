"""The optional effects of the real world that a recipe may ask for, each off unless named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .. import RecipeError
from .fields import Field, NameField, NamesField, Range, RangeField, by_name

if TYPE_CHECKING:
    from .scenario import Entry

COLOURS = ("white", "pink", "brown")
CODECS = ("g711_mulaw", "g711_alaw", "vorbis", "opus", "mp3")

EFFECT_FIELDS: dict[str, Field] = by_name(
    RangeField(
        name="noise_snr_db",
        unit="dB",
        low=-10.0,
        high=60.0,
        meaning="background noise: level of the user's on-axis speech over it; left out: none",
    ),
    NamesField(
        name="noise_colours",
        meaning="what the background noise may be made of; left out: all three, or the folder's recordings",
        known=COLOURS,
    ),
    NameField(
        name="noise_folder", meaning="folder of one-channel .wav recordings of noise, from the working folder"
    ),
    NameField(name="noise_licence", meaning="SPDX id of the folder's recordings; a release needs one"),
    NameField(name="noise_source", meaning="where the folder's recordings are from, and whom to name"),
    RangeField(
        name="microphone_gain_db",
        unit="dB",
        low=-40.0,
        high=30.0,
        meaning="gain of the user's microphone; without a clip level a sample that would clip is rejected",
    ),
    RangeField(
        name="microphone_clip_dbfs",
        unit="dBFS",
        low=-40.0,
        high=-0.1,
        meaning="where the user's microphone clips; left out: it does not",
    ),
    NamesField(
        name="codecs",
        meaning="codec round trip of the user's side, one of these per sample; left out: none",
        known=CODECS,
    ),
)

LEAKAGE_FIELDS: dict[str, Field] = by_name(
    RangeField(
        name="leakage_db",
        unit="dB",
        low=-80.0,
        high=20.0,
        meaning="echo of the system's speech in the user's microphone, re the user's on-axis speech; "
        "left out: none",
    ),
    RangeField(
        name="leakage_delay_s",
        unit="seconds",
        low=0.0,
        high=2.0,
        meaning="from the system's stem to the user's microphone (only with leakage_db)",
    ),
)
"""For scenarios that have a system stem."""

LEAKAGE_DELAY_S = (0.02, 0.25)
"""From a built-in loudspeaker to a wireless one (our choice)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRanges:
    """What the effects of a sample are drawn from; None and empty: no such effect."""

    noise_snr_db: Range | None = None
    noise_colours: tuple[str, ...] = ()
    noise_folder: str = ""
    noise_licence: str = ""
    noise_source: str = ""
    leakage_db: Range | None = None
    leakage_delay_s: Range = LEAKAGE_DELAY_S
    microphone_gain_db: Range | None = None
    microphone_clip_dbfs: Range | None = None
    codecs: tuple[str, ...] = ()


def effects_of(entry: Entry) -> EffectRanges | None:
    """Return what an entry asks of effects; None where it asks for none.

    Raises
    ------
    RecipeError
        A field that says nothing without another, or a folder without recordings.
    """
    known = {**EFFECT_FIELDS, **LEAKAGE_FIELDS}
    given = {name: value for name, value in entry.values.items() if name in known}
    if not given:
        return None
    where = f"scenarios.{entry.scenario}"
    for name, needed in (
        ("noise_colours", "noise_snr_db"),
        ("noise_folder", "noise_snr_db"),
        ("noise_licence", "noise_folder"),
        ("noise_source", "noise_folder"),
        ("leakage_delay_s", "leakage_db"),
    ):
        if name in given and needed not in given:
            value = '"FOLDER"' if needed == "noise_folder" else "[low, high]"
            raise RecipeError(f"{where}.{name}: says nothing without {needed}; give {needed} = {value} too")
    folder = given.get("noise_folder", "")
    if folder and not any(path.suffix.lower() == ".wav" for path in Path(folder).glob("*")):
        raise RecipeError(
            f"{where}.noise_folder = {folder!r}: no .wav file in {Path(folder).resolve()}; "
            "give a folder of recordings, one channel each"
        )
    if "noise_snr_db" in given and not folder:
        given.setdefault("noise_colours", COLOURS)
    return EffectRanges(**given)
