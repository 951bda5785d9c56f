"""The texts of a row against its words: what a turn says is what its words say, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..scenarios.text_file import shown
from .speakers.words import spells


def text_faults(row: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Yield where a turn has no words, or others than its text: the turn, what was found, what was wanted.

    Of what was recorded or made elsewhere text and words are taken as they came: a transcript may spell a word in
    another way than the text does.
    """
    is_ours = bool(row["provenance"]["turns"])
    for i, turn in enumerate(row["turns"]):
        if turn["word_time_source"] == "none":
            continue  # a recording without a transcript
        words = [word["text"] for word in turn["words"]]
        if not turn["text"].strip() or not words:
            yield i, "no words", "what was said, word by word"
        elif is_ours and not turn["text"].startswith(turn["spoken_text"]):
            yield (
                i,
                f"spoken_text {shown(turn['spoken_text'])}",
                f"a beginning of the text {shown(turn['text'])}",
            )
        elif is_ours and not spells(words, turn["spoken_text"]):
            yield i, f"the words {shown(' '.join(words))}", f"those of {shown(turn['spoken_text'])}, in order"
