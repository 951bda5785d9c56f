"""Secrets: find them in what would be sent, and keep them out of what is said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ...builders.parquet_file import opened
from ...scenarios.reason import reason_of

_PATTERNS: dict[str, re.Pattern[bytes]] = {
    "Hugging Face token": re.compile(rb"\bhf_[A-Za-z0-9]{20,}"),
    "OpenAI key": re.compile(rb"\bsk-[A-Za-z0-9_-]{20,}"),
    "AWS key": re.compile(rb"\bAKIA[0-9A-Z]{16}\b"),
    "GitHub token": re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    "private key": re.compile(rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"),
    "URL with a password": re.compile(rb"\bhttps?://[^\s/:@\"']+:[^\s/@\"']+@"),
}
_SAID = re.compile(r"hf_[A-Za-z0-9]+|sk-[A-Za-z0-9_-]{8,}|(?<=Bearer )\S+|(?<=://)[^\s/@]+:[^\s/@]+(?=@)")
_PIECE, _OVERLAP = 8 << 20, 256


def scrub(text: str) -> str:
    """Return a text without tokens.

    Examples
    --------
    >>> scrub("refused: Bearer hf_abcDEF123 at https://me:pw@host/")
    'refused: Bearer <secret> at https://<secret>@host/'
    """
    return _SAID.sub("<secret>", text)


def find_secrets(files: Iterable[tuple[str, Path]]) -> tuple[str, ...]:
    """Return a line for every file that seems to hold a secret; the secret itself is not in it.

    Shards are read too: a token in a text column goes out as well as one in the card. Compressed pages are
    not opened here; `find_secrets_in_rows` looks inside them.
    """
    found = []
    for name, path in files:
        try:
            kinds = _kinds_in(path)
        except OSError as error:
            found.append(f"{name} cannot be read ({reason_of(error)}): mend its rights")
            continue
        found += [f"{name} seems to hold a secret ({kind}): take it out" for kind in sorted(kinds)]
    return tuple(found)


def _kinds_in(path: Path) -> set[str]:
    kinds: set[str] = set()
    with path.open("rb") as file:
        kept = b""
        while piece := file.read(_PIECE):
            data = kept + piece
            kinds |= {kind for kind, pattern in _PATTERNS.items() if pattern.search(data)}
            kept = data[-_OVERLAP:]
    return kinds


def find_secrets_in_rows(files: Iterable[tuple[str, Path]]) -> tuple[str, ...]:
    """Return a line for every shard whose text columns seem to hold a secret."""
    import json

    found = []
    for name, path in files:
        with opened(path) as file:
            columns = [c for c in ("turns", "events", "script", "provenance") if c in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=64, columns=columns):
                text = json.dumps(batch.to_pylist(), ensure_ascii=False).encode()
                kinds = [kind for kind, pattern in _PATTERNS.items() if pattern.search(text)]
                if kinds:
                    found.append(
                        f"{name} seems to hold a secret in its rows ({', '.join(kinds)}): take it out"
                    )
                    break
    return tuple(found)
