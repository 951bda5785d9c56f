"""What Python and libraries say of a fault, as words in a message of ours."""

from __future__ import annotations

import re

_PYTHONS = re.compile(r"\[Errno -?\d+\] |\b[\w.]*(?:Error|Exception): ")


def reason_of(error: BaseException) -> str:
    """Return why something failed: no class names, no numbers of the system's errors.

    Examples
    --------
    >>> reason_of(FileNotFoundError(2, "No such file or directory", "a.toml"))
    'no such file or directory'
    >>> reason_of(KeyError("turns"))
    "the key 'turns' is missing"
    """
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 text ({error.reason} at byte {error.start})"
    if isinstance(error, OSError) and error.strerror:
        return str(error.strerror).lower()
    if isinstance(error, KeyError) and error.args:
        return f"the key {error.args[0]!r} is missing"
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    lines = str(error).strip().splitlines()
    return _PYTHONS.sub("", lines[0]) if lines else "no reason is given"
