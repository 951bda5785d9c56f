"""Who speaks when in a recorded conversation: by its words where it has them, else by the sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import AudioError
from ..activity_events import activity
from .conversation import Conversation

SpanS = tuple[float, float]
"""Start and end in seconds."""


def speech_by_channel(
    conversation: Conversation, channels: NDArray[np.float32], *, sample_rate_hz: int
) -> tuple[tuple[SpanS, ...], tuple[SpanS, ...]]:
    """Return the spans of speech of both channels in seconds: single words, or what the detector hears.

    Utterance times of a transcript without words hold pauses and are not exact; they are not used.

    Raises
    ------
    AudioError
        If nothing is heard on a channel.
    """
    spans: list[tuple[SpanS, ...]] = []
    for channel in (0, 1):
        if conversation.has_words:
            own = [said for said in conversation.spoken if said.channel == channel]
            listed = [(word.onset_s, word.offset_s) for said in own for word in said.words]
        else:
            heard = activity(channels[channel], sample_rate_hz=sample_rate_hz)
            listed = [(a / sample_rate_hz, b / sample_rate_hz) for a, b in heard]
        if not listed:
            raise AudioError(f"{conversation.channels[channel].path}: channel {channel} holds no speech")
        spans.append(tuple(sorted(listed)))
    return spans[0], spans[1]
