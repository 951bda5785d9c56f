"""The recorded speaker: a user's own clips, found by what is said and who says it."""

from __future__ import annotations

import difflib
import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import AudioError, RecipeError, SpeechError
from ...acoustics.sound_file import read_sound
from ...scenarios.conversation import Voice
from ...scenarios.fields import NameField, by_name
from ...scenarios.reason import reason_of
from . import Clip, ClipWord, SpeechRequest
from .align import aligner_from, check_words, with_word_times
from .options import WHERE, read_options, sets_of, speaks
from .recordings import Recording, from_dataset, from_folder
from .text_key import text_key

REVISION = 2

_FIELDS = by_name(
    NameField(name="clips_dir", meaning="folder with metadata.jsonl or .csv and the sound files"),
    NameField(name="dataset", meaning="Hugging Face dataset, instead of clips_dir"),
    NameField(name="config", meaning="of the dataset"),
    NameField(name="split", meaning="of the dataset"),
    NameField(name="revision", meaning="of the dataset: a tag or commit"),
    NameField(name="text_column", meaning="what is said"),
    NameField(name="audio_column", meaning="the sound file"),
    NameField(name="speaker_column", meaning="who speaks: becomes the voice"),
    NameField(name="language", meaning="language tag of rows without a column 'language'"),
    NameField(name="licence", meaning="SPDX id of the recordings"),
    NameField(name="attribution", meaning="who is to be named"),
    NameField(name="aligner", meaning="how word times are found where the table has none: docs/engines.md"),
)


class Recorded:
    """The engine. Several takes of a text by one speaker are chosen from by the request's seed.

    Parameters
    ----------
    cache_dir : Path
        Not used.
    options : mapping
        ``clips_dir`` or ``dataset``, ``licence`` and ``language`` are required: docs/engines.md.
    """

    engine = "recorded"
    uses_seed = True
    takes_speed = False

    def __init__(self, cache_dir: Path, options: Mapping[str, Any]) -> None:
        values = read_options(options, fields=_FIELDS, engine=self.engine, required=("licence", "language"))
        self.licence: str = values["licence"]
        self._attribution: str = values.get("attribution", "")
        self._aligner = aligner_from(values.get("aligner", "auto"))
        recordings = _load(values)
        if not recordings:
            raise RecipeError(
                f"{WHERE}: there are no recordings in {values.get('clips_dir', values.get('dataset'))}"
            )
        self._takes: dict[tuple[str, str], list[Recording]] = {}
        for recording in recordings:
            self._takes.setdefault((recording.speaker, text_key(recording.text)), []).append(recording)
        self._voices = self._make_voices(recordings)
        self.version = f"clips={_digest(recordings)} revision={REVISION} {self._aligner.version}"

    def _make_voices(self, recordings: list[Recording]) -> dict[str, Voice]:
        voices: dict[str, Voice] = {}
        for name in dict.fromkeys(r.speaker for r in recordings):
            own = [r for r in recordings if r.speaker == name]
            voices[name] = Voice(
                id=name,
                engine=self.engine,
                languages=tuple(dict.fromkeys(r.language for r in own)),
                gender=own[0].gender,
                age=own[0].age,
                accent=own[0].accent,
                licence=self.licence,
                attribution=self._attribution,
                mix=((f"recorded:{name}", 1.0),),
            )
        return voices

    def voices(self) -> dict[str, Voice]:
        """Return the speakers of the recordings by name."""
        return dict(self._voices)

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return all speakers of each language (``default``), and those of each gender."""
        return sets_of(self._voices)

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the recording of the text by the voice, as it is in its file.

        Raises
        ------
        SpeechError
            If there is none, or there are several spellings of the same words and none as asked, another speed
            than 1 is asked for, or the file is not one channel of sound.
        """
        if request.voice.id not in self._voices:
            raise SpeechError(
                f"nobody named {request.voice.id!r} was recorded; {', '.join(self._voices)} were"
            )
        alike = self._takes.get((request.voice.id, text_key(request.text)), [])
        alike = [take for take in alike if speaks((take.language,), request.language)]
        if not alike:
            raise SpeechError(self._not_found(request))
        takes = _of_one_text(alike, request.text)
        if abs(request.speed - 1.0) > 1e-9:
            raise SpeechError(
                f"speed {request.speed} of {request.text!r}: a recording has its own; set speech.speed = 1"
            )
        take = takes[request.seed % len(takes)]
        samples, rate_hz = _decoded(take)
        clip = Clip(samples=samples, sample_rate_hz=rate_hz, words=None, word_time_source="")
        if take.words is None:
            return with_word_times(clip, request, self._aligner)
        words = _placed(take.words, request.text)
        check_words(words, request.text, samples.size / rate_hz, f"the table's words of {request.text!r}")
        return Clip(samples=samples, sample_rate_hz=rate_hz, words=words, word_time_source="recorded")

    def _not_found(self, request: SpeechRequest) -> str:
        key = text_key(request.text)
        others = [speaker for speaker, said in self._takes if said == key and speaker != request.voice.id]
        if others:
            return (
                f"{request.voice.id!r} has no recording of {request.text!r} in {request.language!r}; "
                f"{', '.join(others)} said it: record it, or choose voices by role"
            )
        said = {k: r[0].text for (speaker, k), r in self._takes.items() if speaker == request.voice.id}
        near = difflib.get_close_matches(key, said, n=1, cutoff=0.5)
        hint = f"; nearest: {said[near[0]]!r}" if near else ""
        return f"{request.voice.id!r} has no recording of {request.text!r}{hint}: record it, or take another script"


