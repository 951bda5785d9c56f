"""NIST's rules on RTTM and CTM files, and that both speak of the same speech."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ... import ReleaseError
from ...acoustics.sound_file import SoundFacts
from .format import Finding
from .reading import TOLERANCE_S, Report, lines_of

_FIELDS = {".rttm": (10, (3, 4)), ".ctm": (6, (2, 3))}
"""Number of fields, and which hold onset and duration."""

_Spans = dict[tuple[str, str], list[tuple[float, float]]]
"""By recording and channel: onset and offset in seconds."""


def check(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong: fields, times inside the sound, CTM in order, words outside all turns.

    Raises
    ------
    ReleaseError
        If there are none.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in _FIELDS)
    if not files:
        raise ReleaseError(f"{folder}: no .rttm or .ctm below it")
    report = Report(folder)
    sounds: dict[str, SoundFacts | None] = {}
    spans: dict[Path, _Spans] = {}
    for path in files:
        spans[path] = {}
        text = report.text(path)
        if text is not None and not text.strip():
            report.find(path, "empty-list", "no line", "a turn or a word a line")
        for number, line in lines_of(text or ""):
            _line(path, f"line {number}", line.split(" "), sounds, spans[path], report)
            yield from report.taken()
        yield from report.taken()
    for path in files:
        if path.suffix == ".ctm" and spans.get(path.with_suffix(".rttm")):
            _agreement(path, spans[path.with_suffix(".rttm")], spans[path], report)
    _unheard(folder, files, sounds, report)
    yield from report.taken()


def _line(
    path: Path,
    where: str,
    fields: list[str],
    sounds: dict[str, SoundFacts | None],
    spans: _Spans,
    report: Report,
) -> None:
    n_fields, (at, length) = _FIELDS[path.suffix]
    if len(fields) != n_fields or "" in fields:
        report.find(path, "wrong-fields", f"{where}: {len(fields)} fields", f"{n_fields}, by single spaces")
        return
    name, channel = fields[at - 2], fields[at - 1]
    if name not in sounds:
        sounds[name] = report.sound(path.parent / "audio" / f"{name}.wav")
    sound = sounds[name]
    try:
        onset_s, length_s = float(fields[at]), float(fields[length])
    except ValueError:
        report.find(path, "no-times", f"{where}: {fields[at]} {fields[length]}", "onset and duration")
        return
    if sound is not None and not (channel.isdigit() and 1 <= int(channel) <= sound.n_channels):
        report.find(path, "unknown-channel", f"{where}: {channel}", f"1 to {sound.n_channels}")
    if not report.span(path, where, [onset_s, onset_s + length_s], sound.length_s if sound else None):
        return
    listed = spans.setdefault((name, channel), [])
    if path.suffix == ".ctm" and listed and onset_s < listed[-1][0]:
        report.find(path, "unordered-times", f"{where}: {onset_s}", "the words of a channel by onset")
    listed.append((onset_s, onset_s + length_s))


def _agreement(ctm: Path, turns: _Spans, words: _Spans, report: Report) -> None:
    """Look whether each word lies in a turn, and each turn of a recording with words holds one."""
    for key, said in words.items():
        for onset_s, offset_s in said:
            if not any(_inside((onset_s, offset_s), turn) for turn in turns.get(key, ())):
                where = f"{' '.join(key)}: {onset_s:.3f}-{offset_s:.3f} s"
                report.find(ctm.with_suffix(".rttm"), "word-outside-turns", where, "a turn that holds it")
                return
    with_words = {name for name, _ in words}
    for key, held in turns.items():
        for turn in held:
            if key[0] in with_words and not any(_inside(word, turn) for word in words.get(key, ())):
                report.find(
                    ctm, "turn-without-words", f"{' '.join(key)}: {turn[0]:.3f} s", "what is said in it"
                )
                return


def _inside(word: tuple[float, float], turn: tuple[float, float]) -> bool:
    return turn[0] - TOLERANCE_S <= word[0] and word[1] <= turn[1] + TOLERANCE_S


def _unheard(folder: Path, files: list[Path], sounds: dict[str, SoundFacts | None], report: Report) -> None:
    """Look for sound of which no file speaks: lines are missing at the end of one."""
    for place in sorted({path.parent for path in files}):
        for wav in sorted((place / "audio").glob("*.wav")):
            if wav.stem not in sounds:
                lists = [path for path in files if path.parent == place and path.suffix == ".rttm"]
                at = lists[0] if len(lists) == 1 else wav
                report.find(at, "sound-without-turns", wav.relative_to(folder).as_posix(), "its turns")
