"""English words to their sounds, as the fast engine reads them."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def sounds_of(word: str) -> str:
    """Return the phonemes of an English word without stress."""
    return "".join(char for char in str(_reader()(word) or "") if char not in "ˈˌ ")


@cache
def _reader() -> Any:
    from hibari.g2p import G2P

    return G2P()