def _of_one_text(takes: Sequence[Recording], text: str) -> Sequence[Recording]:
    """Return the takes that are spelt as asked ("Right?", not "Right."); where none is, all that are spelt alike.

    Raises
    ------
    SpeechError
        If none is, and they are not.
    """
    alike = [take for take in takes if _spelling(take.text) == _spelling(text)]
    if alike or len({_spelling(take.text) for take in takes}) == 1:
        return alike or takes
    rows = "; ".join(f"{take.where}: {take.text!r}" for take in takes)
    raise SpeechError(
        f"{text!r} by {takes[0].speaker!r} may be any of several recordings of the same words ({rows}): spell it as "
        f"one of them is"
    )


def _spelling(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _digest(recordings: Sequence[Recording]) -> str:
    """Return a digest of all that decides which clip is given for a request, and its word times."""
    said = [(r.sha256, r.speaker, r.language, r.text, r.words) for r in recordings]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _load(values: Mapping[str, Any]) -> list[Recording]:
    columns = {
        "text": values.get("text_column", "text"),
        "audio": values.get("audio_column", "file_name" if "clips_dir" in values else "audio"),
        "speaker": values.get("speaker_column", "speaker"),
    }
    if ("clips_dir" in values) == ("dataset" in values):
        raise RecipeError(f"{WHERE}: engine 'recorded' wants either clips_dir or dataset")
    if "clips_dir" in values:
        return from_folder(Path(values["clips_dir"]), columns, values["language"])
    return from_dataset(
        values["dataset"],
        config=values.get("config"),
        split=values.get("split", "train"),
        revision=values.get("revision"),
        columns=columns,
        language=values["language"],
    )


def _decoded(take: Recording) -> tuple[NDArray[np.float32], int]:
    name = f"the recording of {take.text!r} by {take.speaker!r}"
    try:
        channels, rate_hz = read_sound(take.read(), name=name)
    except (AudioError, OSError) as error:
        raise SpeechError(
            str(error) if isinstance(error, AudioError) else f"{name}: {reason_of(error)}"
        ) from error
    if channels.shape[0] != 1:
        raise SpeechError(f"{name} has {channels.shape[0]} channels; wanted one")
    return channels[0], rate_hz


def _placed(given: tuple[tuple[str, float, float], ...], text: str) -> tuple[ClipWord, ...]:
    """Return the words of a table at their places in the text."""
    words, at = [], 0
    for said, onset_s, offset_s in given:
        start = text.find(said, at)
        if start < 0:
            raise SpeechError(f"the table's word {said!r} does not stand in {text!r} after {text[:at]!r}")
        at = start + len(said)
        words.append(ClipWord(text=said, start_char=start, stop_char=at, onset_s=onset_s, offset_s=offset_s))
    return tuple(words)
