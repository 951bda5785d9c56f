"""The stretches of a recorded conversation that become samples: chat segments, or what fits a task's rules."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import RecipeError
from ...acoustics.resample import resample
from ...scenarios.fdb_selection import APPENDED_S, Excluded, Selected, pause_handling, smooth_turn_taking
from ...scenarios.fields import unknown
from ...scenarios.segments import segment_bounds
from .conversation import Conversation
from .speech import SpanS

RATE_HZ = 24_000
SELECTIONS = ("chat", "pause_handling", "smooth_turn_taking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A stretch of a conversation, in seconds of its recording; silence of `appended_s` follows the user's side.

    `has_system`: the other channel goes along as the system's side. `pauses` are inner pauses of the one turn.
    """

    id: str
    scenario: str
    start_s: float
    end_s: float
    appended_s: float
    user_channel: int
    has_system: bool
    pauses: tuple[SpanS, ...] = ()


def excerpts(
    conversation: Conversation,
    speech: tuple[tuple[SpanS, ...], tuple[SpanS, ...]],
    length_s: float,
    *,
    selection: str,
    user_channel: int = 1,
) -> tuple[tuple[Excerpt, ...], tuple[Excluded, ...]]:
    """Return the stretches of a conversation that are taken, and what the rules leave out, with the reason.

    Parameters
    ----------
    conversation
    speech
        Spans of speech of both channels in seconds.
    length_s
        Length of the recording.
    selection
        ``chat``: all of it in segments of about two minutes; ``pause_handling`` and ``smooth_turn_taking``: by
        Full-Duplex-Bench v1's rules.
    user_channel
        Who is the user in chat segments; a task's rules say it themselves.
    """
    if selection == "chat":
        said = [(s.onset_s, s.offset_s) for s in conversation.spoken]
        bounds = segment_bounds([*said, *speech[0], *speech[1]], length_s)
        return tuple(
            Excerpt(
                id=_id(conversation, start_s, end_s),
                scenario="chat",
                start_s=start_s,
                end_s=end_s,
                appended_s=0.0,
                user_channel=user_channel,
                has_system=True,
            )
            for start_s, end_s in bounds
        ), ()
    if selection == "pause_handling":
        selected, excluded = pause_handling(speech)
        return tuple(_selected(conversation, "pause_handling", s, 0.0, False) for s in selected), excluded
    if selection == "smooth_turn_taking":
        selected, excluded = smooth_turn_taking(speech)
        taken = tuple(_selected(conversation, "smooth_turn_taking", s, APPENDED_S, True) for s in selected)
        return taken, excluded
    raise RecipeError(f"--select {selection}: {unknown('selection', selection, SELECTIONS)}")


def _selected(
    conversation: Conversation, scenario: str, chosen: Selected, appended_s: float, has_system: bool
) -> Excerpt:
    return Excerpt(
        id=_id(conversation, chosen.start_s, chosen.end_s),
        scenario=scenario,
        start_s=chosen.start_s,
        end_s=chosen.end_s,
        appended_s=appended_s,
        user_channel=chosen.channel,
        has_system=has_system,
        pauses=chosen.pauses,
    )


def _id(conversation: Conversation, start_s: float, end_s: float) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", conversation.id)
    return f"{name}.{start_s:.2f}-{end_s:.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The sound of an excerpt at 24 kHz: int16, shape (n,); `gain_db` is what full scale asked for."""

    user: NDArray[np.int16]
    system: NDArray[np.int16] | None
    gain_db: float

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the samples: what a reviewer's decision is about."""
        digest = hashlib.sha256(self.user.tobytes())
        if self.system is not None:
            digest.update(self.system.tobytes())
        return digest.hexdigest()


def cut(excerpt: Excerpt, channels: NDArray[np.float32], *, sample_rate_hz: int) -> Cut:
    """Return the sound of an excerpt.

    The level stays as it was recorded; only where resampling goes past full scale both sides are turned down
    by as much, which is stated. What follows the user's turn in a turn-taking sample is silence on the user's
    side and the recording on the system's.

    Parameters
    ----------
    excerpt
    channels : ndarray of float32, shape (2, n)
    sample_rate_hz : int
    """
    start, end = (round(s * sample_rate_hz) for s in (excerpt.start_s, excerpt.end_s))
    appended = round(excerpt.appended_s * sample_rate_hz)
    own = resample(channels[excerpt.user_channel, start:end], from_rate_hz=sample_rate_hz, to_rate_hz=RATE_HZ)
    silence = np.zeros(round(excerpt.appended_s * RATE_HZ), dtype=np.float32)
    at_rate = [np.concatenate([own, silence])]
    if excerpt.has_system:
        heard = channels[1 - excerpt.user_channel, start : end + appended]
        other = resample(heard, from_rate_hz=sample_rate_hz, to_rate_hz=RATE_HZ)[: at_rate[0].size]
        at_rate.append(np.pad(other, (0, at_rate[0].size - other.size)))
    peak = max(float(np.abs(side).max()) for side in at_rate)
    gain = 1.0 if peak <= 1.0 else 1.0 / peak
    pcm = [np.clip(np.rint(side * (gain * 32768.0)), -32768, 32767).astype(np.int16) for side in at_rate]
    return Cut(
        user=pcm[0],
        system=pcm[1] if excerpt.has_system else None,
        gain_db=float(20 * np.log10(gain)),
    )
