"""Networks whose weights another package fetches: which weights they hold, and why they cannot be had."""

from __future__ import annotations

import hashlib
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

FAULTS = (OSError, ImportError, RuntimeError, ValueError, KeyError, EOFError, pickle.UnpicklingError)
"""What loaders raise where there is no network, no access or no whole file."""

_LONGEST_REASON = 300


def reason_of(error: BaseException) -> str:
    r"""Return what an error says as one line, without the user's folder.

    Examples
    --------
    >>> reason_of(OSError("no such\n  host"))
    'no such host'
    """
    words = " ".join(str(error).split()).replace(str(Path.home()), "~").rstrip(".")
    return words if len(words) <= _LONGEST_REASON else f"{words[:_LONGEST_REASON]} ..."


def weights_of(network: Any) -> str:
    """Return which weights a torch network holds: ten hex digits of the SHA-256 of their names and bytes."""
    torch = import_module("torch")
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()[:10]
