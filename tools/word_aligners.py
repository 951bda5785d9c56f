"""Forced aligners that need no download: where each one hears the words of a clip begin.

pocketsphinx (English), hama (English) and snfa (Japanese) bring their models in their wheels; viter trains its own,
on the clips themselves. Pronunciations are CMUdict's, which pocketsphinx ships, and OpenJTalk's. None of them knows
anything of Kokoro's times. An aligner gives the onsets in seconds by the words' first characters, or None where
it has no pronunciation of a word, or finds no path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000

Samples = NDArray[np.float32]
Align = Callable[[str, Samples, int], dict[int, float] | None]
"""``align(text, samples, rate)``; `samples` has shape (n,)."""

IPA = {
    "AA": "ɑ ɔ ɒ", "AE": "æ", "AH": "ə ʌ", "AO": "ɔ ɑ", "AW": "aʊ", "AY": "aɪ", "B": "b", "CH": "t͡ʃ", "D": "d",
    "DH": "ð", "EH": "ɛ", "ER": "ɝ ɚ ə", "EY": "eɪ", "F": "f", "G": "ɡ", "HH": "h", "IH": "ɪ ə", "IY": "i ɪ",
    "JH": "d͡ʒ", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "ŋ", "OW": "oʊ o", "OY": "ɔɪ", "P": "p", "R": "ɹ",
    "S": "s", "SH": "ʃ", "T": "t", "TH": "θ", "UH": "ʊ", "UW": "u ʊ", "V": "v", "W": "w", "Y": "j", "Z": "z s",
    "ZH": "ʒ",
}  # fmt: skip
"""CMUdict's phoneme -> the symbols that hama writes for it; the likelier one counts in each frame."""


def english_words(text: str) -> dict[int, str]:
    """Return the words as the dictionary spells them, by their first characters."""
    return {m.start(): m.group().lower() for m in re.finditer(r"[A-Za-z']*[A-Za-z]", text)}


