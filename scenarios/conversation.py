"""The nouns of a conversation, without arrays: who, what, when."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .effects import EffectRanges


class Role(StrEnum):
    """Who speaks: the one who talks to the model, the model, or neither."""

    USER = "user"
    SYSTEM = "system"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A voice of a speech engine.

    `mix` gives the parts of a mixed voice with weights that sum to 1 (one part for a native voice); of a part
    only one of `TRAITS` may be taken (``jm_kumo:prosody``). `parents` are what makes two
    voices related for speaker-disjoint splits. `lexicon` says by which lexicon and rules the engine reads texts for it,
    where that is the voice's affair; it decides the sound, `gender`, `accent` and `age` only describe it.
    """

    id: str
    engine: str
    languages: tuple[str, ...]
    gender: str
    accent: str
    licence: str
    attribution: str
    mix: tuple[tuple[str, float], ...]
    age: str = "unknown"
    lexicon: str = ""
    dnsmos: float | None = None

    @property
    def sounds_by(self) -> dict[str, Any]:
        """Return all of a voice that decides how its engine speaks: what a clip's key holds of it."""
        return {"id": self.id, "mix": self.mix, **({"lexicon": self.lexicon} if self.lexicon else {})}

    @property
    def parents(self) -> tuple[str, ...]:
        """Return the names of the parts, each once."""
        return tuple(dict.fromkeys(parent_of(name) for name, _ in self.mix))


TRAITS = ("timbre", "prosody")
"""What a voice may take of a part of its mix, instead of all of it."""


def parent_of(part: str) -> str:
    """Return the name of a part of a mix, without what is taken of it.

    Examples
    --------
    >>> parent_of("jm_kumo:prosody"), parent_of("jm_kumo"), parent_of("recorded:ann")
    ('jm_kumo', 'jm_kumo', 'recorded:ann')
    """
    name, _, trait = part.rpartition(":")
    return name if trait in TRAITS else part


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptTurn:
    """One thing that is said; the keys are those of ``scripts/README.md``."""

    role: Role
    text: str
    intent: str = ""
    function: str = ""
    reference_answer: str = ""
    depends_on: tuple[int, ...] = ()
    dependence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is said and meant in one sample, text only.

    `provenance` says of a script that a model wrote for a user which model, prompt and answer it is from.
    """

    id: str
    scenario: str
    language: str
    turns: tuple[ScriptTurn, ...]
    domain: str
    register: str
    source: str
    licence: str
    addressee: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPause:
    """The intended length of the pause at the next `[pause:…]` mark of a turn's text."""

    kind: str
    length_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a turn starts: at a point of an earlier turn, plus a signed distance.

    `turn` is None for the sample's beginning. `fraction` runs over the earlier turn's speech: 1 is its
    offset; below 1 it lies inside the earlier turn on purpose (a backchannel, a cut-off). An overlap at its
    offset that would swallow either turn is replaced by the first of `others_s` that would not; if none is
    left it is shortened. `place` counts both.
    """

    turn: int | None
    distance_s: float
    fraction: float = 1.0
    others_s: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTurn:
    """A turn with every decision that needs no audio.

    `move` is what the turn does to the floor: ``open`` (nobody spoke before), ``shift``, ``barge_in``,
    ``cut_off``, ``backchannel``, ``side_talk``, ``background_speech``. `max_hush_s` shortens longer silences
    inside the speech that no mark asks for; speech whose length is outside `length_s` is refused by `check`.
    `stop_latency_s` (of a cut_off) is how soon the other speaker
    falls silent.
    """

    name: str
    role: Role
    voice: str
    text: str
    speed: float
    start: Start
    move: str
    pauses: tuple[PlannedPause, ...] = ()
    max_hush_s: float | None = None
    length_s: tuple[float, float] | None = None
    stop_latency_s: float | None = None
    intent: str = ""
    function: str = ""
    reference_answer: str = ""
    depends_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that was meant with one sample, before any sound.

    `tail_s` None: the input ends with the last speech sample. `event_turn` is the turn that is absent from
    `clean_input`; `pause_s` is what a marked pause may measure. `treatment` and `room` name presets of the
    acoustics ("" and "none": no such thing). `sound_seed` is given to samples that share every acoustic draw
    of their script; None: the draws are the sample's own.
    """

    id: str
    scenario: str
    language: str
    take: int
    split: str
    preset: str
    fdb_relation: str
    script: Script
    turns: tuple[PlannedTurn, ...]
    lead_s: float
    tail_s: float | None
    event_turn: int | None = None
    pause_s: tuple[float, float] | None = None
    treatment: str = ""
    target_db: float | None = None
    room: str = "none"
    noise_floor_dbov: float | None = None
    timing_profile: str = ""
    effects: EffectRanges | None = None
    sound_seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word and its span in samples."""

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A pause inside a turn: its measured span in samples, and what was intended."""

    start: int
    stop: int
    kind: str
    intended_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An utterance without its samples; all numbers are sample indices in the clip."""

    n_samples: int
    onset: int
    offset: int
    words: tuple[Word, ...]
    pauses: tuple[Pause, ...]
    places: tuple[tuple[int, str], ...] = ()
    """Where a listener might speak: sample index and function, from the `[trp:…]` marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTurn:
    """A turn on the sample's clock: sample indices, `offset` is after any cut.

    ``clip_start + shape.onset == onset``. `cut` is where a cut-off turn falls silent, `planned_offset` where
    it would have ended, `audible_stop` where its sound ends (after echoes; filled by render).
    """

    clip_start: int
    onset: int
    offset: int
    planned_offset: int
    words: tuple[Word, ...]
    pauses: tuple[Pause, ...]
    places: tuple[tuple[int, str], ...]
    cut: int | None = None
    audible_stop: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Where everything lies, in samples; how many overlaps were drawn again, and how many shortened."""

    sample_rate_hz: int
    n_samples: int
    turns: tuple[PlacedTurn, ...]
    redrawn_overlaps: int = 0
    shortened_overlaps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happens between turns. `onset` and `offset` are sample indices.

    Fields that do not apply to the kind are None (text fields: empty). `turn` is the index of the turn that
    makes the event.
    """

    kind: str
    role: Role
    onset: int
    offset: int
    turn: int | None = None
    intended_s: float | None = None
    pause_kind: str = ""
    fto_s: float | None = None
    intended_fto_s: float | None = None
    token: str = ""
    function: str = ""
    intent: str = ""
    addressee: str = ""
    carries_instruction: bool | None = None
    system_planned_end: int | None = None
    system_stop: int | None = None
    spoken_text: str = ""
    planned_text: str = ""
    audible_end: int | None = None
    q: float | None = None
    q_source: str = ""
    context_start: int | None = None
    input_start: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """What a scenario says of a placed sample: its events and, for monologues, Q over 200 ms windows."""

    events: tuple[Event, ...]
    backchannel_q: tuple[float, ...] | None = None
    q_source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The voices of one sample, by role."""

    voices: dict[Role, str] = field(default_factory=dict)

    def __getitem__(self, role: Role) -> str:
        """Return the id of the voice that plays `role`."""
        return self.voices[role]


def spoken_text(text: str, turn: PlacedTurn) -> str:
    """Return the part of `text` that was spoken: all of it, or up to the last whole word before the cut."""
    if turn.cut is None:
        return text
    position = 0
    for word in turn.words:
        if word.stop > turn.cut:
            break
        position = text.index(word.text, position) + len(word.text)
    return text[:position]