@cache
def pronunciations() -> dict[str, list[list[str]]]:
    """Return CMUdict: word -> its pronunciations."""
    path = Path(import_module("pocketsphinx").__file__ or "").parent / "model/en-us/cmudict-en-us.dict"
    out: dict[str, list[list[str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *phonemes = line.split()
        out.setdefault(re.sub(r"\(\d+\)$", "", word), []).append(phonemes)
    return out


def at_rate(samples: Samples, rate: int) -> Samples:
    """Return the clip at 16 kHz, within full scale."""
    resampled = import_module("soxr").resample(samples, rate, RATE_HZ)
    return np.asarray(resampled / max(1.0, float(np.abs(resampled).max())), dtype=np.float32)


def sphinx_onsets_s(text: str, samples: Samples, rate: int) -> dict[int, float] | None:
    """Return the onsets by pocketsphinx: Gaussian mixtures on 10 ms frames."""
    words = english_words(text)
    if not set(words.values()) <= pronunciations().keys():
        return None
    decoder = import_module("pocketsphinx").Decoder(lm=None, loglevel="FATAL")
    decoder.set_align_text(" ".join(words.values()))
    decoder.start_utt()
    decoder.process_raw((at_rate(samples, rate) * 32_000).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()
    found = [s for s in decoder.seg() or () if s.word[0] not in "<["]
    if [re.sub(r"\(\d+\)$", "", s.word) for s in found] != list(words.values()):
        return None
    return {char: s.start_frame / 100 for char, s in zip(words, found, strict=True)}


@cache
def _hama() -> Any:
    return import_module("hama.asr").ASRModel()


def ctc_onsets_s(text: str, samples: Samples, rate: int) -> dict[int, float] | None:
    """Return the onsets by hama, a neural phoneme recogniser trained with CTC, on 20 ms frames.

    hama itself only recognises. Here the best path through the text's phonemes is found in its outputs; a word
    begins in the first frame that says its first phoneme. Such models speak late, and by about the same time.
    """
    words = english_words(text)
    if not set(words.values()) <= pronunciations().keys():
        return None
    model = _hama()
    sound = at_rate(samples, rate)
    log_probs, _ = model.session.run(
        [model._log_probs_output_name, model._out_lengths_output_name],
        {
            model._waveform_input_name: sound.reshape(1, -1),
            model._waveform_lengths_input_name: np.array([sound.size], dtype=np.int64),
        },
    )
    graph = _Graph(list(words.values()), model.decoder_tokens)
    path = graph.best_path(np.asarray(log_probs[0]))
    hop_s = import_module("hama.asr").ASR_OUTPUT_FRAME_SAMPLES / RATE_HZ
    onsets = [np.flatnonzero(np.isin(path, firsts)) for firsts in graph.firsts]
    return {char: float(at[0]) * hop_s for char, at in zip(words, onsets, strict=True)}


class _Graph:
    """What may be said frame by frame: the words in order, each in one of its pronunciations, with CTC's blanks.

    A state has the tokens that it may emit and the states that it may come from (itself always). `firsts` has
    the states of each word's first phoneme.
    """

    def __init__(self, words: list[str], tokens: list[str]) -> None:
        ids = {token: k for k, token in enumerate(tokens)}
        self._blank, self._boundary = [ids["<blank>"]], [ids["<wb>"]]
        self._ids = {name: [ids[symbol] for symbol in symbols.split()] for name, symbols in IPA.items()}
        self.emits: list[list[int]] = []
        self.sources: list[list[int]] = []
        self.firsts: list[list[int]] = []
        self.starts = [self._add(self._blank, [])]
        before = list(self.starts)
        for k, word in enumerate(words):
            self.firsts.append([])
            after = [end for said in pronunciations()[word] for end in self._chain(said, before)]
            if k == 0:
                self.starts += self.firsts[0]
            boundary = self._add(self._boundary, after)
            before = [boundary, self._add(self._blank, [boundary])]
            self.ends = after

    def _add(self, emits: list[int], sources: list[int]) -> int:
        self.emits.append(emits)
        self.sources.append([len(self.sources), *sources])
        return len(self.sources) - 1

    def _chain(self, said: list[str], before: list[int]) -> list[int]:
        """Add one pronunciation; between equal phonemes a blank must stand, elsewhere one may."""
        for k, phoneme in enumerate(said):
            emits = self._ids[phoneme]
            state = self._add(emits, before)
            if k == 0:
                self.firsts[-1].append(state)
            blank = self._add(self._blank, [state])
            repeats = k + 1 < len(said) and bool(set(self._ids[said[k + 1]]) & set(emits))
            before = [blank] if repeats else [blank, state]
        return before

    def best_path(self, log_probs: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the state of each frame on the likeliest way from a start to an end (Viterbi's algorithm).

        Parameters
        ----------
        log_probs : ndarray of shape (frames, tokens)
        """
        n_states, n_frames = len(self.emits), len(log_probs)
        sources = np.full((n_states, max(map(len, self.sources))), n_states)
        for state, froms in enumerate(self.sources):
            sources[state, : len(froms)] = froms
        emitted = np.stack([log_probs[:, tokens].max(axis=1) for tokens in self.emits], axis=1)
        score = np.full(n_states + 1, -np.inf)  # the last one is no state
        score[self.starts] = emitted[0, self.starts]
        came_from = np.zeros((n_frames, n_states), dtype=np.int64)
        for frame in range(1, n_frames):
            best = score[sources].argmax(axis=1)
            came_from[frame] = sources[np.arange(n_states), best]
            score[:-1] = score[came_from[frame]] + emitted[frame]
        path = [max(self.ends, key=lambda state: score[state])]
        for frame in range(n_frames - 1, 0, -1):
            path.append(int(came_from[frame, path[-1]]))
        return np.array(path[::-1])


def japanese_morphemes(text: str) -> dict[int, list[str]]:
    """Return the phonemes of OpenJTalk's morphemes and pauses, by their first characters."""
    entries = import_module("pyopenjtalk").g2p_mapping(text)
    # the alphabet of the aligners has no voiceless vowels, and one ん
    return {e["char_span"][0]: [p.lower() for p in e["phonemes"]] for e in entries if e["phonemes"]}


@cache
def _snfa() -> Any:
    return import_module("snfa").Aligner()


def snfa_onsets_s(text: str, samples: Samples, rate: int) -> dict[int, float] | None:
    """Return the onsets of Japanese morphemes by snfa: a recurrent network on 20 ms frames."""
    phonemes, places = ["pau"], {}
    for char, said in japanese_morphemes(text).items():
        if said != ["pau"]:
            places[char] = len(phonemes)
        phonemes += said
    phonemes += [] if phonemes[-1] == "pau" else ["pau"]
    if not set(phonemes) <= set(_snfa().phone_set):
        return None
    found = _snfa().align(at_rate(samples, rate), phonemes, pad_pause=False)
    if [s.phoneme for s in found] != phonemes:
        return None
    return {char: found[k].start / 1000 for char, k in places.items()}


def viter_words(text: str, language: str) -> dict[int, tuple[str, list[list[str]]]] | None:
    """Return each word's name in viter's dictionary and its pronunciations, by their first characters."""
    if language == "ja":
        morphemes = {char: said for char, said in japanese_morphemes(text).items() if said != ["pau"]}
        return {char: ("_".join(said), [said]) for char, said in morphemes.items()}
    words = english_words(text)
    if not set(words.values()) <= pronunciations().keys():
        return None
    return {char: (word, pronunciations()[word]) for char, word in words.items()}


def trained_viter(folder: Path, clips: Iterable[tuple[str, str, Path]], language: str) -> Align:
    """Return viter, trained on the clips from a flat start: Gaussian mixtures of triphones on 10 ms frames.

    Parameters
    ----------
    folder : Path
        Where corpus, dictionary and model are kept; a model that is there is used again.
    clips : iterable of (speaker, text, WAV file)
    language : str
        ``en`` or ``ja``.

    References
    ----------
    M. McAuliffe et al., "Montreal Forced Aligner", Interspeech 2017: its recipe, here without the stages that
    adapt to speakers.
    """
    viter = import_module("viter")
    model_path, dictionary = folder / "model.viter", folder / "words.dict"
    if not model_path.is_file():
        entries = set()
        for speaker, text, wav in clips:
            words = viter_words(text, language)
            if words is None:
                continue
            beside = folder / "corpus" / speaker / wav.name
            beside.parent.mkdir(parents=True, exist_ok=True)
            samples, rate = import_module("soundfile").read(wav, dtype="float32")
            import_module("soundfile").write(beside, samples, rate, subtype="PCM_16")
            beside.with_suffix(".txt").write_text(" ".join(n for n, _ in words.values()), encoding="utf-8")
            entries |= {f"{name}\t{' '.join(said)}\n" for name, ways in words.values() for said in ways}
        dictionary.write_text("".join(sorted(entries)), encoding="utf-8")
        simple = {"no_lda": True, "no_sat": True, "cpu": True, "quiet": True}
        viter.train(folder / "corpus", model_path, dict=dictionary, **simple)
    model = viter.Model(model_path, dict=dictionary, cpu=True)

    def align(text: str, samples: Samples, rate: int) -> dict[int, float] | None:
        words = viter_words(text, language)
        if words is None:
            return None
        names = [name for name, _ in words.values()]
        try:
            aligned = model.align(samples, " ".join(names), sample_rate=rate).words
        except viter.ViterError:  # no path
            return None
        found = [word for word in aligned if word.label not in ("", "sil")]
        return (
            {char: w.start for char, w in zip(words, found, strict=True)}
            if len(found) == len(names)
            else None
        )

    return align
